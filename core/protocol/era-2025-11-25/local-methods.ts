import type { WireError } from '../../contract/call.ts';
import type { Session } from '../../session/session.ts';
import type { EdgeParts } from '../edge.ts';
import { EMPTY_RESULT, errorFromRefusal } from '../envelope.ts';
import { CODE, wireError } from '../errors.ts';
import type { Intent } from '../intent.ts';
import { isLogLevel } from '../log-levels.ts';
import type { NotificationMessage, RequestMessage } from '../message.ts';
import { sessionAsker } from './asking.ts';
import type { WaitingAnswer } from './waiting-answer.ts';
import { errorFromWatch } from './watch-fault.ts';

/** What a method that the edge answers itself gets. */
export interface LocalCall {
  readonly parts: EdgeParts;
  readonly session: Session;
  readonly message: RequestMessage;
  readonly intent: Intent;
  readonly waiting: WaitingAnswer;
}

/** Requests that need no backend, or only its events. */
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
  parts.house.setLogLevel(sessionAsker(session), level);
  waiting.result([EMPTY_RESULT]);
}

async function subscribe({ parts, session, message, intent, waiting }: LocalCall): Promise<void> {
  const { uri } = message.given;
  if (typeof uri !== 'string') return waiting.error(invalid('params.uri must be a string'));
  const found = await parts.house.mayWatch(intent, uri);
  if ('error' in found) return waiting.error(found.error);
  if ('refusal' in found) {
    const status = found.refusal.status === 429 ? 200 : found.refusal.status;
    return waiting.error({ ...errorFromRefusal(found.refusal), status }, found.refusal.headers);
  }
  if (session.watches.has(uri)) return waiting.result([EMPTY_RESULT]);
  if (session.watches.size >= MAX_WATCHES)
    return waiting.error(invalid(`at most ${MAX_WATCHES} subscriptions a session`));
  session.watches.set(uri, found.entry); // before the watch: an update may come first
  try {
    await parts.house.watch(found.entry, uri, sessionAsker(session));
  } catch (cause) {
    session.watches.delete(uri);
    const error = errorFromWatch(cause);
    if (error === undefined) throw cause;
    return waiting.error(error);
  }
  // Ended in the meantime: the end has unwatched only what it saw.
  if (session.hasEnded) await parts.house.unwatch(found.entry, uri, sessionAsker(session));
  waiting.result([EMPTY_RESULT]);
}

async function unsubscribe({ parts, session, message, waiting }: LocalCall): Promise<void> {
  const { uri } = message.given;
  if (typeof uri !== 'string') return waiting.error(invalid('params.uri must be a string'));
  const entry = session.watches.get(uri);
  session.watches.delete(uri);
  if (entry !== undefined) await parts.house.unwatch(entry, uri, sessionAsker(session));
  waiting.result([EMPTY_RESULT]);
}

/** What the client tells without waiting for an answer; anything else is taken and ignored. */
export const NOTIFICATIONS: ReadonlyMap<
  string,
  (parts: EdgeParts, session: Session, message: NotificationMessage) => void
> = new Map([
  [
    'notifications/cancelled',
    (_parts: EdgeParts, session: Session, { given }: NotificationMessage) => {
      const { requestId, reason } = given;
      if (typeof requestId !== 'string' && typeof requestId !== 'number') return;
      session.calls.get(requestId)?.cancel(typeof reason === 'string' ? `cancelled: ${reason}` : 'cancelled');
    },
  ],
  [
    'notifications/roots/list_changed',
    ({ house }: EdgeParts, session: Session) => house.rootsChanged(sessionAsker(session)),
  ],
]);

function invalid(message: string): WireError {
  return wireError(CODE.invalidParams, message);
}

const MAX_WATCHES = 1024; // of one session; each costs a subscription at a backend
