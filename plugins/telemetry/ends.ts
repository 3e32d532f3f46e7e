import { type Call, type CallRecord, type CallResult, GatewayFault, type RequestRecord } from '@toolmgr/core';

/** How a call to its target ended. */
export interface CallEnd {
  readonly result: CallResult | undefined;
  /** Kind of what went wrong, without any text of it; `undefined` when nothing did. */
  readonly errorType: string | undefined;
  /** Code of a JSON-RPC error of the backend. */
  readonly rpcCode: number | undefined;
  readonly durationMs: number;
  readonly endedMs: number;
}

/** How a request ended, or how it stands when a stream that only listens was opened. */
export interface RequestEnd {
  readonly record: RequestRecord;
  readonly durationMs: number;
  readonly errorType: string | undefined;
  /** The gateway or something behind it failed; a request that was wrong or not allowed is none. */
  readonly isFailure: boolean;
}

/** Sums up a call that was dispatched. */
export function callEnd(
  call: Call,
  result: CallResult | undefined,
  cause: unknown,
  startedMs: number,
  endedMs: number,
): CallEnd {
  const rpcCode = rpcCodeOf(cause);
  const errorType = result === undefined ? errorTypeOf(call, cause, rpcCode) : result.isError ? TOOL_ERROR : undefined;
  return { result, errorType, rpcCode, durationMs: endedMs - startedMs, endedMs };
}

/** Sums up a request; `settled` is the end of its call, when that came to one. */
export function requestEnd(record: RequestRecord, settled: CallRecord | undefined, durationMs: number): RequestEnd {
  const { status, error } = record;
  const outcome = settled?.outcome;
  const isFailure = status >= 500 || error?.code === INTERNAL_ERROR || outcome === 'toolError' || outcome === 'fault';
  return { record, durationMs, errorType: requestErrorType(record, settled), isFailure };
}

/** The most exact word there is for what went wrong. */
function requestErrorType({ status, error, isGone }: RequestRecord, settled: CallRecord | undefined) {
  if (settled?.outcome === 'toolError') return TOOL_ERROR;
  // to clients of the older revision a refused call is a tool result like any other
  if (settled?.refusal !== undefined) return String(settled.refusal.status);
  if (error !== undefined) return String(error.code);
  if (status >= 400) return String(status);
  if (isGone) return CANCELLED;
  return settled?.outcome === 'fault' ? UNNAMED : undefined;
}

const TOOL_ERROR = 'tool_error'; // OpenTelemetry conventions for MCP, error.type
const CANCELLED = 'cancelled';
const UNNAMED = '_OTHER';
const INTERNAL_ERROR = -32603;

function errorTypeOf({ cancel }: Call, cause: unknown, rpcCode: number | undefined): string {
  if (cancel.aborted) return CANCELLED;
  if (cause instanceof GatewayFault) return cause.code;
  return rpcCode === undefined ? UNNAMED : String(rpcCode);
}

/** A backend's own JSON-RPC error travels as an exception with its code. */
function rpcCodeOf(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || cause instanceof GatewayFault || !('code' in cause)) return undefined;
  return typeof cause.code === 'number' ? cause.code : undefined;
}
