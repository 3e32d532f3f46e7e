import { ConnectionFailure } from '../failure.ts';
import { DISCOVERY_CALLER } from '../sessions/backend-session.ts';
import type { JsonRpcConnection } from '../sessions/json-rpc-connection.ts';
import { classifySignal } from './classify-signal.ts';

/**
 * Checks an open session with `ping`, or with `server/discover` in revisions without ping.
 *
 * `false` means that the session is broken and a new one is needed.
 * @throws ConnectionFailure when the backend does not answer, or refuses the credentials
 */
export async function isAlive(connection: JsonRpcConnection, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
  const method = connection.era === '2026-07-28' ? 'server/discover' : 'ping';
  const times = { timeoutMs, totalMs: timeoutMs, signal } as const;
  try {
    await connection.request({
      method,
      params: [],
      caller: DISCOVERY_CALLER,
      purpose: 'discovery',
      capabilities: {},
      ...times,
    });
    return true;
  } catch (cause) {
    if (cause instanceof ConnectionFailure && saysNothing(cause)) return false;
    if (classifySignal(cause).is === 'alive') return true;
    throw cause;
  }
}

/** The connection or session broke, or another server answers at this address: only a new connection can tell. */
function saysNothing({ category, httpStatus, connectionLost }: ConnectionFailure): boolean {
  return connectionLost || GONE.has(category) || httpStatus === 404 || httpStatus === 410;
}

const GONE: ReadonlySet<string> = new Set(['refused', 'closed', 'session', 'exit']);
