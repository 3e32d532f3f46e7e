import type { JsonObject, JsonValue } from '../../contract/json.ts';
import { isObject } from '../../json/json-value.ts';
import type { ListKind } from '../../mcp/methods.ts';

/** The filter of a `subscriptions/listen`. */
export interface ListenFilter {
  readonly kinds: readonly ListKind[];
  /** Without duplicates. */
  readonly uris: readonly string[];
}

/**
 * Reads `params.notifications`.
 *
 * Fails as a value, a sentence for the client: it is missing, a member has the wrong type, or there are too many URIs.
 * Unknown members are ignored and therefore not acknowledged.
 */
export function readFilter(notifications: JsonValue | undefined): ListenFilter | { readonly wrong: string } {
  if (!isObject(notifications)) return { wrong: 'params.notifications must be an object' };
  for (const [member] of FLAGS) {
    const flag = notifications[member];
    if (flag !== undefined && typeof flag !== 'boolean') return { wrong: `notifications.${member} must be a boolean` };
  }
  const uris = notifications.resourceSubscriptions ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string')) {
    return { wrong: 'notifications.resourceSubscriptions must be a list of URIs' };
  }
  const distinct = [...new Set(uris as string[])];
  if (distinct.length > MAX_URIS)
    return { wrong: `notifications.resourceSubscriptions takes at most ${MAX_URIS} URIs` };
  const bytes = distinct.reduce((sum, uri) => sum + Buffer.byteLength(uri), 0);
  if (bytes > MAX_URI_BYTES)
    return { wrong: `notifications.resourceSubscriptions takes URIs of at most ${MAX_URI_BYTES} bytes together` };
  return { kinds: FLAGS.filter(([member]) => notifications[member] === true).map(([, kind]) => kind), uris: distinct };
}

/** The requested kinds whose changes the gateway sends. */
export function deliverable(kinds: readonly ListKind[], capabilities: JsonObject): readonly ListKind[] {
  return kinds.filter((kind) => {
    const capability = capabilities[kind];
    return isObject(capability) && capability.listChanged === true;
  });
}

/** The accepted subset, in the shape of the request. */
export function acknowledged(kinds: readonly ListKind[], uris: readonly string[]): JsonObject {
  const flags = FLAGS.filter(([, kind]) => kinds.includes(kind)).map(([member]) => [member, true]);
  return { ...Object.fromEntries(flags), ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }) };
}

const FLAGS = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
] as const satisfies readonly (readonly [string, ListKind])[];

const MAX_URIS = 1024; // per listen; each needs a subscription at a backend
const MAX_URI_BYTES = 262_144; // a backend is sent all of them again with each new listen
