import type { RawJson } from './json.ts';

/** A JSON-RPC error object. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  /** Raw JSON; absent without data. */
  readonly data?: RawJson;
  /** A raw JSON object with the other members of the error object, if it has any. */
  readonly members?: RawJson;
  /** HTTP status, when the era requires another one than 200. */
  readonly status?: number;
}
