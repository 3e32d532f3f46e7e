import { decodeObject, isObject } from '@toolmgr/core';

/**
 * What this transport reads of a message before the core does.
 *
 * The core reads the line again and checks it in full. One reading would need a public type for a message that was read, with the
 * promise that its limits were checked; an outline takes 1 µs for a message of 1 kB, and 1 ms for 1 MB.
 */
export interface Outline {
  readonly kind: MessageKind;
  /** Of a request. */
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** It names a revision without sessions. */
  readonly claims: boolean;
}

/** `invalid`: no JSON-RPC message, or one with an id that is neither string nor number. The core says in its answer what is wrong. */
export type MessageKind = 'request' | 'notification' | 'response' | 'invalid';

/** Reads the outline of a line. */
export function outlineOf(line: Buffer): Outline {
  const value = decoded(line);
  if (value === undefined) return INVALID;
  const { id, method } = value;
  const kind = kindOf(value);
  const params = isObject(value.params) ? value.params : undefined;
  const meta = params?._meta;
  return {
    kind,
    ...(kind === 'request' ? { id: id as string | number } : {}),
    ...(typeof method === 'string' ? { method } : {}),
    ...(params === undefined ? {} : { params }),
    claims: isObject(meta) && meta[PROTOCOL_VERSION] !== undefined,
  };
}

function kindOf(value: NonNullable<ReturnType<typeof decodeObject>>): MessageKind {
  const { jsonrpc, id, method, params } = value;
  const hasId = typeof id === 'string' || typeof id === 'number';
  if (jsonrpc !== '2.0' || (id !== undefined && !hasId)) return 'invalid';
  if (method === undefined) return hasId && ('result' in value || 'error' in value) ? 'response' : 'invalid';
  if (typeof method !== 'string' || (params !== undefined && !isObject(params))) return 'invalid';
  return hasId ? 'request' : 'notification';
}

function decoded(line: Buffer): ReturnType<typeof decodeObject> | undefined {
  try {
    return decodeObject(line);
  } catch {
    return undefined;
  }
}

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const INVALID: Outline = { kind: 'invalid', claims: false };
