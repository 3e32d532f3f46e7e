import type { MirroredParam } from '../../contract/catalog-entry.ts';
import type { JsonObject, JsonValue, RawJson } from '../../contract/json.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { isObject } from '../../json/json-value.ts';
import type { RawObject } from '../../json/raw-json.ts';
import { CODE, echoed, wireError } from '../../mcp/errors.ts';
import { decodeHeaderValue } from '../../mcp/headers.ts';
import { isLogLevel } from '../../mcp/log-levels.ts';
import type { RequestMessage } from '../../mcp/message.ts';
import { META } from '../../mcp/meta.ts';

/** What a valid request says about its client. */
export interface Envelope {
  readonly capabilities: JsonObject;
  readonly rawCapabilities: RawJson;
  readonly clientInfo: JsonObject | undefined;
  readonly logLevel: string | undefined;
  readonly progressToken: RawJson | undefined;
}

type Headers = Readonly<Record<string, string | undefined>>;
type HeaderCheck = (
  message: RequestMessage,
  headers: Headers,
  meta: JsonObject,
  spoken: SupportedVersions,
) => WireError | undefined;

/** The versions of this era, and the versions that -32022 offers. */
interface SupportedVersions {
  readonly versions: readonly string[];
  readonly supported: readonly string[];
}

/**
 * Compares headers with the body and reads the envelope, in an order that clients may rely on. Without `headers` (stdio)
 * only the body is checked.
 *
 * Fails as a value with HTTP 400: -32602 naming a missing or malformed envelope key, -32020 for a header that is
 * missing, wrong or badly encoded, -32022 with `supported` and `requested` for an unsupported version.
 * Source: MCP 2026-07-28 streamable HTTP, request headers and `_meta`.
 */
export function readEnvelope(
  message: RequestMessage,
  headers: Headers | undefined,
  spoken: SupportedVersions,
): Envelope | { readonly error: WireError } {
  const meta = isObject(message.given._meta) ? message.given._meta : NO_META;
  for (const check of headers === undefined ? BODY_CHECKS : CHECKS) {
    const error = check(message, headers ?? NO_HEADERS, meta, spoken);
    if (error !== undefined) return { error };
  }
  const raw = message.params.object('_meta') as RawObject; // `_meta` is an object: its version was read from it
  const rawCapabilities = raw.get(META.clientCapabilities) as RawJson;
  if (rawCapabilities.length > MAX_CAPABILITIES_BYTES) {
    return { error: badKey(META.clientCapabilities, `an object of at most ${MAX_CAPABILITIES_BYTES} bytes`) };
  }
  return {
    capabilities: meta[META.clientCapabilities] as JsonObject,
    rawCapabilities,
    clientInfo: meta[META.clientInfo] as JsonObject | undefined,
    logLevel: meta[META.logLevel] as string | undefined,
    progressToken: raw.get(META.progressToken),
  };
}

/** Sessions with backends keep them, and one caller may have thousands. */
const MAX_CAPABILITIES_BYTES = 4096;

/** -32022: the client may retry with one of `supported`. */
export function unsupportedVersion(requested: JsonValue | undefined, supported: readonly string[]): WireError {
  const data = { supported, requested: typeof requested === 'string' ? echoed(requested) : null };
  return wireError(CODE.unsupportedVersion, 'this protocol version is not supported', data, 400);
}

const versionClaim: HeaderCheck = (_message, _headers, meta) =>
  typeof meta[META.protocolVersion] === 'string' ? undefined : badKey(META.protocolVersion, 'a string');

const versionHeader: HeaderCheck = (_message, headers, meta) => {
  const given = headers['mcp-protocol-version'];
  if (given === undefined) return badHeader('MCP-Protocol-Version is missing');
  if (given.trim() === meta[META.protocolVersion]) return undefined;
  return badHeader('MCP-Protocol-Version differs from the version in the body');
};

const spokenVersion: HeaderCheck = (_message, _headers, meta, { versions, supported }) => {
  const version = meta[META.protocolVersion];
  return versions.includes(version as string) ? undefined : unsupportedVersion(version, supported);
};

const methodHeader: HeaderCheck = (message, headers) => {
  const given = headers['mcp-method'];
  if (given === undefined) return badHeader('Mcp-Method is missing');
  return given.trim() === message.method ? undefined : badHeader('Mcp-Method differs from the method in the body');
};

const nameHeader: HeaderCheck = (message, headers) => {
  const member = NAMED_BY.get(message.method);
  if (member === undefined) return undefined;
  const given = headers['mcp-name'];
  if (given === undefined) return badHeader('Mcp-Name is missing');
  const name = decodeHeaderValue(given);
  if (name === undefined) return badHeader('Mcp-Name is not correctly encoded');
  return name === message.given[member] ? undefined : badHeader(`Mcp-Name differs from params.${member}`);
};

const capabilities: HeaderCheck = (_message, _headers, meta) =>
  isObject(meta[META.clientCapabilities]) ? undefined : badKey(META.clientCapabilities, 'an object');

const optionalKeys: HeaderCheck = (_message, _headers, meta) => {
  const { [META.clientInfo]: info, [META.logLevel]: level, [META.progressToken]: token } = meta;
  if (info !== undefined && !isObject(info)) return badKey(META.clientInfo, 'an object');
  if (level !== undefined && !isLogLevel(level)) return badKey(META.logLevel, 'a log level');
  if (token !== undefined && typeof token !== 'string' && typeof token !== 'number') {
    return badKey(META.progressToken, 'a string or a number');
  }
  return undefined;
};

const CHECKS: readonly HeaderCheck[] = [
  versionClaim,
  versionHeader,
  spokenVersion,
  methodHeader,
  nameHeader,
  capabilities,
  optionalKeys,
];

const BODY_CHECKS: readonly HeaderCheck[] = [versionClaim, spokenVersion, capabilities, optionalKeys];
const NO_HEADERS: Headers = {};

/** The member of the params that `Mcp-Name` repeats. */
const NAMED_BY: ReadonlyMap<string, string> = new Map([
  ['tools/call', 'name'],
  ['prompts/get', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
]);

const NO_META: JsonObject = Object.freeze({});

export function badHeader(message: string): WireError {
  return wireError(CODE.headerMismatch, message, undefined, 400);
}

function badKey(key: string, wanted: string): WireError {
  return wireError(CODE.invalidParams, `_meta["${key}"] must be ${wanted}`, { key }, 400);
}

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
