import type { CedarValueJson, EntityJson } from '@cedar-policy/cedar-wasm/nodejs';
import type { Caller } from '@toolmgr/core';
import { cedarValue, UNREADABLE } from './cedar-values.ts';
import type { CedarConfig } from './config.ts';
import { groupsOf } from './groups.ts';
import { type References, uidKey } from './references.ts';
import { reachableFrom, type StaticEntities } from './static-entities.ts';

/** A caller as policies see it. */
export interface CallerFacts {
  /** Equal for two callers if and only if no policy can distinguish them. */
  readonly key: string;
  readonly entity: EntityJson;
  /** `claim_` attributes: of the principal and of the context. */
  readonly claims: Readonly<Record<string, CedarValueJson>>;
  /** Configured entities that are reachable from the caller's groups. */
  readonly related: StaticEntities;
  /** Why policies cannot be evaluated for this caller. */
  readonly undecidable: string | undefined;
}

/** Maximum groups; a caller with more is denied. */
const MAX_GROUPS = 2_000;

/** Maximum characters of groups and claims as JSON; what is larger would take too long to evaluate. */
const MAX_CLAIMS = 131_072;

/** Creates the conversion of callers, cached per `Caller`. Omits claims that no policy reads. */
export function createCallerFacts(
  config: CedarConfig,
  references: References,
  entities: StaticEntities,
): (caller: Caller) => CallerFacts {
  const known = new WeakMap<Caller, CallerFacts>();
  const type = config.groupEntityType || 'THVGroup';
  return (caller) => {
    let facts = known.get(caller);
    if (facts === undefined) {
      facts = factsOf(caller, { config, references, entities, type });
      known.set(caller, facts);
    }
    return facts;
  };
}

interface Parts {
  readonly config: CedarConfig;
  readonly references: References;
  readonly entities: StaticEntities;
  readonly type: string;
}

function factsOf({ subject, claims: given }: Caller, { config, references, entities, type }: Parts): CallerFacts {
  const groups = groupsOf(given, config);
  const claims: [string, CedarValueJson][] = [];
  let undecidable: string | undefined;
  if (subject === '' || !subject.isWellFormed()) undecidable = 'the caller has no subject';
  if (groups.length > MAX_GROUPS) undecidable = `the caller is in more than ${MAX_GROUPS} groups`;
  for (const name of Object.keys(given)) {
    const attribute = `claim_${name}`;
    if (!references.wholeContext && !references.attributes.has(attribute)) continue;
    const value = name.isWellFormed() ? cedarValue(given[name]) : UNREADABLE;
    if (value === UNREADABLE) undecidable ??= `the claim ${JSON.stringify(name)} is not a Cedar value`;
    else if (value !== undefined) claims.push([attribute, value]);
  }
  const key = JSON.stringify([subject, groups, claims]);
  if (key.length > MAX_CLAIMS)
    undecidable ??= `the claims and groups that policies read are larger than ${MAX_CLAIMS} characters`;
  const attrs = Object.fromEntries(claims);
  const parents = undecidable === undefined ? groups.map((id) => ({ type, id })) : [];
  return {
    key,
    entity: { uid: { type: 'Client', id: subject }, attrs, parents },
    claims: attrs,
    related: reachableFrom(
      entities,
      parents.map(({ id }) => uidKey(type, id)),
    ),
    undecidable,
  };
}
