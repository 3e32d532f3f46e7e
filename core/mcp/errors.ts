import type { JsonValue, RawJson } from '../contract/json.ts';
import type { WireError } from '../contract/wire-error.ts';
import { brand } from '../errors/brand.ts';
import { foldCase } from '../json/ambiguous-names.ts';
import { joinParts, type Part } from '../json/byte-pieces.ts';
import { encode } from '../json/json-value.ts';
import { membersWithoutBraces, type RawObject } from '../json/raw-json.ts';

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

/** A JSON-RPC error object: its code, message and data, then its other members unchanged. */
export function errorObject({ code, message, data, members }: WireError): Buffer {
  const parts: Part[] = [`{"code":${code},"message":${JSON.stringify(message)}`];
  if (data !== undefined) parts.push(',"data":', data);
  const others = members === undefined ? undefined : membersWithoutBraces(members);
  if (others !== undefined) parts.push(',', others);
  parts.push('}');
  return joinParts(parts);
}

/**
 * The members of an error object that JSON-RPC does not define, as a raw object; `undefined` when there are none.
 *
 * Members whose names differ from a defined one only by case are left out: a case-insensitive reader would use them
 * instead of the gateway's.
 */
export function otherErrorMembers(error: RawObject): RawJson | undefined {
  const others = error.omit({ has: (name) => DEFINED.has(name) || DEFINED.has(foldCase(name)) });
  return others.size === 0 ? undefined : others.toBytes();
}

/** JSON-RPC 2.0 §5.1, as written and case-folded. */
const NAMES = ['code', 'message', 'data'];
const DEFINED: ReadonlySet<string> = new Set([...NAMES, ...NAMES.map(foldCase)]);
