import { isDeepStrictEqual } from 'node:util';
import { type Condition, keyOf, type Resource, type ResourceType } from '@toolmgr/plugins/kubernetes';
import type { ReconcileContext } from '../machinery/controller.ts';
import { MANAGER } from '../objects/owned-objects.ts';

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
 * Applies a status as a whole, when it differs from the one in the cache: members that are absent now are removed.
 * @returns whether it was written
 * @throws ApiError
 */
export async function writeStatus(
  { api }: Pick<ReconcileContext, 'api'>,
  type: ResourceType,
  object: Resource,
  status: object,
): Promise<boolean> {
  const wanted = JSON.parse(JSON.stringify(status)) as object;
  if (isDeepStrictEqual(wanted, comparable(object.status))) return false;
  const { namespace, name } = keyOf(object);
  const { uid } = object.metadata;
  await api.apply(
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
  return true;
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
