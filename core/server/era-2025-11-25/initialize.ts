import type { JsonObject } from '../../contract/json.ts';
import { isObject } from '../../json/raw-json.ts';
import type { ServerDescription } from '../../pipeline/server-info.ts';
import type { InitializeParams } from './sessions/session.ts';

/** Revisions that start with `initialize`, newest first. */
export const LEGACY_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/**
 * Reads the params of `initialize` and negotiates the version: the client's if it is supported, else the newest.
 * Fails as a value: a sentence that names the wrong member.
 */
export function readInitialize(given: JsonObject): InitializeParams | { readonly wrong: string } {
  const { protocolVersion: asked, capabilities, clientInfo } = given;
  if (typeof asked !== 'string') return { wrong: 'params.protocolVersion must be a string' };
  if (!isObject(capabilities)) return { wrong: 'params.capabilities must be an object' };
  if (clientInfo !== undefined && !isObject(clientInfo)) return { wrong: 'params.clientInfo must be an object' };
  const protocolVersion = LEGACY_VERSIONS.find((version) => version === asked) ?? LEGACY_VERSIONS[0];
  return { protocolVersion, capabilities, clientInfo };
}

/** The result of `initialize`. */
export function initializeResult(
  { serverInfo, capabilities, instructions }: ServerDescription,
  protocolVersion: string,
): JsonObject {
  return { protocolVersion, capabilities, serverInfo, instructions };
}
