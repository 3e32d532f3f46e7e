import type { Call, CallRecord, CallResult } from '../contract/call.ts';
import type { RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { FAULTS, GatewayFault } from '../errors.ts';
import { decodeObject, RawJsonError } from '../json/raw-json.ts';
import { BackendError, CODE, wireError } from '../mcp/errors.ts';
import { toolFailure } from '../mcp/result.ts';

/** What a thrown thing becomes on the wire, and how it is recorded. */
export type FaultReply = {
  readonly outcome: CallRecord['outcome'];
  /** The gateway's or a plugin's fault rather than a backend's: worth an error line. */
  readonly isOurs: boolean;
} & ({ readonly error: WireError } | { readonly result: CallResult });

/**
 * Turns whatever a call threw into an answer without internals.
 *
 * A backend's own JSON-RPC error travels as it is, but for codes that speak of the gateway's hop. A backend that failed
 * gives a tool failure for tools/call, so that the model can read it, and -32603 otherwise.
 */
export function replyFromFault(call: Call, thrown: unknown): FaultReply {
  if (thrown instanceof UnknownEntry) return { outcome: 'error', isOurs: false, error: notFound(thrown.call) };
  if (thrown instanceof BackendError) return { outcome: 'error', isOurs: false, error: relayed(call, thrown) };
  if (thrown instanceof CallError) return { outcome: 'error', isOurs: false, error: thrown.error };
  if (thrown instanceof GatewayFault && thrown.code.startsWith('BACKEND_'))
    return farFault(call, thrown.code, thrown.message);
  if (thrown instanceof GatewayFault && thrown.code === 'AUTH_STRATEGY_FAILED') {
    return { ...farFault(call, thrown.code, thrown.message), isOurs: true };
  }
  // The caller's own matter: it can do something about it, the operator cannot.
  if (thrown instanceof GatewayFault && thrown.code === 'AUTH_STRATEGY_REFUSED') {
    return farFault(call, thrown.code, thrown.message);
  }
  if (thrown instanceof RawJsonError) {
    return farFault(call, 'BACKEND_PROTOCOL', `backend ${call.target.backend} answered malformed JSON`);
  }
  const status = thrown instanceof GatewayFault ? FAULTS[thrown.code].status : 500;
  return { outcome: 'fault', isOurs: true, error: wireError(CODE.internalError, 'internal error', undefined, status) };
}

/** A call named something that the catalogue does not have. */
export class UnknownEntry extends Error {
  readonly call: Call;

  constructor(call: Call) {
    super(`${call.name} is not in the catalogue`);
    this.name = 'UnknownEntry';
    this.call = call;
  }
}

/** An answer that is decided: thrown where a value cannot be returned, e.g. -32602 by a virtual entry. */
export class CallError extends Error {
  readonly error: WireError;

  constructor(error: WireError) {
    super(error.message);
    this.name = 'CallError';
    this.error = error;
  }
}

/**
 * The error for a name that is not in the catalogue. `starting`: backends that may bring it yet, in words; `among`: those
 * that may have a resource which no list names.
 */
export function notFound(
  call: Pick<Call, 'method' | 'name' | 'client'>,
  starting?: string,
  among?: readonly string[],
): WireError {
  const error = unknown(call, among);
  if (starting === undefined) return error;
  return { ...error, message: `${error.message}; perhaps it comes with a backend that is still starting: ${starting}` };
}

function unknown(call: Pick<Call, 'method' | 'name' | 'client'>, among?: readonly string[]): WireError {
  if (call.method === 'resources/read' || call.method === 'resources/subscribe') {
    const code = call.client.era === '2025-11-25' ? CODE.legacyResourceNotFound : CODE.invalidParams;
    const why =
      among === undefined
        ? ''
        : `: no list names it, and none of ${among.join(', ')} alone has its scheme, so none was asked`;
    return wireError(code, `resource not found: ${call.name}${why}`, { uri: call.name });
  }
  if (call.method === 'completion/complete') {
    return wireError(CODE.invalidParams, `unknown ref: nothing to complete is named "${call.name}"`);
  }
  const kind = call.method === 'prompts/get' ? 'prompt' : 'tool';
  return wireError(CODE.invalidParams, `unknown ${kind}: ${kind} "${call.name}" not found`);
}

/** The error for a `requestState` that does not open, or whose call is gone. One text for every reason. */
export function staleState(): WireError {
  return wireError(CODE.invalidParams, 'requestState is invalid or expired');
}

function farFault(call: Call, code: string, message: string): FaultReply {
  const text = `${message} (${code})`;
  if (call.method !== 'tools/call') {
    return { outcome: 'fault', isOurs: false, error: wireError(CODE.internalError, text) };
  }
  return { outcome: 'fault', isOurs: false, result: toolFailure(text) };
}

/** A backend's error as the client's era spells it. */
function relayed(call: Call, thrown: BackendError): WireError {
  const isModern = call.client.era === '2026-07-28';
  const { code, message, data, members, backend } = thrown;
  if (code === CODE.headerMismatch || code === CODE.unsupportedVersion) {
    return wireError(CODE.internalError, `backend ${backend} refused the gateway's request (${code})`);
  }
  if (code === CODE.missingCapability && !isModern) {
    return wireError(CODE.invalidParams, `${message}: backend ${backend} needs a capability that the client lacks`);
  }
  const spelled = isModern ? (MODERN_SPELLING.get(code) ?? code) : legacyCode(call, code, data);
  return {
    code: spelled,
    message,
    ...(data === undefined ? {} : { data }),
    ...(members === undefined ? {} : { members }),
    ...(code === CODE.missingCapability ? { status: 400 } : {}),
  };
}

/** -32002 and -32042 must not appear in front of modern clients (MCP 2026-07-28, error codes). */
const MODERN_SPELLING: ReadonlyMap<number, number> = new Map([
  [CODE.legacyResourceNotFound, CODE.invalidParams],
  [CODE.legacyUrlElicitationRequired, CODE.internalError],
]);

/** Modern backends say "not found" with -32602 and the URI; without the URI it may be any wrong parameter. */
function legacyCode({ method, name }: Call, code: number, data: RawJson | undefined): number {
  if (code !== CODE.invalidParams || method !== 'resources/read' || data === undefined) return code;
  return decodeObject(data)?.uri === name ? CODE.legacyResourceNotFound : code;
}
