import type { Era } from '../contract/era.ts';
import type { Inbound } from '../contract/inbound.ts';
import type { JsonValue } from '../contract/json.ts';
import { isObject } from '../json/raw-json.ts';
import type { Message } from '../mcp/message.ts';
import { META } from '../mcp/meta.ts';

/** Data that decides the era of a message. */
export interface EraEvidence {
  /** Versions of the stateless era. */
  readonly modernVersions: readonly string[];
  /** Whether the request has a legacy version header and the id of a live session. */
  isLegacySession(headers: Inbound['headers']): boolean;
}

/**
 * The era of a message. In this order: a legacy version header together with a live session, whatever reserved keys the
 * body has; the version in the body; `initialize`; a header with a modern version. Everything else is legacy traffic.
 * Source: MCP 2026-07-28 streamable HTTP, compatibility.
 */
export function eraOf(message: Message, headers: Inbound['headers'], evidence: EraEvidence): Era {
  if (evidence.isLegacySession(headers)) return '2025-11-25';
  if (claimOf(message) !== undefined) return '2026-07-28';
  if (message.kind === 'request' && message.method === 'initialize') return '2025-11-25';
  const named = headers['mcp-protocol-version']?.trim();
  return named !== undefined && evidence.modernVersions.includes(named) ? '2026-07-28' : '2025-11-25';
}

/** The version that the body claims. */
export function claimOf(message: Message): JsonValue | undefined {
  if (message.kind === 'response') return undefined;
  const meta = message.given._meta;
  return isObject(meta) ? meta[META.protocolVersion] : undefined;
}
