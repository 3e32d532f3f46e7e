import { pause, TimeOver, withDeadline } from './deadline.ts';
import type { StepDefinition } from './definition.ts';
import { MAX_DELAY_FACTOR, MAX_RETRIES, RETRY_DELAY_MS, STEP_TIMEOUT_MS } from './limits.ts';
import { StepFailure } from './step-failure.ts';

/** How often and how long something is tried, and what its failure means. */
export interface Policy {
  readonly action: 'abort' | 'continue' | 'retry';
  readonly retries: number;
  readonly delayMs: number;
  /** Of all attempts and the waits between them. */
  readonly timeoutMs: number;
}

/** The policy that `onError` and `timeout` of a step ask for. */
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
 * Runs something under a policy. Attempts after the first are the operator's wish: `retry` says that the tool may be called
 * again. A failure that would come again the same way, e.g. of a template, is not tried again.
 * @throws StepFailure when the last attempt failed or the time is over; the reason of `parent` when that aborted
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
          await pause(delayBefore(retry, policy.delayMs, Math.random()), signal);
        }
      }
    });
  } catch (cause) {
    if (cause instanceof TimeOver) throw new StepFailure(`timed out after ${policy.timeoutMs} ms`);
    throw cause;
  }
}

/** Doubles with each retry, spread over the upper half so that replicas do not knock in step; bounded. */
export function delayBefore(retry: number, delayMs: number, chance: number): number {
  const grown = Math.min(delayMs * 2 ** retry, delayMs * MAX_DELAY_FACTOR);
  return retry === 0 ? delayMs : grown / 2 + (grown / 2) * chance;
}
