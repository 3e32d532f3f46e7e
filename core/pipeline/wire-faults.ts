import type { Call, CallRecord, CallResult } from '../contract/call.ts';
import type { RawJson } from '../contract/json.ts';
import type { Refusal } from '../contract/refusal.ts';
import type { WireError } from '../contract/wire-error.ts';
import { brand } from '../errors/brand.ts';
import { GatewayFault, UserActionRequired } from '../errors.ts';
import { RawJsonError } from '../json/json-errors.ts';
import { decodeObject } from '../json/json-value.ts';
import { retryData, toolFailure } from '../mcp/envelope.ts';
import { BackendError, CODE, echoed, wireError } from '../mcp/errors.ts';

/** The wire error of a thrown value, and how it is recorded. */
export type FaultReply = {
  readonly outcome: CallRecord['outcome'];
  /** Caused by the gateway or a plugin, not by a backend: logged as an error. */
  readonly isOurs: boolean;
  /** Set for the outcome `refused`. */
  readonly refusal?: Refusal;
} & ({ readonly error: WireError } | { readonly result: CallResult });

/**
 * Converts an error of a call into an answer without internals.
 *
 * A backend's own JSON-RPC error is forwarded unchanged, except for codes about the gateway's own request. A failed
 * backend gives a tool failure for tools/call, so that the model can read it, and -32603 otherwise.
 */
export function replyFromFault(call: Call, thrown: unknown): FaultReply {
  if (thrown instanceof UnknownEntry) return { outcome: 'error', isOurs: false, error: notFound(thrown.call) };
  if (thrown instanceof BackendError) return { outcome: 'error', isOurs: false, error: relayed(call, thrown) };
  if (thrown instanceof CallError) return { outcome: 'error', isOurs: false, error: thrown.error };
  if (thrown instanceof UserActionRequired) return inWords(call, thrown);
  if (thrown instanceof LinkNotOpened) return refused(call, thrown.message, 403);
  if (thrown instanceof GatewayFault && thrown.code.startsWith('BACKEND_'))
    return backendFault(call, thrown.code, thrown.message);
  if (thrown instanceof GatewayFault && thrown.code === 'AUTH_STRATEGY_FAILED') {
    return { ...backendFault(call, thrown.code, thrown.message), isOurs: true };
  }
  // Caused by the caller, who can act on it; the operator cannot.
  if (thrown instanceof GatewayFault && thrown.code === 'AUTH_STRATEGY_REFUSED') {
    return backendFault(call, thrown.code, thrown.message);
  }
  if (thrown instanceof GatewayFault && thrown.code === 'REMOTE_UNAVAILABLE') {
    // the message may have an address of the operator's network
    return { ...backendFault(call, thrown.code, REMOTE_AWAY), isOurs: true };
  }
  if (thrown instanceof RawJsonError) {
    return backendFault(call, 'BACKEND_PROTOCOL', `backend ${call.target.backend} answered malformed JSON`);
  }
  const status = thrown instanceof GatewayFault ? thrown.status : 500;
  const isLogged = !(thrown instanceof GatewayFault && thrown.code === 'MEMORY_SPENT'); // the budget writes its own line
  const text = thrown instanceof GatewayFault ? (OWN_TEXTS.get(thrown.code) ?? INTERNAL_ERROR) : INTERNAL_ERROR;
  return {
    outcome: 'fault',
    isOurs: isLogged,
    error: wireError(CODE.internalError, text, status === 503 ? retryData() : undefined, status),
  };
}

const INTERNAL_ERROR = 'internal error';

/** Faults of the gateway that end by themselves. */
const OWN_TEXTS: ReadonlyMap<string, string> = new Map([
  ['STORE_UNAVAILABLE', 'a store of the gateway does not answer now; repeat the call later (STORE_UNAVAILABLE)'],
  [
    'MEMORY_SPENT',
    'the result has no space: requests and results in flight use the memory of the gateway; repeat the call later (MEMORY_SPENT)',
  ],
]);

const REMOTE_AWAY =
  'a service that this call needs, e.g. an identity provider, does not answer now; repeat the call later';

/** A call of an unknown name. */
export class UnknownEntry extends Error {
  static {
    brand(UnknownEntry, 'UnknownEntry');
  }

