import { backOffMs } from '@toolmgr/core';
import { DeadlineExceeded, pause, withDeadline } from './deadline.ts';
import type { StepDefinition } from './definition-schema.ts';
import { MAX_DELAY_FACTOR, MAX_RETRIES, RETRY_DELAY_MS, STEP_TIMEOUT_MS } from './limits.ts';
import { StepFailure } from './step-failure.ts';

/** Retries, timeout and error handling of a step. */
export interface Policy {
  readonly action: 'abort' | 'continue' | 'retry';
  readonly retries: number;
  readonly delayMs: number;
  /** Limit of all attempts and the delays between them. */
  readonly timeoutMs: number;
}

/** The policy from `onError` and `timeout` of a step. */
export function policyFrom({ onError, timeout }: Pick<StepDefinition, 'onError' | 'timeout'>): Policy {
  const { action = 'abort', retryCount = 1, retryDelay = RETRY_DELAY_MS } = onError ?? {};
  return {
    action,
    retries: action === 'retry' ? Math.min(retryCount, MAX_RETRIES) : 0,
    delayMs: retryDelay,
    timeoutMs: timeout ?? STEP_TIMEOUT_MS,
  };
}

/**
 * Runs a function under a policy. The operator allows further attempts with `retry`: tools may have side effects. Final
 * failures, e.g. of a template, are not retried.
 * @throws StepFailure when the last attempt fails or the timeout passes; the abort reason of `parent`
 */
export async function attempt<T>(
  policy: Policy,
  parent: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
  onRetry: (failure: StepFailure) => void = () => {},
): Promise<T> {
  try {
    return await withDeadline(parent, policy.timeoutMs, async (signal) => {
      for (let retry = 0; ; retry++) {
        try {
          return await run(signal);
        } catch (cause) {
          signal.throwIfAborted();
          if (!(cause instanceof StepFailure) || cause.isFinal || retry >= policy.retries) throw cause;
          onRetry(cause);
          await pause(delayBefore(retry, policy.delayMs), signal);
        }
      }
    });
  } catch (cause) {
    if (cause instanceof DeadlineExceeded) throw new StepFailure(`timed out after ${policy.timeoutMs} ms`);
    throw cause;
  }
}

/** The first wait is the one that the step asks for; later ones double, with jitter. */
export function delayBefore(retry: number, delayMs: number, chance?: number): number {
  return retry === 0 ? delayMs : backOffMs(retry + 1, { firstMs: delayMs, maxMs: delayMs * MAX_DELAY_FACTOR }, chance);
}
