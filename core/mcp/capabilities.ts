import { createHash } from 'node:crypto';
import type { SessionOwner } from '../contract/client-context.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { isObject } from '../json/json-value.ts';

/**
 * The capabilities of a client that are declared to backends: `elicitation`, `sampling`, `roots` and transparent
 * extensions. `experimental` and `tasks` are not forwarded.
 */
export function relayableCapabilities(declared: JsonObject): JsonObject {
  const relayed: Record<string, JsonValue> = {};
  for (const name of RELAYED) {
    const capability = declared[name];
    if (isObject(capability)) relayed[name] = capability;
  }
  const extensions = transparentExtensions(declared.extensions);
  if (extensions !== undefined) relayed.extensions = extensions;
  return relayed;
}

/**
 * The result of {@link relayableCapabilities} in normal form: of `elicitation`, `sampling` and `roots` only the members
 * that MCP defines, of extensions everything with its members sorted. Clients with equal normal forms share a session.
 */
export function normalizedCapabilities(relayed: JsonObject): JsonObject {
  const spelled: Record<string, JsonValue> = {};
  for (const [name, details] of DETAILS) {
    const given = relayed[name];
    if (!isObject(given)) continue;
    const kept = details.filter((detail) => isDeclared(given[detail])).map((detail) => [detail, plain(given[detail])]);
    spelled[name] = Object.fromEntries(kept);
  }
  if (isObject(relayed.extensions)) spelled.extensions = inOrder(relayed.extensions);
  return spelled;
}

function isDeclared(detail: JsonValue | undefined): boolean {
  return detail === true || isObject(detail);
}

function plain(detail: JsonValue | undefined): JsonValue {
  return detail === true ? true : {};
}

function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return Object.fromEntries(names.map((name) => [name, inOrder(value[name] as JsonValue)]));
}

/** Extensions that are forwarded unchanged; extensions whose methods need routing are hidden on both sides. */
export function transparentExtensions(extensions: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(extensions)) return undefined;
  const kept = Object.entries(extensions).filter(([name]) => !HIDDEN_EXTENSIONS.has(name));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/**
 * A short name for the requests that a client can receive during a call, e.g. `elicitation+roots`, `''` for none.
 * Legacy backends list different tools for different declared capabilities, so lists are cached per class.
 */
export function capabilityClass(declared: JsonObject): string {
  return RELAYED.filter((name) => isObject(declared[name])).join('+');
}

/**
 * The class of one caller's lists within a capability class, e.g. `elicitation@3q2…`, for backends whose lists depend
 * on the caller. The name contains no data of the caller.
 */
export function callerClass(capabilityClass: string, callerKey: string): string {
  return `${capabilityClass}@${createHash('sha256').update(callerKey).digest('base64url').slice(0, 22)}`;
}

/** The capability class of a caller's class; any other class is returned unchanged. */
export function sharedClass(listClass: string): string {
  const at = listClass.indexOf('@');
  return at === -1 ? listClass : listClass.slice(0, at);
}

/** Which lists an owner sees. */
export function listClassOf(owner: SessionOwner): string {
  return owner.listClass ?? owner.capabilityClass;
}

const RELAYED = ['elicitation', 'roots', 'sampling'] as const;

/** The members of a capability that MCP 2025-11-25 and 2026-07-28 define. */
const DETAILS = [
  ['elicitation', ['form', 'url']],
  ['roots', ['listChanged']],
  ['sampling', ['context', 'tools']],
] as const;

/** Their task ids and skill URIs would have to be translated, which is not implemented (docs/reference/protocol.md). */
const HIDDEN_EXTENSIONS: ReadonlySet<string> = new Set([
  'io.modelcontextprotocol/tasks',
  'io.modelcontextprotocol/skills',
]);
