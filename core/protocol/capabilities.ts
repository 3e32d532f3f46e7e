import { createHash } from 'node:crypto';
import type { LinkOwner } from '../contract/call.ts';
import type { JsonObject, JsonValue } from '../contract/json.ts';
import { isObject } from './raw-json.ts';

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
export function listClassOf(owner: LinkOwner): string {
  return owner.listClass ?? owner.capabilityClass;
}

const RELAYED = ['elicitation', 'roots', 'sampling'] as const;

/** Their task ids and skill URIs would need translation that is not built (docs/reference/protocol.md). */
const HIDDEN_EXTENSIONS: ReadonlySet<string> = new Set([
  'io.modelcontextprotocol/tasks',
  'io.modelcontextprotocol/skills',
]);
