import type { AskAnswer, Asker, LinkOwner } from '../../contract/call.ts';
import type { SessionEnded } from '../../contract/event.ts';
import type { JsonObject } from '../../contract/json.ts';
import { explainCause } from '../../errors.ts';
import type { Session } from '../../session/session.ts';
import type { SessionBook } from '../../session/session-book.ts';
import { createSessions, type Sessions } from '../../session/sessions.ts';
import { capabilityClass, relayableCapabilities } from '../capabilities.ts';
import type { Edge, EdgeParts, Exchange } from '../edge.ts';
import { errorFromRefusal, INTERNAL, resultParts } from '../envelope.ts';
import { CODE, wireError } from '../errors.ts';
import { HOUSE_METHODS } from '../house-methods.ts';
import { acceptsStream } from '../http/media.ts';
import { visitOf } from '../http/visit.ts';
import type { Answer, House, ListsChanged } from '../intent.ts';
import { type Message, NULL_ID, type RequestMessage } from '../message.ts';
import { META } from '../meta.ts';
import { withoutPerHop } from '../passing.ts';
import { encode } from '../raw-json.ts';
import { RequestIntent } from '../request-intent.ts';
import { toldSeldom } from '../told-seldom.ts';
import { pushListsChanged, sessionAsker, sessionSink } from './asking.ts';
import { DEFAULT_LOG_LEVEL } from './default-log-level.ts';
import { findSession, isSpoken, refuse, refuseMissing } from './find-session.ts';
import { connectStream } from './get-stream.ts';
import { helloResult, LEGACY_VERSIONS, readHello } from './initialize.ts';
import { LOCAL_METHODS, NOTIFICATIONS } from './local-methods.ts';
import { legacyError, legacyResult, limitedResult } from './results.ts';
import { ANSWER_HEADERS, WaitingAnswer } from './waiting-answer.ts';

/** What the legacy edge works with besides the common parts. */
export interface LegacyParts extends EdgeParts {
  /** The sessions of all replicas; absent when those of this gateway are all there are. */
  readonly book?: SessionBook | undefined;
  onSessionEnded(ended: SessionEnded): void;
}

/** The legacy edge; the endpoint also asks it whose a doubtful request is. */
export interface LegacyEdge extends Edge {
  /** A legacy version header and the id of a session: certainly a legacy request, whatever its `_meta` says. */
  owns(headers: Exchange['inbound']['headers']): boolean;
}

/** Serves the revisions with sessions: 2025-11-25 and the three before it. */
export function createLegacyEdge(parts: LegacyParts): LegacyEdge {
  const { house, limits } = parts;
  const streams = { open: 0 };
  const displaced = toldSeldom(parts, 'sessions made room for others of a caller with many');
  const sessions = createSessions({
    limits,
    pulse: parts.pulse,
    streams,
    book: parts.book,
    now: parts.now,
    ownerOf: (session) => ownerOf(session, limits.askTimeoutMs, house),
    ended: (session, reason) => {
      releaseSession(parts, session);
      if (reason === 'displaced') displaced.one();
      if (reason === 'stolen')
        parts.log.warn('a session was used by another caller and has ended', { session: session.id });
      parts.onSessionEnded({ sessionId: session.id, reason, durationMs: parts.now() - session.openedAtMs });
    },
  });
  const room: Room = { ...parts, sessions };
  const unsubscribe = house.onListsChanged((change) => tellListsChanged(sessions, change));
  return {
    era: '2025-11-25',
    versions: LEGACY_VERSIONS,
    owns(headers) {
      const { 'mcp-session-id': id, 'mcp-protocol-version': version } = headers;
      return id !== undefined && version !== undefined && isSpoken(version) && sessions.mayHave(id);
    },
    post: (exchange, message) => post(room, exchange, message),
    methods: {
      GET: (exchange) => get(room, exchange),
      DELETE: (exchange) => remove(room, exchange),
    },
    counts: () => ({ sessions: sessions.size, streams: streams.open }),
    close() {
      for (const session of sessions.all()) session.endStandalone();
    },
    async stop() {
      unsubscribe();
      sessions.stop();
    },
  };
}

interface Room extends LegacyParts {
  readonly sessions: Sessions;
}

function post(room: Room, exchange: Exchange, message: Message): void | Promise<void> {
  if (message.kind === 'request' && message.method === 'initialize') return initialize(room, exchange, message);
  const session = findSession(room, exchange, message.kind === 'request' ? message.id : NULL_ID);
  if (session instanceof Promise) return session.then((found) => found && take(room, exchange, found, message));
  return session && take(room, exchange, session, message);
}

function take(room: Room, exchange: Exchange, session: Session, message: Message): void | Promise<void> {
  if (message.kind === 'request') return answerRequest(room, exchange, session, message);
  if (message.kind === 'notification') NOTIFICATIONS.get(message.method)?.(room, session, message);
  else if (!session.questions.answer(message.key, passedAnswer(message.answer))) {
    const isElsewhere = room.sessions.isShared && !session.questions.hasPut(message.key);
    if (isElsewhere) return refuse(exchange, NULL_ID, 409, CODE.invalidRequest, ASKED_ELSEWHERE);
  }
  exchange.responder.send(202, {});
}

const ASKED_ELSEWHERE =
  'another replica asked this question and waits for the answer: requests of one session must reach one replica';

/** The client's `_meta` of this hop ends here. */
function passedAnswer(answer: AskAnswer): AskAnswer {
  return 'result' in answer ? { result: withoutPerHop(answer.result) } : answer;
}

