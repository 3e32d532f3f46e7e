import { OTHER } from './bounded-labels.ts';

/** Methods of both revisions that a client may send. */
const METHODS: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'notifications/cancelled',
  'notifications/initialized',
  'notifications/progress',
  'notifications/roots/list_changed',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
  'tools/call',
  'tools/list',
]);

/** The method as a name for spans and a label for metrics: what a client makes up is one name for all. */
export function methodName(method: string): string {
  return METHODS.has(method) ? method : OTHER;
}
