import type { Backend } from '../../contract/backend.ts';
import type { SessionOwner } from '../../contract/client-context.ts';
import { explainCause } from '../../errors.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import { BackendError } from '../../mcp/errors.ts';
import { LATE, within } from '../../timing/within.ts';
import type { Availability } from '../availability.ts';
import { ConnectionFailure } from '../failure.ts';
import type { JsonRpcConnection } from './json-rpc-connection.ts';
import type { SessionHolder } from './session-holder.ts';
import type { SessionPool } from './session-pool.ts';

/** What opening the sessions of one backend needs. */
export interface OpenForOwnerOptions {
  readonly backend: Backend;
  readonly pool: SessionPool;
  readonly availability: Availability;
  readonly limits: Limits;
  readonly log: Log;
  /** Aborts when the backend is removed. */
  readonly signal: AbortSignal;
  now(): number;
}

/**
 * Opens the session for an owner's requests, after a running connection attempt that is worth waiting for.
 * @throws GatewayFault at once when the backend is unavailable; rejects when it has been starting for a while
 */
export function openForOwner(
  options: OpenForOwnerOptions,
  owner: SessionOwner,
  number: number,
): JsonRpcConnection | Promise<JsonRpcConnection> {
  const { firstAttempt, attempt, startingSinceMs } = options.availability;
  if (attempt !== undefined && startingSinceMs !== undefined) {
    return waitForFirstStart(options, attempt, startingSinceMs).then(() => openNow(options, owner, number));
  }
  return firstAttempt === undefined
    ? openNow(options, owner, number)
    : firstAttempt.then(() => openNow(options, owner, number));
}

/**
 * Waits for a short time for the first start of a program.
 * @throws ConnectionFailure BACKEND_STARTING with the seconds so far, `limits.discoveryMs` after it began
 */
async function waitForFirstStart(
  { backend, limits, now }: OpenForOwnerOptions,
  start: Promise<void>,
  startedMs: number,
): Promise<void> {
  const soFarMs = now() - startedMs;
  const beganMs = performance.now() - soFarMs;
  const leftMs = limits.discoveryMs - soFarMs;
  if (leftMs > 0 && (await within(leftMs, undefined, start)) !== LATE) return;
  const seconds = Math.floor((performance.now() - beganMs) / 1000);
  const most = Math.round(limits.firstStartMs / 1000);
  const sentence = `is still starting, ${seconds} s so far; its first start may take ${most} s; retry later`;
  throw new ConnectionFailure(backend.name, 'starting', sentence, { notRun: true });
}

function openNow(
  options: OpenForOwnerOptions,
  owner: SessionOwner,
  number: number,
): JsonRpcConnection | Promise<JsonRpcConnection> {
  const { availability, pool } = options;
  const { status } = availability;
  if (status === 'unavailable' || status === 'unknown') throw availability.unavailableError();
  const holder = pool.holderFor(owner, number);
  return holder.about.era === undefined ? holder.connect() : openBeside(options, holder, owner, number);
}

/**
 * A session of the client's own era, or the gateway's own one when the backend does not support that era or has no free
 * place.
 */
async function openBeside(
  options: OpenForOwnerOptions,
  holder: SessionHolder,
  owner: SessionOwner,
  number: number,
): Promise<JsonRpcConnection> {
  const { backend, pool, log, signal } = options;
  try {
    return await holder.connect();
  } catch (cause) {
    if (signal.aborted) throw cause;
    // Another client may have detected it meanwhile and ended this attempt.
    if (pool.isModernOnly) return openNow(options, owner, number);
    if (!refusesEra(cause) || !pool.noteModernOnly()) throw cause;
    log.info('backend serves 2026-07-28 only; its legacy clients are bridged', {
      backend: backend.name,
      cause: explainCause(cause),
    });
    return openNow(options, owner, number);
  }
}

/** Whether a failed `initialize` means that the server has no such sessions, and not that it is down. */
function refusesEra(cause: unknown): boolean {
  if (cause instanceof BackendError) return true;
  if (!(cause instanceof ConnectionFailure)) return false;
  return REFUSALS.has(cause.category) && (cause.httpStatus === undefined || cause.httpStatus < 500);
}

/** Failure categories with which servers without `initialize` end the connection. */
const REFUSALS: ReadonlySet<string> = new Set(['http', 'protocol', 'exit', 'timeout', 'session']);
