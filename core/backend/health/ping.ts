import { LinkFailure } from '../failure.ts';
import { DISCOVERY_CALLER } from '../lists/discovery-caller.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import { classifySignal } from './classify-signal.ts';

/**
 * Asks over a living link whether anybody is there: `ping`, or `server/discover` of a revision without ping.
 *
 * `false` means that the link tells nothing any more and the backend must be looked for anew.
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

/** The connection or session broke, or something else answers at this address: only a hello shows what is there. */
function saysNothing({ category, httpStatus, linkLost }: LinkFailure): boolean {
  return linkLost || GONE.has(category) || httpStatus === 404 || httpStatus === 410;
}

const GONE: ReadonlySet<string> = new Set(['refused', 'closed', 'session', 'exit']);
