import type { JsonObject } from '../../contract/json.ts';
import { isObject } from '../../json/json-value.ts';
import { isLegacyVersion, LEGACY_VERSIONS } from '../../mcp/versions.ts';
import type { ServerDescription } from '../../pipeline/server-info.ts';
import type { InitializeParams } from './sessions/session.ts';

/**
 * Reads the params of `initialize` and negotiates the version: the client's if it is supported, else the newest.
 * Fails as a value: a sentence that names the wrong member.
 */
export function readInitialize(given: JsonObject): InitializeParams | { readonly wrong: string } {
  const { protocolVersion: asked, capabilities, clientInfo } = given;
  if (typeof asked !== 'string') return { wrong: 'params.protocolVersion must be a string' };
  if (!isObject(capabilities)) return { wrong: 'params.capabilities must be an object' };
  if (clientInfo !== undefined && !isObject(clientInfo)) return { wrong: 'params.clientInfo must be an object' };
  const protocolVersion = isLegacyVersion(asked) ? asked : LEGACY_VERSIONS[0];
  return { protocolVersion, capabilities, clientInfo };
}

/** A session keeps both until it ends, and anyone may open thousands: without a bound they would fill the memory. */
export function isTooLarge({ capabilities, clientInfo }: InitializeParams): boolean {
  return Buffer.byteLength(JSON.stringify([capabilities, clientInfo])) > MAX_BYTES;
}

const MAX_BYTES = 32_768;

/** The result of `initialize`. */
export function initializeResult(
  { serverInfo, capabilities, instructions }: ServerDescription,
  protocolVersion: string,
): JsonObject {
  return { protocolVersion, capabilities, serverInfo, instructions };
}