function get(room: Room, exchange: Exchange): void | Promise<void> {
  if (!acceptsStream(exchange.inbound.headers.accept)) {
    return refuse(exchange, NULL_ID, 406, CODE.invalidRequest, 'Accept must name text/event-stream');
  }
  const session = findSession(room, exchange, NULL_ID);
  if (session instanceof Promise) return session.then((found) => found && connectStream(room, exchange, found));
  if (session !== undefined) connectStream(room, exchange, session);
}

async function remove(room: Room, exchange: Exchange): Promise<void> {
  const session = await findSession(room, exchange, NULL_ID);
  if (session === undefined) return;
  if (!(await room.sessions.close(session))) return refuseMissing(exchange, NULL_ID, 'away');
  exchange.responder.send(200, {});
}

async function initialize(room: Room, exchange: Exchange, message: RequestMessage): Promise<void> {
  const hello = readHello(message.given);
  if ('wrong' in hello) return refuse(exchange, message.id, 400, CODE.invalidParams, hello.wrong);
  const opened = room.sessions.open(exchange.caller, hello, exchange.inbound);
  const session = opened instanceof Promise ? await opened : opened;
  if (typeof session === 'string') return refuseMissing(exchange, message.id, session);
  visitOf(exchange.inbound)?.belongsTo(session);
  const asker = sessionAsker(session);
  room.house.welcome(asker);
  const result = encode(helloResult(room.house.face(asker), session.protocolVersion));
  const headers = { ...ANSWER_HEADERS, 'mcp-session-id': session.id };
  exchange.responder.send(200, headers, resultParts(message.id, [result]));
}

async function answerRequest(room: Room, exchange: Exchange, session: Session, message: RequestMessage): Promise<void> {
  if (session.calls.has(message.key)) {
    return refuse(exchange, message.id, 400, CODE.invalidRequest, 'a request of this id is still running');
  }
  const meta = message.params.object('_meta');
  const progressToken = meta?.get(META.progressToken);
  const waiting = new WaitingAnswer({
    session,
    message,
    responder: exchange.responder,
    accept: exchange.inbound.headers.accept,
    hasProgressToken: progressToken !== undefined,
    bufferBytes: room.limits.streamBufferBytes,
    askTimeoutMs: room.limits.askTimeoutMs,
    pulse: room.pulse,
    now: room.now,
  });
  session.calls.set(message.key, waiting);
  // Only the client's word or the end of its session cancels a legacy request, not a lost connection.
  const asker = callAsker(session, waiting, progressToken);
  const intent = new RequestIntent(message, exchange, asker, waiting.cancellation);
  try {
    const local = LOCAL_METHODS.get(message.method);
    if (local !== undefined) await local({ parts: room, session, message, intent, waiting });
    else if (!HOUSE_METHODS.has(message.method)) waiting.error(unknownMethod(message.method));
    else settle(message, waiting, await room.house.answer(intent));
  } catch (cause) {
    room.log.error('a request failed', { method: message.method, cause: explainCause(cause) });
    waiting.error({ ...INTERNAL, status: 500 });
  }
}

function unknownMethod(method: string) {
  return wireError(CODE.methodNotFound, `method ${method} is not served`);
}

function settle(message: RequestMessage, waiting: WaitingAnswer, answer: Answer): void {
  if ('result' in answer) return waiting.result([legacyResult(answer.result)]);
  if ('ready' in answer) return waiting.result([answer.ready]);
  if ('error' in answer) return waiting.error(legacyError(answer.error, message));
  const { refusal } = answer;
  if (refusal.status !== 429)
    return waiting.error({ ...errorFromRefusal(refusal), status: refusal.status }, refusal.headers);
  if (message.method === 'tools/call') return waiting.result([limitedResult(refusal)]);
  waiting.error(errorFromRefusal(refusal), refusal.headers);
}

/** The asker of one call: what is told and asked goes to the stream of its own request. */
function callAsker(session: Session, waiting: WaitingAnswer, progressToken: Buffer | undefined): Asker {
  return {
    era: '2025-11-25',
    protocolVersion: session.protocolVersion,
    capabilities: session.capabilities,
    clientInfo: session.clientInfo,
    owner: session.owner,
    progressToken,
    logLevel: session.logLevel ?? DEFAULT_LOG_LEVEL,
    tell: (method, params) => waiting.tell(method, params),
    ask: waiting.mayStream ? (method, params, signal) => waiting.ask(method, params, signal) : undefined,
  };
}

/** Each legacy session owns its backend sessions; what it declares to them is what its client declared. */
function ownerOf(session: Session, askTimeoutMs: number, house: House): LinkOwner {
  const capabilities: JsonObject = relayableCapabilities(session.capabilities);
  const name = capabilityClass(session.capabilities);
  return {
    key: `session:${session.id}`,
    era: '2025-11-25',
    get caller() {
      return session.caller;
    },
    share: session.share,
    capabilities,
    capabilityClass: name,
    listClass: house.listClass?.(name, session.caller),
    sink: sessionSink(session, askTimeoutMs),
  };
}

function releaseSession({ house, log }: EdgeParts, session: Session): void {
  const asker = sessionAsker(session);
  for (const [uri, entry] of session.watches) {
    house.unwatch(entry, uri, asker).catch((cause: unknown) => {
      log.debug('a resource could not be unwatched', { cause: explainCause(cause) });
    });
  }
  session.watches.clear();
  house.release(session.owner.key);
}

/** Each session hears of each kind once; what it has not fetched yet is not repeated. */
function tellListsChanged(sessions: Sessions, { capabilityClass: changed, kinds }: ListsChanged): void {
  for (const session of sessions.all()) {
    const { capabilityClass: shared, listClass } = session.owner;
    if (shared !== changed && listClass !== changed) continue;
    pushListsChanged(session, kinds);
  }
}
