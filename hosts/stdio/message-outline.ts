import { decodeObject, isObject } from '@toolmgr/core';

/** What this transport reads of a message; the core reads and checks it in full. */
export interface Outline {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  /** It names a revision without sessions. */
  readonly claims: boolean;
  readonly isResponse: boolean;
}

/** Reads the outline of a line; a line that is not a JSON object has none. */
export function outlineOf(line: Buffer): Outline {
  const value = decoded(line);
  if (value === undefined) return { claims: false, isResponse: false };
  const { id, method } = value;
  const params = isObject(value.params) ? value.params : undefined;
  const meta = params?._meta;
  return {
    ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
    ...(typeof method === 'string' ? { method } : {}),
    ...(params === undefined ? {} : { params }),
    claims: isObject(meta) && meta[PROTOCOL_VERSION] !== undefined,
    isResponse: method === undefined && ('result' in value || 'error' in value),
  };
}

function decoded(line: Buffer): ReturnType<typeof decodeObject> | undefined {
  try {
    return decodeObject(line);
  } catch {
    return undefined;
  }
}

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
