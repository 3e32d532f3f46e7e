import { hash } from 'node:crypto';
import { decodeObject, type JsonObject, type JsonValue } from '@toolmgr/core';

/** What a person approves of an entry: the members that a client or a model reads. */
const PINNED_MEMBERS = [
  'name',
  'title',
  'description',
  'uriTemplate',
  'mimeType',
  'inputSchema',
  'outputSchema',
  'arguments',
  'annotations',
  'icons',
  'execution',
  '_meta',
] as const;

/** A definition as it is pinned. */
export interface PinnedDefinition {
  /** `sha256:` and 64 hexadecimal digits, over the canonical JSON (RFC 8785) of {@link definition}. */
  readonly hash: string;
  /** The pinned members. */
  readonly definition: JsonObject;
}

const known = new WeakMap<Buffer, PinnedDefinition>();

/** The pinned part of the list item of a backend. The same bytes are read once. */
export function pinnedDefinition(bytes: Buffer): PinnedDefinition {
  const before = known.get(bytes);
  if (before !== undefined) return before;
  const item = decodeObject(bytes) ?? {};
  const definition: Record<string, JsonValue> = {};
  for (const member of PINNED_MEMBERS) {
    const value = item[member];
    if (value !== undefined) definition[member] = value;
  }
  const pinned = withHash(definition);
  known.set(bytes, pinned);
  return pinned;
}

/** What a server tells models about its use, as it is pinned. */
export function pinnedInstructions(text: string): PinnedDefinition {
  return withHash({ instructions: text });
}

function withHash(definition: JsonObject): PinnedDefinition {
  return { hash: hashOf(definition), definition };
}

/** The hash of a pinned definition. */
export function hashOf(definition: JsonObject): string {
  return `sha256:${hash('sha256', canonicalJson(definition))}`;
}

/** JSON with sorted members and without white space, so that equal values have equal texts. Source: RFC 8785. */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((each: JsonValue) => canonicalJson(each)).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value as JsonObject).filter(([, member]) => member !== undefined);
  // by UTF-16 code units, as RFC 8785 §3.2.3 says
  members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member as JsonValue)}`).join(',')}}`;
}