  readonly call: Call;

  constructor(call: Call) {
    super(`${echoed(call.name)} is not in the catalogue`);
    this.name = 'UnknownEntry';
    this.call = call;
  }
}

/** A decided error: thrown where no value can be returned, e.g. -32602 by a virtual entry. */
export class CallError extends Error {
  static {
    brand(CallError, 'CallError');
  }

  readonly error: WireError;

  constructor(error: WireError) {
    super(error.message);
    this.name = 'CallError';
    this.error = error;
  }
}

/** The person declined to open a link that the call needs, or cancelled. */
export class LinkNotOpened extends Error {
  static {
    brand(LinkNotOpened, 'LinkNotOpened');
  }

  constructor() {
    super('the call was not made, because the link was not opened; repeat the call to get a new link');
    this.name = 'LinkNotOpened';
  }
}

/** The answer to a call that needs an action of the person, for clients that cannot open a link. */
export function inWords(call: Call, cause: UserActionRequired): FaultReply & { refusal: Refusal } {
  return { ...refused(call, linkSentence(cause), 401), refusal: { refused: true, status: 401, reason: cause.message } };
}

/** What to do and the link, for the person. */
export function linkSentence({ message, code, url }: UserActionRequired): string {
  return `${message} (${code}). Open this link in a browser, then repeat the call: ${url}`;
}

function refused(call: Call, text: string, status: Refusal['status']): FaultReply & { refusal: Refusal } {
  const refusal: Refusal = { refused: true, status, reason: text };
  return { ...failure(call, text), outcome: 'refused', refusal };
}

/**
 * The error for an unknown name. `absent`: text about backends that may have it and are not there; `among`: backends that may
 * have a resource that no list contains.
 */
export function notFound(
  call: Pick<Call, 'method' | 'name' | 'client'>,
  absent?: string,
  among?: readonly string[],
): WireError {
  const error = unknown(call, among);
  if (absent === undefined) return error;
  return { ...error, message: `${error.message}; it may belong to ${absent}` };
}

function unknown(call: Pick<Call, 'method' | 'name' | 'client'>, among?: readonly string[]): WireError {
  const name = echoed(call.name);
  if (call.method === 'resources/read' || call.method === 'resources/subscribe') {
    const code = call.client.era === '2025-11-25' ? CODE.legacyResourceNotFound : CODE.invalidParams;
    const why =
      among === undefined
        ? ''
        : `: no list contains it, and its scheme does not identify one of ${among.join(', ')}, so none was requested`;
    return wireError(code, `resource not found: ${name}${why}`, { uri: call.name });
  }
  if (call.method === 'completion/complete') {
    return wireError(CODE.invalidParams, `unknown ref: nothing to complete is named "${name}"`);
  }
  const kind = call.method === 'prompts/get' ? 'prompt' : 'tool';
  return wireError(CODE.invalidParams, `unknown ${kind}: ${kind} "${name}" not found`);
}

/** The error for an invalid `requestState`, or one whose call has ended. One text for every reason. */
export function staleState(): WireError {
  return wireError(CODE.invalidParams, 'requestState is invalid or expired');
}

function backendFault(call: Call, code: string, message: string): FaultReply {
  return failure(call, `${message} (${code})`);
}

function failure(call: Call, text: string): FaultReply {
  if (call.method !== 'tools/call') {
    return { outcome: 'fault', isOurs: false, error: wireError(CODE.internalError, text) };
  }
  return { outcome: 'fault', isOurs: false, result: toolFailure(text) };
}

/** A backend's error with the codes of the client's era. */
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

/** Modern clients must not get -32002 and -32042 (MCP 2026-07-28, error codes). */
const MODERN_SPELLING: ReadonlyMap<number, number> = new Map([
  [CODE.legacyResourceNotFound, CODE.invalidParams],
  [CODE.legacyUrlElicitationRequired, CODE.internalError],
]);

/** Modern backends report "not found" as -32602 with the URI; without the URI it may be any invalid parameter. */
function legacyCode({ method, name }: Call, code: number, data: RawJson | undefined): number {
  if (code !== CODE.invalidParams || method !== 'resources/read' || data === undefined) return code;
  return decodeObject(data)?.uri === name ? CODE.legacyResourceNotFound : code;
}
