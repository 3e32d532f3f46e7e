import { isDeepStrictEqual } from 'node:util';
import {
  type Api,
  type Condition,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type Resource,
  type ResourceType,
} from '@toolmgr/plugins/kit/kubernetes';
import type { EventText, ReconcileContext } from '../machinery/controller.ts';
import { MANAGER } from '../objects/owned-objects.ts';
import { failureEvent } from './failure-event.ts';

export { MANAGER };

/** A condition without times and generation. */
export type WantedCondition = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** Maximum characters of `conditions[].message`. Source: vmcp spec §8. */
const MAX_MESSAGE = 32_768;

/**
 * Conditions with their times, sorted by type. The time of a condition is that of the last change of its `status`.
 * `now`: epoch milliseconds.
 */
export function timedConditions(
  { metadata: { generation = 0 }, status }: Resource,
  wanted: readonly WantedCondition[],
  now: number,
): readonly Condition[] {
  const previous = new Map(conditionsOf(status).map((condition) => [condition.type, condition]));
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return wanted
    .map(({ type, status, reason, message }) => {
      const before = previous.get(type);
      const lastTransitionTime = before?.status === status ? before.lastTransitionTime : time;
      return { type, status, reason, message: cut(message), lastTransitionTime, observedGeneration: generation };
    })
    .sort((a, b) => (a.type < b.type ? -1 : 1));
}

/** The condition of a type in a status. */
export function conditionOf({ status }: Resource, type: string): Condition | undefined {
  return conditionsOf(status).find((condition) => condition.type === type);
}

/**
 * Applies a status as a whole, when it differs from the one in the cache: members that are absent now are removed. A failure is
 * reported as an event before, unless one of `told` says it: after a crash in between it is reported again, and counts once.
 * @returns whether it was written
 * @throws ApiError
 */
export async function writeStatus(
  { api, events }: Pick<ReconcileContext, 'api' | 'events'>,
  type: ResourceType,
  object: Resource,
  status: object,
  told: readonly EventText[] = [],
): Promise<boolean> {
  const wanted = JSON.parse(JSON.stringify(status)) as object;
  if (isDeepStrictEqual(wanted, comparable(object.status))) return false;
  const failure = failureEvent(object, status, told);
  if (failure !== undefined) events.emit({ ...object, apiVersion: type.apiVersion, kind: type.kind }, failure);
  const { namespace, name } = keyOf(object);
  const { uid } = object.metadata;
  const written = await api.apply(
    type,
    {
      apiVersion: type.apiVersion,
      kind: type.kind,
      // the uid: an object that was created again under the same name is not written
      metadata: { name, namespace, ...(uid === undefined ? {} : { uid }) },
      status: wanted,
    } as Resource,
    { manager: MANAGER, force: true, subresource: 'status' },
  );
  noteWritten(api, type, written);
  return true;
}

/**
 * An object as the cache or the last write of this process has it, whichever is newer: without the write, a reconcile that runs
 * before its event would write again. `undefined` when the cache has no such object.
 */
export function currentObject<T extends KubeObject>(
  { api, caches }: Pick<ReconcileContext, 'api' | 'caches'>,
  type: ResourceType<T>,
  key: ObjectKey,
): T | undefined {
  const cached = caches.of(type).get(key);
  const objects = WRITTEN.get(api);
  const id = `${type.kind}/${keyText(key)}`;
  const written = objects?.get(id);
  if (cached === undefined || written === undefined) return cached;
  const isNewer = written.metadata.uid === cached.metadata.uid && versionOf(written) > versionOf(cached);
  if (isNewer) return written as T;
  objects?.delete(id);
  return cached;
}

/** Remembers what a write returned, for {@link currentObject}. */
export function noteWritten(api: Api, type: ResourceType, object: KubeObject): void {
  const objects = WRITTEN.get(api) ?? new Map<string, KubeObject>();
  WRITTEN.set(api, objects);
  objects.set(`${type.kind}/${keyText(keyOf(object))}`, object);
  for (const oldest of objects.keys()) {
    if (objects.size <= MAX_WRITTEN) break;
    objects.delete(oldest);
  }
}

/** Objects whose write the cache may lack; each is dropped when its event has come. */
const MAX_WRITTEN = 1_000;
const WRITTEN = new WeakMap<Api, Map<string, KubeObject>>();

/** Resource versions are comparable decimal numbers. Source: Kubernetes KEP-5504. */
function versionOf({ metadata: { resourceVersion = '' } }: KubeObject): bigint {
  return /^\d{1,20}$/.test(resourceVersion) ? BigInt(resourceVersion) : 0n;
}

/** The status with its conditions in the order of {@link timedConditions}. */
function comparable(status: unknown): unknown {
  if (status === undefined || status === null) return {};
  const conditions = conditionsOf(status);
  return conditions.length === 0
    ? status
    : { ...status, conditions: [...conditions].sort((a, b) => (a.type < b.type ? -1 : 1)) };
}

function conditionsOf(status: unknown): readonly Condition[] {
  return (status as { readonly conditions?: readonly Condition[] } | undefined)?.conditions ?? [];
}

function cut(text: string): string {
  return text.length <= MAX_MESSAGE ? text : `${text.slice(0, MAX_MESSAGE - 1)}…`;
}
