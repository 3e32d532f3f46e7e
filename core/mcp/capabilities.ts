import { createHash } from 'node:crypto';
import type { SessionOwner } from '../contract/client-context.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { isObject } from '../json/raw-json.ts';

/**
 * The part of a client's declared capabilities that is declared to backends on its behalf:
 * `elicitation`, `sampling`, `roots` and transparent extensions. `experimental` and `tasks` stay on this hop.
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
 * What {@link relayableCapabilities} gives in one spelling: of `elicitation`, `sampling` and `roots` the members that MCP
 * defines, of extensions everything with its members in order. Whoever declares the same is served by the same session.
 */
export function plainlySpelled(relayed: JsonObject): JsonObject {
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

/** Extensions passed through as they are; those whose methods need routing of their own are hidden on both sides. */
export function transparentExtensions(extensions: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(extensions)) return undefined;
  const kept = Object.entries(extensions).filter(([name]) => !HIDDEN_EXTENSIONS.has(name));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/**
 * A short name for what a client can do in the middle of a call, e.g. `elicitation+roots`, `''` for nothing.
 * Legacy backends offer different tools to clients that declare different capabilities, so lists are kept per class.
 */
export function capabilityClass(declared: JsonObject): string {
  return RELAYED.filter((name) => isObject(declared[name])).join('+');
}

/**
 * The lists of one caller within a capability class, e.g. `elicitation@3q2…`, for backends whose lists depend on who asks.
 * The name tells nothing about the caller.
 */
export function callerClass(capabilityClass: string, callerKey: string): string {
  return `${capabilityClass}@${createHash('sha256').update(callerKey).digest('base64url').slice(0, 22)}`;
}

/** The capability class of the lists of one caller; any other class is its own. */
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

/** Their task ids and skill URIs would need translation that is not built (docs/reference/protocol.md). */
const HIDDEN_EXTENSIONS: ReadonlySet<string> = new Set([
  'io.modelcontextprotocol/tasks',
  'io.modelcontextprotocol/skills',
]);
