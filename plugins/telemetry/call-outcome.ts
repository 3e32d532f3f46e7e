import { type Call, type CallRecord, type CallResult, GatewayFault, type RequestRecord } from '@toolmgr/core';

/** The outcome of a call to its target. */
export interface CallOutcome {
  readonly result: CallResult | undefined;
  /** Kind of the error, without its text; `undefined` for success. */
  readonly errorType: string | undefined;
  /** Code of a JSON-RPC error of the backend. */
  readonly rpcCode: number | undefined;
  readonly durationMs: number;
  readonly endedMs: number;
}

/** The outcome of a request; of a listening stream when it is opened. */
export interface RequestOutcome {
  readonly record: RequestRecord;
  readonly durationMs: number;
  readonly errorType: string | undefined;
  /** Whether the gateway or a backend failed; not for invalid or forbidden requests. */
  readonly isFailure: boolean;
}

/** Computes the outcome of a dispatched call. */
export function callOutcome(
  call: Call,
  result: CallResult | undefined,
  cause: unknown,
  startedMs: number,
  endedMs: number,
): CallOutcome {
  const rpcCode = rpcCodeOf(cause);
  const errorType = result === undefined ? errorTypeOf(call, cause, rpcCode) : result.isError ? TOOL_ERROR : undefined;
  return { result, errorType, rpcCode, durationMs: endedMs - startedMs, endedMs };
}

/** Computes the outcome of a request; `settled` is the record of its call, if any. */
export function requestOutcome(
  record: RequestRecord,
  settled: CallRecord | undefined,
  durationMs: number,
): RequestOutcome {
  const { status, error } = record;
  const outcome = settled?.outcome;
  const isFailure = status >= 500 || error?.code === INTERNAL_ERROR || outcome === 'toolError' || outcome === 'fault';
  return { record, durationMs, errorType: requestErrorType(record, settled), isFailure };
}

/** The most specific error type. */
function requestErrorType({ status, error, isGone }: RequestRecord, settled: CallRecord | undefined) {
  if (settled?.outcome === 'toolError') return TOOL_ERROR;
  // a client of 2025-11-25 gets a refusal as a tool result
  if (settled?.refusal !== undefined) return String(settled.refusal.status);
  if (error !== undefined) return String(error.code);
  if (status >= 400) return String(status);
  if (isGone) return CANCELLED;
  return settled?.outcome === 'fault' ? OTHER_ERROR : undefined;
}

const TOOL_ERROR = 'tool_error'; // OpenTelemetry conventions for MCP, error.type
const CANCELLED = 'cancelled';
const OTHER_ERROR = '_OTHER';
const INTERNAL_ERROR = -32603;

function errorTypeOf({ cancel }: Call, cause: unknown, rpcCode: number | undefined): string {
  if (cancel.aborted) return CANCELLED;
  if (cause instanceof GatewayFault) return cause.code;
  return rpcCode === undefined ? OTHER_ERROR : String(rpcCode);
}

/** A JSON-RPC error of a backend is an exception with its code. */
function rpcCodeOf(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || cause instanceof GatewayFault || !('code' in cause)) return undefined;
  return typeof cause.code === 'number' ? cause.code : undefined;
}
