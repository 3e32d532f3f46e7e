import type { CedarValueJson, EntityJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { Caller } from '@toolmgr/core';
import type { CedarConfig } from './config.ts';
import { type Mentions, uidKey } from './expression.ts';
import { groupsOf } from './groups.ts';
import { reachableFrom, type StaticEntities } from './static-entities.ts';
import { cedarValue, UNREADABLE } from './values.ts';

/** A caller as policies see it. */
export interface CallerFacts {
  /** The same for two callers exactly when no policy can tell them apart. */
  readonly key: string;
  readonly entity: EntityJson;
  /** `claim_` attributes: of the principal and of the context. */
  readonly claims: Readonly<Record<string, CedarValueJson>>;
  /** Configured entities that the caller's groups lead to. */
  readonly related: StaticEntities;
  /** Why no policy can decide about this caller, when none can. */
  readonly undecidable: string | undefined;
}

/** More come from no directory; over it the caller is denied rather than cut. */
const MAX_GROUPS = 2_000;

/** Makes facts of callers, once per `Caller` value. Claims that no policy reads are left out. */
export function createCallerFacts(
  config: CedarConfig,
  mentions: Mentions,
  entities: StaticEntities,
): (caller: Caller) => CallerFacts {
  const known = new WeakMap<Caller, CallerFacts>();
  const type = config.groupEntityType || 'THVGroup';
  return (caller) => {
    let facts = known.get(caller);
    if (facts === undefined) {
      facts = factsOf(caller, { config, mentions, entities, type });
      known.set(caller, facts);
    }
    return facts;
  };
}

interface Parts {
  readonly config: CedarConfig;
  readonly mentions: Mentions;
  readonly entities: StaticEntities;
  readonly type: string;
}

function factsOf({ subject, claims: given }: Caller, { config, mentions, entities, type }: Parts): CallerFacts {
  const groups = groupsOf(given, config);
  const claims: [string, CedarValueJson][] = [];
  let undecidable: string | undefined;
  if (subject === '' || !subject.isWellFormed()) undecidable = 'the caller has no subject';
  if (groups.length > MAX_GROUPS) undecidable = `the caller is in more than ${MAX_GROUPS} groups`;
  for (const name of Object.keys(given)) {
    const attribute = `claim_${name}`;
    if (!mentions.wholeContext && !mentions.attributes.has(attribute)) continue;
    const value = name.isWellFormed() ? cedarValue(given[name]) : UNREADABLE;
    if (value === UNREADABLE) undecidable ??= `the claim ${JSON.stringify(name)} is no Cedar value`;
    else if (value !== undefined) claims.push([attribute, value]);
  }
  const attrs = Object.fromEntries(claims);
  const parents = undecidable === undefined ? groups.map((id) => ({ type, id })) : [];
  return {
    key: JSON.stringify([subject, groups, claims]),
    entity: { uid: { type: 'Client', id: subject }, attrs, parents },
    claims: attrs,
    related: reachableFrom(
      entities,
      parents.map(({ id }) => uidKey(type, id)),
    ),
    undecidable,
  };
}
