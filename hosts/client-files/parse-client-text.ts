import { GatewayFault, type JsonValue } from '@toolmgr/core';
import { parseToml } from '@toolmgr/plugins/clients';
import { ownCommand } from '../shared/own-command.ts';
import { parseJsonWithComments } from './json-with-comments.ts';

/**
 * Parses the text of a client file: TOML when its name ends with `.toml`, otherwise JSON with comments.
 * @throws GatewayFault PLAN_INVALID with the place of the error; the text is not quoted, because it may hold secrets
 */
export async function parseClientText(text: string, file: string): Promise<JsonValue> {
  if (!file.endsWith('.toml')) return parseJson(text, file);
  const read = await parseToml(text);
  if (!('fault' in read)) return read.plain as JsonValue;
  throw new GatewayFault('PLAN_INVALID', `${file}:${read.line}:${read.column}: ${read.fault}`);
}

function parseJson(text: string, file: string): JsonValue {
  try {
    return parseJsonWithComments(text, file);
  } catch (cause) {
    if (!/\.ya?ml$/i.test(file)) throw cause;
    const advice = `a vmcp file is served by ${ownCommand(`vmcp serve -c ${file}`)}`;
    throw new GatewayFault('PLAN_INVALID', `${file} is no client file, which is JSON or TOML; ${advice}`, { cause });
  }
}
