import { GatewayFault, type JsonValue } from '@toolmgr/core';
import { parseJsonWithComments } from './json-with-comments.ts';

/**
 * Parses the text of a client file: TOML when its name ends with `.toml`, otherwise JSON with comments.
 * @throws GatewayFault PLAN_INVALID with the place of the error; the text is not quoted, because it may hold secrets
 */
export async function parseClientText(text: string, file: string): Promise<JsonValue> {
  if (!file.endsWith('.toml')) return parseJsonWithComments(text, file);
  const { parseToml } = await import('@toolmgr/plugins/clients'); // only Codex has TOML, and the code takes memory
  const read = parseToml(text);
  if (!('fault' in read)) return read.plain as JsonValue;
  throw new GatewayFault('PLAN_INVALID', `${file}:${read.line}:${read.column}: ${read.fault}`);
}
