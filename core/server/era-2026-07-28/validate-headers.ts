import type { JsonObject, JsonValue, RawJson } from '../../contract/json.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { isObject, type RawObject } from '../../json/raw-json.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
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
 * Compares headers with the body and reads the envelope, in an order that clients may rely on.
 *
 * Fails as a value with HTTP 400: -32602 naming a missing or malformed envelope key, -32020 for a header that is
 * missing, wrong or badly encoded, -32022 with `supported` and `requested` for an unsupported version.
 * Source: MCP 2026-07-28 streamable HTTP, request headers and `_meta`.
 */
export function readEnvelope(
  message: RequestMessage,
  headers: Headers,
  spoken: SupportedVersions,
): Envelope | { readonly error: WireError } {
  const meta = isObject(message.given._meta) ? message.given._meta : NO_META;
  for (const check of RUNGS) {
    const error = check(message, headers, meta, spoken);
    if (error !== undefined) return { error };
  }
  const raw = message.params.object('_meta') as RawObject; // `_meta` is an object: its version was read from it
  return {
    capabilities: meta[META.clientCapabilities] as JsonObject,
    rawCapabilities: raw.get(META.clientCapabilities) as RawJson,
    clientInfo: meta[META.clientInfo] as JsonObject | undefined,
    logLevel: meta[META.logLevel] as string | undefined,
    progressToken: raw.get(META.progressToken),
  };
}

/** -32022: the client may retry with one of `supported`. */
export function unsupportedVersion(requested: JsonValue | undefined, supported: readonly string[]): WireError {
  const data = { supported, requested: requested ?? null };
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

const RUNGS: readonly HeaderCheck[] = [
  versionClaim,
  versionHeader,
  spokenVersion,
  methodHeader,
  nameHeader,
  capabilities,
  optionalKeys,
];

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
