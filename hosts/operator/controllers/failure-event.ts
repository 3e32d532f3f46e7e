import type { Condition, Resource } from '@toolmgr/plugins/kit/kubernetes';
import type { EventText } from '../machinery/controller.ts';
import { contentHash } from '../objects/content-hash.ts';

/** What statuses have in common. */
interface AnyStatus {
  readonly phase?: string;
  /** Of VirtualMCPCompositeToolDefinition, which has no phase. */
  readonly validationStatus?: string;
  readonly message?: string;
  readonly conditions?: readonly Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[];
}

/** The condition that says why, first that of a status with a message, then those that sum up others. */
const TELLING = ['Valid', 'WorkflowValidated', 'Ready'];

/**
 * The Warning event of an object that is `Failed` (or `Invalid`) now, and was not, or for another cause. `told`: events of the
 * same reconcile; one of them that already says the cause replaces it.
 */
export function failureEvent(
  { metadata: { generation = 0 }, status: before }: Resource,
  wanted: object,
  told: readonly EventText[] = [],
): EventText | undefined {
  const failure = failureOf(wanted as AnyStatus);
  if (failure === undefined) return;
  const previous = failureOf((before ?? {}) as AnyStatus);
  if (previous?.reason === failure.reason && previous.message === failure.message) return;
  if (told.some(({ type, message }) => type === 'Warning' && failure.message.startsWith(message.slice(0, COMPARED))))
    return;
  const transition = `${generation}/${contentHash(failure)}`;
  return { type: 'Warning', action: 'Reconcile', ...failure, transition };
}

/** Notes of events are cut, messages of conditions are not. */
const COMPARED = 1_000;

function failureOf({ phase, validationStatus, message, conditions = [] }: AnyStatus) {
  if (phase !== 'Failed' && validationStatus !== 'Invalid') return;
  const failed = conditions.filter(({ status }) => status === 'False');
  const types = message === undefined ? TELLING : ['Ready'];
  const found = types.map((type) => failed.find((each) => each.type === type)).find((each) => each !== undefined);
  const { reason = 'Failed', message: text = '' } = found ?? failed[0] ?? {};
  return { reason, message: message ?? text };
}
