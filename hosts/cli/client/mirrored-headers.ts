import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';

/**
 * `Mcp-Param-*` headers of a call: arguments whose schema says `x-mcp-header` (MCP 2026-07-28, transports).
 * Reached through `properties` only; absent and null arguments send no header.
 */
export function mirroredHeaders(schema: JsonValue | undefined, args: JsonObject, depth = 0): Record<string, string> {
  if (!isObject(schema) || !isObject(schema.properties) || depth > MAX_DEPTH) return {};
  const headers: Record<string, string> = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    const value = args[name];
    if (!isObject(property) || value === undefined || value === null) continue;
    const header = property['x-mcp-header'];
    if (typeof header === 'string') headers[`mcp-param-${header.toLowerCase()}`] = headerValue(String(value));
    else if (isObject(value)) Object.assign(headers, mirroredHeaders(property, value, depth + 1));
  }
  return headers;
}

const MAX_DEPTH = 32;

/** Visible ASCII as it is, anything else as `=?base64?…?=`. */
export function headerValue(text: string): string {
  const plain = /^[!-~](?:[\t -~]*[!-~])?$/.test(text) && !(text.startsWith('=?base64?') && text.endsWith('?='));
  return plain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
