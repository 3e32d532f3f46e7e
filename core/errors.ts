import { brand } from './errors/brand.ts';
import { missingPackage } from './errors/missing-package.ts';
import { shortened } from './errors/shortened.ts';

/**
 * Every fault of the gateway by code: its HTTP status when it reaches a client, and its meaning. The reference page of
 * errors is generated from this table.
 */
export const FAULTS = {
  PLUGIN_FAILED: { status: 500, means: 'a plugin threw while the stage it tapped was running' },
  PLUGIN_TAPPED_TWICE: { status: 500, means: 'a plugin tapped the same hook twice under one address' },
  PLUGIN_TAPPED_LATE: { status: 500, means: 'a plugin tapped a hook after the gateway was sealed' },
  PLUGIN_INVALID: { status: 500, means: 'a module does not export a plugin: address, config and apply are required' },
  PLUGIN_UNKNOWN: { status: 500, means: 'the plan uses an address that matches no catalogue entry and no file' },
  PLAN_INVALID: { status: 500, means: 'a plan or a plugin configuration does not fit its schema' },
  PLAN_INCOMPLETE: {
    status: 500,
    means: 'the plan lacks a setting without which the gateway would be unprotected or useless',
  },
  SLOT_UNKNOWN: { status: 500, means: 'a slot has no implementation with the name that the plan uses' },
  SLOT_TAKEN: { status: 500, means: 'two plugins filled the same slot under one name' },
  ROUTE_TAKEN: { status: 500, means: 'two plugins mounted the same method and path' },
  AUTH_STRATEGY_INVALID: { status: 500, means: 'the options of an outgoing-auth strategy are invalid' },
  AUTH_STRATEGY_FAILED: { status: 502, means: 'an outgoing-auth strategy could not authorize a request to a backend' },
  AUTH_STRATEGY_REFUSED: {
    status: 401,
    means: 'a backend accepts no credentials derived from those of the caller; the caller has to sign in again',
  },
  USER_ACTION_REQUIRED: {
    status: 401,
    means:
      'a call needs something that only the person can do in a browser, e.g. connect an account; the answer has the link',
  },
  CATALOG_CONFLICT: { status: 500, means: 'tool names collide and the strategy does not resolve them' },
  BACKEND_UNREACHABLE: { status: 502, means: 'no connection to the backend, or it closed before it answered' },
  BACKEND_STARTING: {
    status: 503,
    means: 'the program of a backend is still starting for the first time; its package may be being installed',
  },
  BACKEND_TIMEOUT: { status: 504, means: 'the backend did not answer within its time' },
  BACKEND_PROTOCOL: { status: 502, means: 'the backend answered something that is not MCP' },
  BACKEND_UNAUTHENTICATED: { status: 502, means: 'the backend refused the credentials of the gateway' },
  BACKEND_TOO_LARGE: { status: 502, means: 'an answer or frame of the backend exceeds its size limit' },
  BACKEND_BUSY: { status: 503, means: 'the backend has reached its limit of calls in flight, and its queue is full' },
  BACKEND_CIRCUIT_OPEN: { status: 503, means: 'the circuit breaker of the backend is open: nothing is sent to it' },
  BACKEND_UNKNOWN: { status: 502, means: 'a catalogue entry names a backend that was removed' },
  STORE_UNAVAILABLE: { status: 503, means: 'a store did not answer' },
  STORE_FULL: { status: 503, means: 'a store has no room for a new key; existing keys are kept' },
  REMOTE_REFUSED: {
    status: 502,
    means: 'a configured URL leads to a forbidden target: plain http, a private address, a redirect',
  },
  REMOTE_UNAVAILABLE: {
    status: 503,
    means: 'a configured service, e.g. an identity provider, gave no usable answer within its time and size limits',
  },
  SECRET_MISSING: { status: 500, means: 'a secret or environment variable is unknown or empty' },
  SECRETS_UNAVAILABLE: {
    status: 500,
    means: 'the encrypted secrets cannot be read or written: no password, a wrong password, or a damaged file',
  },
  WORKLOAD_FAILED: { status: 500, means: 'a workload could not be started, or ended and is not restarted' },
  REQUEST_REFUSED: { status: 403, means: 'the Host or Origin of an HTTP request is not allowed' },
  REQUEST_AMBIGUOUS: {
    status: 400,
    means: 'the target of an HTTP request is not a path, or a header that decides something is repeated',
  },
  ROUTE_UNKNOWN: { status: 404, means: 'nothing is served at the path of an HTTP request' },
  METHOD_UNKNOWN: { status: 405, means: 'the path of an HTTP request is not served with its method' },
  BODY_TOO_SLOW: { status: 408, means: 'the body of an HTTP request did not arrive within limits.bodyTimeoutMs' },
  BODY_TOO_LARGE: { status: 413, means: 'the body of an HTTP request is larger than limits.bodyBytes' },
  BODY_UNSUPPORTED: { status: 415, means: 'the body of an HTTP request has a content coding' },
  BODY_CONSUMED: {
    status: 500,
    means: 'the host read the body of an HTTP request before the gateway and did not pass it to the gateway',
  },
  MEMORY_SPENT: {
    status: 503,
    means: 'requests and results in flight use limits.memoryBudgetBytes, or the share of the caller',
  },
  GATEWAY_STOPPING: { status: 503, means: 'the gateway is stopping and takes no new requests' },
  LISTEN_FAILED: { status: 500, means: 'the HTTP port could not be opened' },
} as const satisfies Record<string, { readonly status: number; readonly means: string }>;

