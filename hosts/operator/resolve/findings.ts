import type { ClusterFindings, Condition } from '@toolmgr/plugins/kit/kubernetes';
import type { EventText } from '../machinery/controller.ts';
import { contentHash } from '../objects/content-hash.ts';
import type { Outcome, ResolvedCondition } from './resolution.ts';

/** Maximum characters of `conditions[].message`. Source: vmcp spec §8. */
const MAX_MESSAGE = 32_768;
/** Maximum characters of the note of an event. Source: Kubernetes `events.k8s.io/v1`. */
const MAX_NOTE = 1024;

/** Collects conditions, events and the outcome. The first failure decides the outcome. */
export interface Findings extends ClusterFindings {
  readonly hasFailed: boolean;
  result(): {
    readonly outcome: Outcome;
    readonly conditions: readonly ResolvedCondition[];
    readonly events: readonly EventText[];
  };
}

/** Creates empty findings. `previous`: conditions of the status, which tell transitions. */
export function createFindings(generation: number, previous: readonly Condition[]): Findings {
  const conditions = new Map<string, ResolvedCondition>();
  const events: EventText[] = [];
  let outcome: Outcome | undefined;
  const tell: Findings['tell'] = (type, status, reason, message) => {
    conditions.set(type, { type, status, reason, message: cut(message, MAX_MESSAGE) });
  };
  const emit = (reason: string, message: string, transition: string): void => {
    events.push({ type: 'Warning', reason, message: cut(message, MAX_NOTE), action: 'Reconcile', transition });
  };
  return {
    tell,
    fail(type, reason, message, event) {
      // a failure replaces an earlier success of the same type, but not an earlier failure
      if (conditions.get(type)?.status !== 'False') tell(type, 'False', reason, message);
      outcome ??= { result: 'failed', phase: 'Failed', message: cut(message, MAX_MESSAGE) };
      if (event === undefined) return;
      const before = previous.find((condition) => condition.type === type);
      if (before?.status === 'False' && before.reason === reason && before.message === message) return;
      emit(event, message, `${reason} after ${before?.lastTransitionTime ?? 'the start'}: ${contentHash(message)}`);
    },
    wait(type, reason, message) {
      tell(type, 'False', reason, message);
      outcome ??= { result: 'waiting', phase: 'Pending', message: cut(message, MAX_MESSAGE) };
    },
    warn(reason, message) {
      emit(reason, message, `generation ${generation}`);
    },
    get hasFailed() {
      return outcome !== undefined;
    },
    result() {
      return { outcome: outcome ?? { result: 'ready' }, conditions: [...conditions.values()], events };
    },
  };
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1)}…`;
}
