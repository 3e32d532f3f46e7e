import type { FileFacts } from '@toolmgr/core';

/**
 * The URL that clients need, when it is not the one that is served: tokens are issued for it, and clients compare it with theirs.
 * Source: MCP 2025-11-25, authorization, resource parameter; RFC 9728 §3.3.
 */
export function clientUrl({ tokens }: Pick<FileFacts, 'tokens'>, served: string): string | undefined {
  const given = tokens?.resource ?? tokens?.audience;
  const url = given === undefined ? null : URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href === new URL(served).href) return undefined;
  return given;
}
