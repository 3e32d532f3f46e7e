import { GatewayFault, LATE, within } from '@toolmgr/core';

const LONGEST_MS = 60_000;

/**
 * Waits for work that several callers share: one caller's signal ends only that caller's wait.
 * @throws GatewayFault REMOTE_UNAVAILABLE with `what` when the signal ends first; what the work throws
 */
export async function waitFor<T>(work: Promise<T>, signal: AbortSignal, what: string): Promise<T> {
  try {
    const ended = await within(LONGEST_MS, signal, work);
    if (ended !== LATE) return ended;
  } catch (cause) {
    if (!signal.aborted || cause instanceof GatewayFault) throw cause;
  }
  throw new GatewayFault('REMOTE_UNAVAILABLE', `${what}: no answer in time`);
}
