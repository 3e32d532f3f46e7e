import type { CallMethod } from '../contract/call.ts';

/** Calls that the gateway forwards in every revision. */
export const CALL_METHODS = [
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
] as const satisfies readonly CallMethod[];

/** Lists that the gateway answers from its catalogue. */
export const LIST_METHODS = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'] as const;

/** Requests that the gateway answers in every revision. */
export const GATEWAY_METHODS: ReadonlySet<string> = new Set([...CALL_METHODS, ...LIST_METHODS]);

/** What a client may send, in any revision. */
export const CLIENT_METHODS: ReadonlySet<string> = new Set([
  ...GATEWAY_METHODS,
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/progress',
  'notifications/roots/list_changed',
  'ping',
  'resources/subscribe',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
]);

/** A list of which a server may say that it has changed. */
export type ListKind = 'tools' | 'prompts' | 'resources';

/** Every {@link ListKind}. */
export const LIST_KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources'];

/** The notification that a list has changed. */
export function listChangedMethod(kind: ListKind): string {
  return `notifications/${kind}/list_changed`;
}

/** The list that a notification is about, by its method. */
export const CHANGED_LIST: ReadonlyMap<string, ListKind> = new Map(
  LIST_KINDS.map((kind) => [listChangedMethod(kind), kind]),
);
