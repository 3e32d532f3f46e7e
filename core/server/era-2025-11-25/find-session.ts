import { CODE, wireError } from '../../mcp/errors.ts';
import { isLegacyVersion, LEGACY_VERSIONS } from '../../mcp/versions.ts';
import { isPromise } from '../../timing/is-promise.ts';
import type { Exchange } from '../protocol-server.ts';
import { sendError } from '../refuse.ts';
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
  sendError(exchange.replies, status, wireError(code, text), retry, id);
}

/** Whether a version header names a revision of this era. */
export function isSupportedVersion(version: string): boolean {
  return isLegacyVersion(version.trim());
}

/** Answers a request with a JSON-RPC error. */
export function refuse({ replies }: Exchange, id: Buffer, status: number, code: number, message: string): void {
  sendError(replies, status, wireError(code, message), {}, id);
}

/** Codes that the SDKs of this era use; clients evaluate only the status. */
const NO_SESSION = -32000;
const UNKNOWN_SESSION = -32001;

/** What a request without a usable session is answered with. */
export const MISSING = {
  unknown: { status: 404, code: UNKNOWN_SESSION, text: 'the session is unknown or has ended: initialize again' },
  full: { status: 503, code: CODE.internalError, text: 'the gateway has reached its limit of sessions' },
  away: { status: 503, code: CODE.internalError, text: 'the session store does not answer: retry later' },
  stopping: { status: 503, code: CODE.internalError, text: 'the gateway is stopping: retry later' },
  tooLarge: {
    status: 413,
    code: CODE.invalidParams,
    text: 'capabilities and clientInfo are too large',
  },
} as const satisfies Record<MissingSession | 'tooLarge' | 'stopping', object>;

/** Headers of the responses with status 503. */
export const RETRY_LATER: Readonly<Record<string, string>> = { 'retry-after': '1' };
