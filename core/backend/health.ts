import type { BackendSignal, BackendState } from '../contract/backend.ts';
import { GatewayFault } from '../errors.ts';
import { BackendError } from '../mcp/errors.ts';
import { ConnectionFailure, type FailureCategory, GONE } from './failure.ts';
import { DISCOVERY_CALLER } from './sessions/backend-session.ts';
import type { JsonRpcConnection } from './sessions/json-rpc-connection.ts';

/**
 * What an error of a call or a probe says about the state of the backend.
 *
 * Any response of the server shows that it works: a JSON-RPC error, HTTP 429 or another refusal of this request, a
 * response that is too large. Errors caused by this gateway say nothing.
 */
export function classifySignal(error: unknown): BackendSignal {
  if (error instanceof BackendError) return ALIVE;
  if (error instanceof ConnectionFailure) return signOfFailure(error);
  const isRefused = error instanceof GatewayFault && error.code === 'AUTH_STRATEGY_FAILED';
  return isRefused ? { is: 'unauthenticated', category: 'authentication_failed' } : NOTHING;
}

/** The same for a state that the core determined. */
export function classifyState({ status, cause }: BackendState): BackendSignal {
  if (status === 'ready') return ALIVE;
  if (status === 'unauthenticated') return SIGNS.unauthenticated;
  if (status === 'unknown') return NOTHING;
  // The backend could not be opened, for whatever reason.
  const sign = SIGNS[(cause?.category ?? '') as FailureCategory] ?? NOTHING;
  return sign.is === 'failed' ? sign : SIGNS.http;
}

function signOfFailure({ category, httpStatus }: ConnectionFailure): BackendSignal {
  // A refusal of one request, because of its rate or its form, is a response.
  if (category === 'http' && httpStatus !== undefined && !isOutage(httpStatus)) return ALIVE;
  return SIGNS[category];
}

const ALIVE: BackendSignal = { is: 'alive' };
const NOTHING: BackendSignal = { is: 'nothing' };
const failed = (category: string): BackendSignal => ({ is: 'failed', category });

const SIGNS: Readonly<Record<FailureCategory, BackendSignal>> = {
  refused: failed('connection_failed'),
  dns: failed('connection_failed'),
  tls: failed('connection_failed'),
  closed: failed('connection_failed'),
  timeout: failed('timeout'),
  http: failed('backend_unavailable'),
  spawn: failed('backend_unavailable'),
  absent: failed('backend_unavailable'),
  exit: failed('backend_unavailable'),
  protocol: failed('health_check_failed'),
  unauthenticated: { is: 'unauthenticated', category: 'authentication_failed' },
  'too-large': ALIVE,
  session: NOTHING,
  busy: NOTHING,
  starting: NOTHING,
  stopped: NOTHING,
};

/** Whether a status means that the server, or a proxy before it, cannot serve now. */
export function isOutage(status: number): boolean {
  return status >= 500 || status === 407 || status === 408;
}

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
