import type { JsonValue, RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { brand } from '../errors/brand.ts';
import { encode } from '../json/json-value.ts';

/**
 * JSON-RPC 2.0 §5.1 and the codes of MCP 2026-07-28; -32002 is accepted from legacy backends, never sent to modern
 * clients.
 */
export const CODE = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  legacyResourceNotFound: -32002,
  legacyUrlElicitationRequired: -32042,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** Makes a JSON-RPC error; `data` is encoded once, here. */
export function wireError(code: number, message: string, data?: JsonValue, status?: number): WireError {
  return {
    code,
    message,
    ...(data === undefined ? {} : { data: encode(data) }),
    ...(status === undefined ? {} : { status }),
  };
}

/** Text of a caller or backend as an error repeats it: at most 200 UTF-16 code units, whole characters. */
export function echoed(text: string): string {
  return text.length <= MAX_ECHO ? text : `${text.slice(0, MAX_ECHO - 1).replace(HALF_PAIR, '')}…`;
}

const MAX_ECHO = 200;
const HALF_PAIR = /[\uD800-\uDBFF]$/;

/** A JSON-RPC error that a backend returned. It is forwarded to the client unchanged. */
export class BackendError extends Error {
  static {
    brand(BackendError, 'BackendError');
  }

  readonly backend: string;
  readonly code: number;
  readonly data: RawJson | undefined;
  /** A raw object with the other members of its error object, if any. */
  readonly members: RawJson | undefined;

  constructor(
    backend: string,
    code: number,
    message: string,
    data: RawJson | undefined,
    members: RawJson | undefined = undefined,
  ) {
    super(message);
    this.name = 'BackendError';
    this.backend = backend;
    this.code = code;
    this.data = data;
    this.members = members;
  }
}
