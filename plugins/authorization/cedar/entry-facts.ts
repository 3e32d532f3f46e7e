import type { CedarValueJson, EntityJson, TypeAndId } from '@cedar-policy/cedar-wasm/nodejs';
import { type CatalogEntry, decodeObject, isAmbiguousUri, isObject, type JsonObject } from '@toolmgr/core';
import { cedarValue, UNREADABLE } from './cedar-values.ts';
import type { ACTIONS } from './parse-policies.ts';
import { type References, uidKey } from './references.ts';

/** An action of {@link ACTIONS}. */
export type Action = (typeof ACTIONS)[number];

/** The Cedar action, type and attributes for one kind of entry. */
export interface RequestKind {
  readonly action: Action;
  readonly type: 'Tool' | 'Prompt' | 'Resource';
  readonly feature: 'tool' | 'prompt' | 'resource';
  readonly operation: 'call' | 'get' | 'read';
}

/** Source: the entity model of the contract's reference. */
export const REQUEST_KINDS: Readonly<Record<CatalogEntry['kind'], RequestKind>> = {
  tool: { action: 'call_tool', type: 'Tool', feature: 'tool', operation: 'call' },
  prompt: { action: 'get_prompt', type: 'Prompt', feature: 'prompt', operation: 'get' },
  resource: { action: 'read_resource', type: 'Resource', feature: 'resource', operation: 'read' },
  template: { action: 'read_resource', type: 'Resource', feature: 'resource', operation: 'read' },
};

/** An entry as policies see it. */
export interface EntryFacts {
  /** Equal for two entries if and only if no policy can distinguish them. */
  readonly key: string;
  readonly requestKind: RequestKind;
  readonly entity: EntityJson;
  readonly undecidable: string | undefined;
}

/** Creates the conversion of entries, cached per entry; a URI of a template is its own resource. */
export function createEntryFacts(gatewayName: string, references: References) {
  const known = new WeakMap<CatalogEntry, EntryFacts>();
  return (entry: CatalogEntry, name = entry.key): EntryFacts => {
    // tools and prompts have their advertised name, also after a rewrite
    const id = entry.kind === 'template' ? name : entry.key;
    if (id !== entry.key) return factsOf(entry, id, gatewayName, references);
    let facts = known.get(entry);
    if (facts === undefined) {
      facts = factsOf(entry, id, gatewayName, references);
      known.set(entry, facts);
    }
    return facts;
  };
}

function factsOf(entry: CatalogEntry, id: string, gatewayName: string, references: References): EntryFacts {
  const requestKind = REQUEST_KINDS[entry.kind];
  const parents: TypeAndId[] = [{ type: 'MCP', id: gatewayName }];
  if (id !== entry.key) parents.push({ type: 'Resource', id: entry.key });
  const attrs: [string, CedarValueJson][] = [];
  for (const [name, value] of Object.entries(attributesOf(entry, id, references.attributes))) {
    const converted = references.attributes.has(name) ? cedarValue(value) : undefined;
    if (converted !== undefined && converted !== UNREADABLE) attrs.push([name, converted]);
  }
  const visibleUids = [{ type: requestKind.type, id }, ...parents.slice(1)].filter(
    (uid) => references.anyResource || references.entities.has(uidKey(uid.type, uid.id)),
  );
  return {
    key: JSON.stringify([requestKind.action, visibleUids, attrs]),
    requestKind,
    entity: { uid: { type: requestKind.type, id }, attrs: Object.fromEntries(attrs), parents },
    undecidable: whyUndecidable(id, requestKind, references),
  };
}

/** A pattern is not reliable for a URI that servers may normalise to another one. */
function whyUndecidable(id: string, { type }: RequestKind, { patterns }: References): string | undefined {
  if (!id.isWellFormed()) return 'its name is not Unicode';
  const isMatched = type === 'Resource' && URI_ATTRIBUTES.some((name) => patterns.has(name));
  return isMatched && isAmbiguousUri(id)
    ? 'its URI has an equivalent spelling, which a pattern may not match'
    : undefined;
}

const URI_ATTRIBUTES = ['uri', 'name', 'originalName'] as const;

/** Hints come from the backend and may be wrong; names, origin and facts of plugins come from the gateway. */
function attributesOf(entry: CatalogEntry, id: string, read: ReadonlySet<string>): JsonObject {
  const { feature, operation, type } = REQUEST_KINDS[entry.kind];
  const plain = { name: id, operation, feature, ...(type === 'Resource' ? { uri: id } : {}) };
  if (entry.isMissing) return plain;
  const origin = { backend: entry.backend, originalName: type === 'Resource' ? id : entry.original };
  const hints = entry.kind === 'tool' && HINTS.some((hint) => read.has(hint)) ? hintsOf(entry) : {};
  return { ...entry.facts?.(read), ...plain, ...origin, ...hints };
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

function hintsOf({ definition }: CatalogEntry): JsonObject {
  const annotations = decodeObject(definition)?.annotations;
  if (!isObject(annotations)) return {};
  return Object.fromEntries(
    HINTS.filter((hint) => typeof annotations[hint] === 'boolean').map((hint) => [hint, annotations[hint]]),
  );
}
