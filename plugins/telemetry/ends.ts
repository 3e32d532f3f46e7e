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

/** Sums up a request; `outcome` is that of its call, when one settled with it. */
export function requestEnd(
  record: RequestRecord,
  outcome: CallRecord['outcome'] | undefined,
  durationMs: number,
): RequestEnd {
  const { status, error, isGone } = record;
  const isToolError = outcome === 'toolError';
  const isFailure = status >= 500 || error?.code === INTERNAL_ERROR || isToolError || outcome === 'fault';
  const errorType = isToolError
    ? TOOL_ERROR
    : error !== undefined
      ? String(error.code)
      : status >= 400
        ? String(status)
        : outcome === 'fault'
          ? '_OTHER'
          : isGone
            ? CANCELLED
            : undefined;
  return { record, durationMs, errorType, isFailure };
}

const TOOL_ERROR = 'tool_error'; // OpenTelemetry conventions for MCP, error.type
const CANCELLED = 'cancelled';
const INTERNAL_ERROR = -32603;

function errorTypeOf({ cancel }: Call, cause: unknown, rpcCode: number | undefined): string {
  if (cancel.aborted) return CANCELLED;
  if (cause instanceof GatewayFault) return cause.code;
  return rpcCode === undefined ? '_OTHER' : String(rpcCode);
}

/** A backend's own JSON-RPC error travels as an exception with its code. */
function rpcCodeOf(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || cause instanceof GatewayFault || !('code' in cause)) return undefined;
  return typeof cause.code === 'number' ? cause.code : undefined;
}
