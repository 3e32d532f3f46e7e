import type { CedarValueJson, EntityJson, TypeAndId } from '@cedar-policy/cedar-wasm/nodejs';
import {
  type CatalogEntry,
  decodeObject,
  type EntryKind,
  isAmbiguousUri,
  isObject,
  type JsonObject,
} from '@toolmgr/core';
import { type Mentions, uidKey } from './expression.ts';
import type { ACTIONS } from './policies.ts';
import { cedarValue, UNREADABLE } from './values.ts';

/** An action of {@link ACTIONS}. */
export type Action = (typeof ACTIONS)[number];

/** What is asked about the entries of one kind, and in which words they are refused. */
export interface Question {
  readonly action: Action;
  readonly type: 'Tool' | 'Prompt' | 'Resource';
  readonly feature: 'tool' | 'prompt' | 'resource';
  readonly operation: 'call' | 'get' | 'read';
}

/** Source: the entity model of the contract's reference. */
export const QUESTIONS: Readonly<Record<EntryKind, Question>> = {
  tool: { action: 'call_tool', type: 'Tool', feature: 'tool', operation: 'call' },
  prompt: { action: 'get_prompt', type: 'Prompt', feature: 'prompt', operation: 'get' },
  resource: { action: 'read_resource', type: 'Resource', feature: 'resource', operation: 'read' },
  template: { action: 'read_resource', type: 'Resource', feature: 'resource', operation: 'read' },
};

/** An entry as policies see it. */
export interface EntryFacts {
  /** The same for two entries exactly when no policy can tell them apart. */
  readonly key: string;
  readonly question: Question;
  readonly entity: EntityJson;
  readonly undecidable: string | undefined;
}

/** Makes facts of entries, once per entry; a URI that a template answers for is a resource of its own. */
export function createEntryFacts(gatewayName: string, mentions: Mentions) {
  const known = new WeakMap<CatalogEntry, EntryFacts>();
  return (entry: CatalogEntry, name = entry.key): EntryFacts => {
    // tools and prompts are what they are advertised as, whatever a rewrite calls them
    const id = entry.kind === 'template' ? name : entry.key;
    if (id !== entry.key) return factsOf(entry, id, gatewayName, mentions);
    let facts = known.get(entry);
    if (facts === undefined) {
      facts = factsOf(entry, id, gatewayName, mentions);
      known.set(entry, facts);
    }
    return facts;
  };
}

function factsOf(entry: CatalogEntry, id: string, gatewayName: string, mentions: Mentions): EntryFacts {
  const question = QUESTIONS[entry.kind];
  const parents: TypeAndId[] = [{ type: 'MCP', id: gatewayName }];
  if (id !== entry.key) parents.push({ type: 'Resource', id: entry.key });
  const attrs: [string, CedarValueJson][] = [];
  for (const [name, value] of Object.entries(attributesOf(entry, id, mentions.attributes))) {
    const converted = mentions.attributes.has(name) ? cedarValue(value) : undefined;
    if (converted !== undefined && converted !== UNREADABLE) attrs.push([name, converted]);
  }
  const told = [{ type: question.type, id }, ...parents.slice(1)].filter(
    (uid) => mentions.anyResource || mentions.entities.has(uidKey(uid.type, uid.id)),
  );
  return {
    key: JSON.stringify([question.action, told, attrs]),
    question,
    entity: { uid: { type: question.type, id }, attrs: Object.fromEntries(attrs), parents },
    undecidable: whyUndecidable(id, question, mentions),
  };
}

/** A pattern says nothing about a URI that its server reads as another one. */
function whyUndecidable(id: string, { type }: Question, { patterns }: Mentions): string | undefined {
  if (!id.isWellFormed()) return 'its name is not Unicode';
  const isMatched = type === 'Resource' && URI_ATTRIBUTES.some((name) => patterns.has(name));
  return isMatched && isAmbiguousUri(id) ? 'its URI has another spelling that servers take for the same' : undefined;
}

const URI_ATTRIBUTES = ['uri', 'name', 'originalName'] as const;

/** Whatever backends say of a tool may be a lie; names and origin are the gateway's own. */
function attributesOf(entry: CatalogEntry, id: string, read: ReadonlySet<string>): JsonObject {
  const { feature, operation, type } = QUESTIONS[entry.kind];
  const plain = { name: id, operation, feature, ...(type === 'Resource' ? { uri: id } : {}) };
  if (entry.isMissing) return plain;
  const origin = { backend: entry.backend, originalName: type === 'Resource' ? id : entry.original };
  const hints = entry.kind === 'tool' && HINTS.some((hint) => read.has(hint)) ? hintsOf(entry) : {};
  return { ...plain, ...origin, ...hints };
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

function hintsOf({ definition }: CatalogEntry): JsonObject {
  const annotations = decodeObject(definition)?.annotations;
  if (!isObject(annotations)) return {};
  return Object.fromEntries(
    HINTS.filter((hint) => typeof annotations[hint] === 'boolean').map((hint) => [hint, annotations[hint]]),
  );
}