/** A code of {@link FAULTS}. */
export type FaultCode = keyof typeof FAULTS;

/** A failure: an exception with a code. `message` is for operators and logs, never sent to clients unchanged. */
export class GatewayFault extends Error {
  static {
    brand(GatewayFault, 'GatewayFault');
  }

  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.name = 'GatewayFault';
    this.code = code;
  }

  /** HTTP status of this fault, from the table. */
  get status(): number {
    return FAULTS[this.code].status;
  }
}

/** A call that needs something which only the person can do in a browser. The answer to the client has `url` as a link. */
export class UserActionRequired extends GatewayFault {
  static {
    brand(UserActionRequired, 'UserActionRequired');
  }

  /** Absolute https URL, or http on this machine. It expires, and has no secret of other people. */
  readonly url: string;

  /** `message`: what to do, for the person, e.g. "connect your GitHub account". */
  constructor(message: string, url: string) {
    super('USER_ACTION_REQUIRED', message);
    this.name = 'UserActionRequired';
    this.url = url;
  }
}

/** Returns a fault unchanged, and wraps any other thrown value as `code`, keeping it as the cause. */
export function faultFrom(cause: unknown, code: FaultCode, message: string): GatewayFault {
  if (cause instanceof GatewayFault) return cause;
  return new GatewayFault(code, message, { cause });
}

/** One log line about an error and its causes, innermost cause last. A cause that the text before it repeats is left out. */
export function explainCause(cause: unknown): string {
  return causesOf(cause)
    .filter((line, index, lines) => line === '' || !lines[index - 1]?.endsWith(line))
    .join(' <- ');
}

/**
 * The messages of an error and its causes, innermost cause last. Long ones are cut: a backend may send one of any length.
 * For a package that is not installed the message says how to install it.
 */
export function causesOf(cause: unknown): string[] {
  const lines: string[] = [];
  for (let at: unknown = cause, depth = 0; at !== undefined && depth < MAX_CAUSE_DEPTH; depth++) {
    lines.push(shortened(missingPackage(at) ?? (at instanceof Error ? at.message : String(at)), MAX_MESSAGE));
    at = at instanceof Error ? at.cause : undefined;
  }
  return lines;
}

const MAX_CAUSE_DEPTH = 8;
const MAX_MESSAGE = 2_000; // characters
