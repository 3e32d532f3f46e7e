import { encode, type JsonObject, mirrorArguments, readAnnotations } from '@toolmgr/core';

/** `Mcp-Param-*` headers of a call, for the arguments whose schema says `x-mcp-header` (MCP 2026-07-28, transports). */
export function mirroredHeaders(tool: JsonObject, args: JsonObject): Record<string, string> {
  const annotations = readAnnotations(encode(tool));
  const headers: Record<string, string> = {};
  if (annotations !== undefined && 'mirrored' in annotations) mirrorArguments(headers, annotations.mirrored, args);
  return headers;
}
