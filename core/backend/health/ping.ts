import { LinkFailure } from '../failure.ts';
import { DISCOVERY_CALLER } from '../lists/discovery-caller.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import { classifySignal } from './classify-signal.ts';

/**
 * Checks an open session with `ping`, or with `server/discover` in revisions without ping.
 *
 * `false` means that the session is broken and a new one is needed.
 * @throws LinkFailure when the backend does not answer, or refuses the credentials
 */
export async function isAlive(link: JsonRpcConnection, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const method = link.era === '2026-07-28' ? 'server/discover' : 'ping';
  const times = { timeoutMs, totalMs: timeoutMs, signal } as const;
  try {
    await link.request({
      method,
      params: [],
      caller: DISCOVERY_CALLER,
      purpose: 'discovery',
      capabilities: {},
      ...times,
    });
    return true;
  } catch (cause) {
    if (cause instanceof LinkFailure && saysNothing(cause)) return false;
    if (classifySignal(cause).is === 'alive') return true;
    throw cause;
  }
}

/** The connection or session broke, or another server answers at this address: only a new connection can tell. */
function saysNothing({ category, httpStatus, linkLost }: LinkFailure): boolean {
  return linkLost || GONE.has(category) || httpStatus === 404 || httpStatus === 410;
}

const GONE: ReadonlySet<string> = new Set(['refused', 'closed', 'session', 'exit']);
