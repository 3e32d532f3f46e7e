import type { ClientContext } from '../../contract/client-context.ts';
import type { WireError } from '../../contract/wire-error.ts';
import { GatewayFault, UserActionRequired } from '../../errors.ts';
import { EMPTY_RESULT, errorFromRefusal, headersOfRefusal, retryData } from '../../mcp/envelope.ts';
import { BackendError, CODE, wireError } from '../../mcp/errors.ts';
import { isLogLevel } from '../../mcp/log-levels.ts';
import type { NotificationMessage, RequestMessage } from '../../mcp/message.ts';
import type { McpRequest } from '../../pipeline/mcp-request.ts';
import { linkAsError } from '../../pipeline/user-action.ts';
import type { ProtocolServerParts } from '../protocol-server.ts';
import { sessionClient } from './client-requests.ts';
import type { PendingResponse } from './response.ts';
import type { Session } from './sessions/session.ts';
import { MAX_WATCHED_BYTES, MAX_WATCHES, type NotWatched } from './sessions/watched-resources.ts';

/** What a method gets that is answered without the pipeline. */
export interface LocalCall {
  readonly parts: ProtocolServerParts;
  readonly session: Session;
  readonly message: RequestMessage;
  readonly request: McpRequest;
  readonly waiting: PendingResponse;
}

/** Requests that need no backend, or only its notifications. */
export const LOCAL_METHODS: ReadonlyMap<string, (call: LocalCall) => void | Promise<void>> = new Map([
  ['ping', ({ waiting }) => waiting.result([EMPTY_RESULT])],
  ['logging/setLevel', setLevel],
  ['resources/subscribe', subscribe],
  ['resources/unsubscribe', unsubscribe],
]);

function setLevel({ parts, session, message, waiting }: LocalCall): void {
  const { level } = message.given;
  if (!isLogLevel(level)) return waiting.error(invalid('params.level must be a log level'));
  session.logLevel = level;
  parts.service.setLogLevel(sessionClient(session), level);
  waiting.result([EMPTY_RESULT]);
}

async function subscribe({ parts, session, message, request, waiting }: LocalCall): Promise<void> {
  const { uri } = message.given;
  if (typeof uri !== 'string') return waiting.error(invalid('params.uri must be a string'));
  const found = await parts.service.mayWatch(request, uri);
  if ('error' in found) return waiting.error(found.error);
  if ('refusal' in found) {
    const { refusal } = found;
    if (refusal.status === 429) return waiting.error({ ...errorFromRefusal(refusal), status: 200 }, refusal.headers);
    return waiting.error({ ...errorFromRefusal(refusal), status: refusal.status }, headersOfRefusal(refusal));
  }
  if (session.hasEnded) return; // it is answered, and its subscriptions were removed
  if (session.watches.has(uri)) return waiting.result([EMPTY_RESULT]);
  const refused = session.watches.add(uri, found.entry); // before the watch, because an update may arrive first
  if (refused !== undefined) return waiting.error(NOT_WATCHED[refused]);
  const client = sessionClient(session);
  try {
    await parts.service.watch(found.entry, uri, client);
  } catch (cause) {
    session.watches.remove(uri);
    const error = errorFromWatch(cause, client);
    if (error === undefined) throw cause;
    return waiting.error(error);
  }
  // The session ended meanwhile, and its end did not unwatch this one.
  if (session.hasEnded) await parts.service.unwatch(found.entry, uri, sessionClient(session));
  waiting.result([EMPTY_RESULT]);
}

async function unsubscribe({ parts, session, message, waiting }: LocalCall): Promise<void> {
  const { uri } = message.given;
  if (typeof uri !== 'string') return waiting.error(invalid('params.uri must be a string'));
  const entry = session.watches.remove(uri);
  if (entry !== undefined) await parts.service.unwatch(entry, uri, sessionClient(session));
  waiting.result([EMPTY_RESULT]);
}

/** Notifications of the client; others are ignored. */
export const NOTIFICATIONS: ReadonlyMap<
  string,
  (parts: ProtocolServerParts, session: Session, message: NotificationMessage) => void
> = new Map([
  [
    'notifications/cancelled',
    (_parts: ProtocolServerParts, session: Session, { given }: NotificationMessage) => {
      const { requestId, reason } = given;
      if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
      session.calls.get(requestId)?.cancel(typeof reason === 'string' ? `cancelled: ${reason}` : 'cancelled');
    },
  ],
  [
    'notifications/roots/list_changed',
    ({ service }: ProtocolServerParts, session: Session) => service.rootsChanged(sessionClient(session)),
  ],
]);

function invalid(message: string): WireError {
  return wireError(CODE.invalidParams, message);
}

const NOT_WATCHED: Readonly<Record<NotWatched, WireError>> = {
  tooMany: invalid(`at most ${MAX_WATCHES} subscriptions a session`),
  tooLong: invalid(`the URIs of the subscriptions of a session may have ${MAX_WATCHED_BYTES} bytes together`),
  noMemory: wireError(CODE.internalError, 'there is no memory for more subscriptions of this caller', retryData(), 503),
};

/** The error for a client whose subscription failed; `undefined` when neither the backend nor the person caused it. */
export function errorFromWatch(cause: unknown, client: ClientContext): WireError | undefined {
  if (cause instanceof BackendError) {
    const { code, message, data, members } = cause;
    return { code, message, ...(data === undefined ? {} : { data }), ...(members === undefined ? {} : { members }) };
  }
  if (cause instanceof UserActionRequired) {
    return linkAsError(client, cause);
  }
  if (!(cause instanceof GatewayFault) || !cause.code.startsWith('BACKEND_')) return undefined;
  return wireError(CODE.internalError, `${cause.message} (${cause.code})`);
}
