import type { MirroredParam } from '../../contract/catalog-entry.ts';
import type { JsonObject, JsonValue } from '../../contract/json.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { isObject } from '../../json/raw-json.ts';
import { decodeHeaderValue } from '../../mcp/headers.ts';
import { badHeader } from './validate-headers.ts';

type Headers = Readonly<Record<string, string | undefined>>;

/** Refuses a request with too many `Mcp-Param-*` headers before any of them is decoded. */
export function tooManyParams(headers: Headers, most: number): WireError | undefined {
  let count = 0;
  for (const name in headers) if (name.startsWith(PREFIX)) count++;
  return count > most ? badHeader(`more than ${most} Mcp-Param headers`) : undefined;
}

/**
 * Compares `Mcp-Param-*` headers with the arguments that they repeat.
 *
 * Shape: an absent or null argument has no header, any other one has a header; integers are compared as numbers,
 * strings are decoded first. Headers that the tool does not declare are ignored. Fails as a value: 400 -32020.
 * Source: MCP 2026-07-28 tools, `x-mcp-header`.
 */
export function mirrorMismatch(
  mirrored: readonly MirroredParam[],
  headers: Headers,
  given: JsonValue | undefined,
): WireError | undefined {
  for (const { header, path } of mirrored) {
    const name = `${PREFIX}${header.toLowerCase()}`;
    const value = valueAt(given, path);
    const raw = headers[name];
    const isAbsent = value === undefined || value === null;
    if (raw === undefined) {
      if (isAbsent || typeof value === 'object') continue; // objects cannot be mirrored
      return badHeader(`Mcp-Param-${header} is missing`);
    }
    const text = decodeHeaderValue(raw);
    if (text === undefined) return badHeader(`Mcp-Param-${header} is not correctly encoded`);
    if (isAbsent || !isSame(text, value)) return badHeader(`Mcp-Param-${header} differs from its argument`);
  }
  return undefined;
}

function valueAt(given: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let at = given;
  for (const key of path) {
    if (!isObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return at;
}

function isSame(text: string, value: JsonValue): boolean {
  if (typeof value === 'number') return NUMBER.test(text) && Number(text) === value;
  if (typeof value === 'boolean') return text === String(value);
  return text === value;
}

const PREFIX = 'mcp-param-';
const NUMBER = /^-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/;
