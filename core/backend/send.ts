import type { Call, CallResult } from '../contract/call.ts';
import type { MirroredParam } from '../contract/catalog-entry.ts';
import type { RawObject } from '../json/raw-json.ts';
import type { Limits } from '../limits.ts';
import { BytesResult } from '../mcp/envelope.ts';
import { BackendError, CODE } from '../mcp/errors.ts';
import { shareOfCall } from '../mcp/shares.ts';
import { isPromise } from '../timing/is-promise.ts';
import { LATE, within } from '../timing/within.ts';
import type { BackendController } from './controller.ts';
import { ConnectionFailure, GONE } from './failure.ts';
import type { ExclusiveSession } from './sessions/exclusive-sessions.ts';
import type { JsonRpcConnection } from './sessions/json-rpc-connection.ts';
import { outgoingRequest } from './sessions/outgoing-request.ts';

/** Sends one call through a session of the controller, within its limits. */
export async function sendCall(
  call: Call,
  controller: BackendController,
  timeoutMs: number,
  limits: Limits,
): Promise<CallResult> {
  const share = controller.concurrencyLimit.shareOf(shareOfCall(call));
  const waited = controller.concurrencyLimit.enter(share, timeoutMs, call.cancel);
  if (waited !== undefined) await waited;
  try {
    const sending: Sending = { call, controller, timeoutMs, limits };
    try {
      return await sendOnce(sending, undefined);
    } catch (cause) {
      const again = await beforeRepeat(sending, cause);
      return await sendLastTime(sending, again.mirrored);
    }
  } finally {
    controller.concurrencyLimit.leave(share);
  }
}

interface Sending {
  readonly call: Call;
  readonly controller: BackendController;
  readonly timeoutMs: number;
  readonly limits: Limits;
}

async function sendOnce(sending: Sending, mirrored: readonly MirroredParam[] | undefined): Promise<CallResult> {
  const { call, controller, timeoutMs, limits } = sending;
  const { owner } = call.client;
  const found = controller.connectionFor(owner);
  const shared = isPromise(found) ? await opened(sending, found) : found;
  const { era } = shared;
  const isMixed = era === '2025-11-25' && call.client.era === '2026-07-28';
  const own = isMixed
    ? await controller.ownSessionsFor(call.client)?.take(owner, shareOfCall(call), timeoutMs, call.cancel)
    : undefined;
  const entered = controller.placeForLogs(shared, call);
  const place = isPromise(entered) ? await entered : entered;
  try {
    const connection = isMixed
      ? await withLogLevel(sending, own?.connection ?? shared, own)
      : (place?.connection ?? shared);
    const mirrors = era === '2026-07-28' && controller.backend.transport !== 'stdio';
    const facts = { era, mirrors, timeoutMs, totalMs: limits.callTotalMs, ...(mirrored && { mirrored }) };
    const asked = outgoingRequest(call, facts);
    const members = await connection.request(place?.isHeard === false ? { ...asked, logLevel: undefined } : asked);
    return resultFrom(members, connection, controller);
  } finally {
    own?.release();
    place?.release();
  }
}

/**
 * Legacy log levels belong to the session: it has the most verbose level of all modern requests, and messages are
 * filtered per request. The session is returned when the backend has accepted the level.
 */
async function withLogLevel(
  sending: Sending,
  connection: JsonRpcConnection,
  own?: ExclusiveSession,
): Promise<JsonRpcConnection> {
  const { logLevel } = sending.call.client;
  const { owner, number } = own ?? { owner: sending.call.client.owner, number: 0 };
  if (logLevel === undefined) return connection;
  sending.controller.setLogLevel(owner, logLevel, true, number);
  const found = sending.controller.connectionFor(owner, number);
  return isPromise(found) ? opened(sending, found) : found;
}

/** Waits for a session; the time limit of the call begins when it is open, so a slow program fails no first call. */
async function opened(
  { call, timeoutMs, controller }: Sending,
  found: Promise<JsonRpcConnection>,
): Promise<JsonRpcConnection> {
  const waitMs = Math.max(timeoutMs, controller.startMs);
  const connection = await within(waitMs, call.signal, found);
  if (connection !== LATE) return connection;
  const sentence = `could not be opened within ${waitMs} ms`;
  throw new ConnectionFailure(controller.backend.name, 'timeout', sentence, { notRun: true });
}

function resultFrom(members: RawObject, connection: JsonRpcConnection, controller: BackendController): CallResult {
  const result = new BytesResult(members.toBytes(), members, connection.era);
  if (connection.era === '2026-07-28' && !result.members.has('resultType')) controller.noteSloppyResult();
  return result;
}

/** Decides whether a call may be repeated and prepares the repetition. @throws the cause when it may not */
async function beforeRepeat(
  { call, controller }: Sending,
  cause: unknown,
): Promise<{ readonly mirrored: readonly MirroredParam[] | undefined }> {
  if (cause instanceof BackendError) return refusedByRevision(call, controller, cause);
  if (!(cause instanceof ConnectionFailure) || call.cancel.aborted) throw cause;
  // A refused call did not run, and the credentials that caused the refusal are renewed.
  if (cause.httpStatus === 401 && controller.credentialsRefused(call.caller)) return { mirrored: undefined };
  if (cause.httpStatus === 403) throw await controller.forbidden(cause);
  if (GONE.has(cause.category)) controller.availability.send({ is: 'suspected' });
  // Sent and perhaps executed: only calls without effects may be repeated.
  if (!cause.notRun && !(GONE.has(cause.category) && IDEMPOTENT.has(call.method))) throw cause;
  if (!GONE.has(cause.category)) throw cause;
  return { mirrored: undefined };
}

const IDEMPOTENT: ReadonlySet<string> = new Set(['resources/read', 'prompts/get', 'completion/complete']);

/** Codes with which a modern backend refuses a request of this gateway before it runs. */
async function refusedByRevision(call: Call, controller: BackendController, cause: BackendError) {
  if (controller.availability.era !== '2026-07-28') throw cause;
  if (cause.code === CODE.headerMismatch) {
    await controller.lists.relistNow();
    const tool = controller.lists.cache.of('')?.tools.find((item) => item.key === call.target.original);
    return { mirrored: tool?.mirrored ?? [] };
  }
  if (cause.code !== CODE.unsupportedVersion) throw cause;
  await controller.doubtEra();
  return { mirrored: undefined };
}

async function sendLastTime(sending: Sending, mirrored: readonly MirroredParam[] | undefined): Promise<CallResult> {
  try {
    return await sendOnce(sending, mirrored);
  } catch (cause) {
    if (!(cause instanceof BackendError) || sending.controller.availability.era !== '2026-07-28') throw cause;
    if (cause.code !== CODE.headerMismatch && cause.code !== CODE.unsupportedVersion) throw cause;
    // The error is about the gateway's own request; clients cannot act on it.
    const sentence = `refuses the request of this gateway (${cause.code})`;
    throw new ConnectionFailure(sending.controller.backend.name, 'protocol', sentence, { cause });
  }
}
