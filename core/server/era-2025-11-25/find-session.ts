import { wireError } from '../../mcp/errors.ts';
import { isLegacyVersion, LEGACY_VERSIONS } from '../../mcp/versions.ts';
import { isPromise } from '../../timing/is-promise.ts';
import { sendError } from '../http/send-error.ts';
import type { Exchange } from '../protocol-server.ts';
import { MISSING, NO_SESSION, RETRY_LATER } from './missing-session.ts';
import { ANSWER_HEADERS } from './response.ts';
import type { Session } from './sessions/session.ts';
import type { MissingSession, Sessions } from './sessions/sessions.ts';

/** What names the session of a message, and its revision: headers over HTTP, else the connection. */
export interface SessionNames {
  readonly 'mcp-session-id'?: string | undefined;
  readonly 'mcp-protocol-version'?: string | undefined;
}

/** The session of a message; errors are answered here. A promise when the session store has to be read. */
export function findSession(
  { sessions, strictProtocolVersion = true }: { readonly sessions: Sessions; readonly strictProtocolVersion?: boolean },
  exchange: Exchange,
  id: Buffer,
  { 'mcp-session-id': sessionId, 'mcp-protocol-version': named }: SessionNames = exchange.inbound.headers,
): Session | undefined | Promise<Session | undefined> {
  const version = strictProtocolVersion ? named : undefined;
  if (sessionId === undefined) {
    refuse(exchange, id, 400, NO_SESSION, 'Mcp-Session-Id is missing: initialize first');
    return undefined;
  }
  const found = sessions.use(sessionId, exchange.caller, exchange.inbound);
  if (isPromise(found)) return found.then((session) => checked(session, exchange, id, version));
  return checked(found, exchange, id, version);
}

function checked(
  found: Session | MissingSession,
  exchange: Exchange,
  id: Buffer,
  version: string | undefined,
): Session | undefined {
  if (typeof found === 'string') {
    refuseMissing(exchange, id, found);
    return undefined;
  }
  exchange.inbound.record?.belongsTo(found);
  if (version !== undefined && !isSupportedVersion(version)) {
    refuse(exchange, id, 400, NO_SESSION, `MCP-Protocol-Version is not one of ${LEGACY_VERSIONS.join(', ')}`);
    return undefined;
  }
  return found;
}

/** Answers that there is no session, and whether a retry may help. */
export function refuseMissing(exchange: Exchange, id: Buffer, why: keyof typeof MISSING): void {
  const { status, code, text } = MISSING[why];
  const retry = status === 503 ? RETRY_LATER : {};
  sendError(exchange.replies, status, { ...ANSWER_HEADERS, ...retry }, id, wireError(code, text));
}

/** Whether a version header names a revision of this era. */
export function isSupportedVersion(version: string): boolean {
  return isLegacyVersion(version.trim());
}

/** Answers a request with a JSON-RPC error. */
export function refuse({ replies }: Exchange, id: Buffer, status: number, code: number, message: string): void {
  sendError(replies, status, ANSWER_HEADERS, id, wireError(code, message));
}
