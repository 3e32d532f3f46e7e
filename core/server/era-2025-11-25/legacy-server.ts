import type { Caller } from '../../contract/caller.ts';
import type { ClientContext, ClientResponse, SessionOwner } from '../../contract/client-context.ts';
import type { SessionEnded } from '../../contract/event.ts';
import type { JsonObject } from '../../contract/json.ts';
import { explainCause } from '../../errors.ts';
import { throttledLine } from '../../extension/log-throttle.ts';
import { encode } from '../../json/json-value.ts';
import { capabilityClass, relayableCapabilities } from '../../mcp/capabilities.ts';
import { errorFromRefusal, headersOfRefusal, INTERNAL, resultParts } from '../../mcp/envelope.ts';
import { CODE, echoed, wireError } from '../../mcp/errors.ts';
import { type Message, NULL_ID, type RequestMessage } from '../../mcp/message.ts';
import { META, withoutPerHop } from '../../mcp/meta.ts';
import { GATEWAY_METHODS } from '../../mcp/methods.ts';
import { LEGACY_VERSIONS } from '../../mcp/versions.ts';
import type { GatewayService, ListsChanged } from '../../pipeline/gateway-service.ts';
import type { Answer, McpRequest } from '../../pipeline/mcp-request.ts';
import { isPromise } from '../../timing/is-promise.ts';
import type { Exchange, ProtocolServer, ProtocolServerParts } from '../protocol-server.ts';
import type { MessageStream } from '../replies.ts';
import { clientOf, pushListsChanged, sessionClient, sessionSink } from './client-requests.ts';
import { findSession, isSupportedVersion, refuse, refuseMissing, type SessionNames } from './find-session.ts';
import { attach, connectStream } from './get-stream.ts';
import { initializeResult, isTooLarge, readInitialize } from './initialize.ts';
import { LOCAL_METHODS, NOTIFICATIONS } from './local-methods.ts';
import { ANSWER_HEADERS, legacyError, legacyResult, limitedResult, PendingResponse } from './response.ts';
import type { Session } from './sessions/session.ts';
import type { SharedSessions } from './sessions/session-store.ts';
import { createSessions, type Sessions } from './sessions/sessions.ts';

/** What the legacy server needs besides the common parts. */
export interface LegacyParts extends ProtocolServerParts {
  /** The sessions of all replicas; absent without a session store. */
  readonly sharedSessions?: SharedSessions | undefined;
  onSessionEnded(ended: SessionEnded): void;
}

/** The legacy server; the router also uses it to decide whose an ambiguous request is. */
export interface LegacyServer extends ProtocolServer {
  /**
   * Whether the request has a legacy version header and a session id, which makes it legacy whatever its `_meta` says.
   */
  isLegacySession(headers: Exchange['inbound']['headers']): boolean;
  /** For transports whose connection is the session. */
  readonly connected: ConnectedSessions;
}

/** Sessions of clients that have one connection, which never see the id of their session. */
export interface ConnectedSessions {
  /** Answers `initialize`; `undefined` when it is refused. */
  open(exchange: Exchange, message: RequestMessage): Promise<Session | undefined>;
  /** Answers any other message. `version` is the revision that the message names beside its body. */
  accept(exchange: Exchange, session: Session, message: Message, version?: string): void | Promise<void>;
  /** Sends what belongs to no call. Returns what to call when the connection is lost. */
  listen(session: Session, messages: MessageStream): () => void;
  /** Ends the session; with another caller than its own as a stolen one. */
  end(session: Session, caller: Caller): Promise<void>;
}

/** Serves the revisions with sessions: 2025-11-25 and its three predecessors. */
export function createLegacyServer(parts: LegacyParts): LegacyServer {
  const { service, limits } = parts;
  const displaced = throttledLine(parts, 'sessions were closed to make room for new ones');
  const sessions = createSessions({
    limits,
    bytes: parts.bytes,
    heartbeat: parts.heartbeat,
    sharedSessions: parts.sharedSessions,
    now: parts.now,
    ownerOf: (session) => ownerOf(session, limits.askTimeoutMs, service),
    ended: (session, reason) => {
      releaseSession(parts, session);
      if (reason === 'displaced') displaced.add();
      if (reason === 'stolen')
        parts.log.warn('a session was used by another caller and was ended', { session: session.id });
      parts.onSessionEnded({ sessionId: session.id, reason, durationMs: parts.now() - session.openedAtMs });
    },
  });
  const context: ServerContext = { ...parts, sessions };
  const unsubscribe = service.onListsChanged((change) => notifyListsChanged(sessions, change));
  return {
    era: '2025-11-25',
    versions: LEGACY_VERSIONS,
    isLegacySession(headers) {
      const { 'mcp-session-id': id, 'mcp-protocol-version': version } = headers;
      return id !== undefined && version !== undefined && isSupportedVersion(version) && sessions.mayHave(id);
    },
    post: (exchange, message) => post(context, exchange, message),
    methods: {
      GET: (exchange) => get(context, exchange),
      DELETE: (exchange) => remove(context, exchange),
    },
    connected: {
      open: (exchange, message) => initialize(context, exchange, message),
      accept: (exchange, session, message, version) =>
        accept(context, exchange, message, { 'mcp-session-id': session.id, 'mcp-protocol-version': version }),
      listen(session, messages) {
        if (!session.hasEnded) return attach(context, session, session.standalone, messages);
        messages.end();
        return () => {};
      },
      async end(session, caller) {
        const found = await sessions.use(session.id, caller);
        if (typeof found !== 'string') await sessions.close(found);
      },
    },
    sessions: () => sessions.size,
    close() {
      for (const session of sessions.all()) session.endStandalone();
    },
    async stop() {
      unsubscribe();
      sessions.stop();
    },
  };
}

interface ServerContext extends LegacyParts {
  readonly sessions: Sessions;
}

function post(context: ServerContext, exchange: Exchange, message: Message): void | Promise<void> {
  if (message.kind === 'request' && message.method === 'initialize')
    return initialize(context, exchange, message).then(() => {});
  return accept(context, exchange, message, exchange.inbound.headers);
}

function accept(
  context: ServerContext,
  exchange: Exchange,
  message: Message,
  names: SessionNames,
): void | Promise<void> {
  const session = findSession(context, exchange, message.kind === 'request' ? message.id : NULL_ID, names);
  if (isPromise(session)) return session.then((found) => found && acceptMessage(context, exchange, found, message));
  return session && acceptMessage(context, exchange, session, message);
}

function acceptMessage(
  context: ServerContext,
  exchange: Exchange,
  session: Session,
  message: Message,
): void | Promise<void> {
  if (message.kind === 'request') return answerRequest(context, exchange, session, message);
  if (message.kind === 'notification') NOTIFICATIONS.get(message.method)?.(context, session, message);
  else if (!session.questions.answer(message.key, withoutMeta(message.answer))) {
    const isElsewhere = context.sessions.isShared && !session.questions.hasPut(message.key);
    if (isElsewhere) return refuse(exchange, NULL_ID, 409, CODE.invalidRequest, ASKED_ELSEWHERE);
  }
  exchange.replies.send(202, {});
}

const ASKED_ELSEWHERE =
  'another replica sent this request and waits for the response: route all requests of a session to one replica';

/** Removes the client's `_meta`, which is meant for the gateway only. */
function withoutMeta(answer: ClientResponse): ClientResponse {
  return 'result' in answer ? { result: withoutPerHop(answer.result) } : answer;
}

function get(context: ServerContext, exchange: Exchange): void | Promise<void> {
  if (!exchange.replies.mayStream) {
    return refuse(exchange, NULL_ID, 406, CODE.invalidRequest, 'Accept must name text/event-stream');
  }
  const session = findSession(context, exchange, NULL_ID);
  if (isPromise(session)) return session.then((found) => found && connectStream(context, exchange, found));
  if (session !== undefined) connectStream(context, exchange, session);
}

async function remove(context: ServerContext, exchange: Exchange): Promise<void> {
  const session = await findSession(context, exchange, NULL_ID);
  if (session === undefined) return;
  if (!(await context.sessions.close(session))) return refuseMissing(exchange, NULL_ID, 'away');
  exchange.replies.send(200, {});
}

/** Opens a session and answers `initialize`; `undefined` when it is refused. */
async function initialize(
  context: ServerContext,
  exchange: Exchange,
  message: RequestMessage,
): Promise<Session | undefined> {
  const hello = readInitialize(message.given);
  if ('wrong' in hello) return void refuse(exchange, message.id, 400, CODE.invalidParams, hello.wrong);
  if (isTooLarge(hello)) return void refuseMissing(exchange, message.id, 'tooLarge');
  const opened = context.sessions.open(exchange.caller, hello, exchange.inbound);
  const session = isPromise(opened) ? await opened : opened;
  if (typeof session === 'string') return void refuseMissing(exchange, message.id, session);
  exchange.inbound.record?.belongsTo(session);
  const client = sessionClient(session);
  context.service.prepareOwner(client);
  const result = encode(initializeResult(context.service.describeServer(client), session.protocolVersion));
  const headers = { ...ANSWER_HEADERS, 'mcp-session-id': session.id };
  exchange.replies.send(200, headers, resultParts(message.id, [result]));
  return session;
}

async function answerRequest(
  context: ServerContext,
  exchange: Exchange,
  session: Session,
  message: RequestMessage,
): Promise<void> {
  if (session.calls.has(message.key)) {
    return refuse(exchange, message.id, 400, CODE.invalidRequest, 'a request with this id is still running');
  }
  const meta = message.params.object('_meta');
  const progressToken = meta?.get(META.progressToken);
  const waiting = new PendingResponse({
    session,
    message,
    replies: exchange.replies,
    hasProgressToken: progressToken !== undefined,
    bufferBytes: context.limits.streamBufferBytes,
    askTimeoutMs: context.limits.askTimeoutMs,
    heartbeat: context.heartbeat,
    now: context.now,
  });
  session.calls.set(message.key, waiting);
  // A legacy request is cancelled by its client or by the end of its session, not by a lost connection.
  const client = callClient(session, waiting, progressToken);
  const { method, params, given } = message;
  const { caller, inbound } = exchange;
  const request: McpRequest = { method, params, given, caller, client, inbound, cancel: waiting.cancellation };
  try {
    const local = LOCAL_METHODS.get(message.method);
    if (local !== undefined) await local({ parts: context, session, message, request, waiting });
    else if (!GATEWAY_METHODS.has(message.method)) waiting.error(unknownMethod(message.method));
    else settle(message, waiting, await context.service.answer(request));
  } catch (cause) {
    context.log.error('a request failed', { method: message.method, cause: explainCause(cause) });
    waiting.error({ ...INTERNAL, status: 500 });
  }
}

function unknownMethod(method: string) {
  return wireError(CODE.methodNotFound, `method ${echoed(method)} is not served`);
}

function settle(message: RequestMessage, waiting: PendingResponse, answer: Answer): void {
  if ('result' in answer) return waiting.result([legacyResult(answer.result)]);
  if ('ready' in answer) return waiting.result([answer.ready]);
  if ('error' in answer) return waiting.error(legacyError(answer.error, message));
  const { refusal } = answer;
  if (refusal.status !== 429)
    return waiting.error({ ...errorFromRefusal(refusal), status: refusal.status }, headersOfRefusal(refusal));
  if (message.method === 'tools/call') return waiting.result([limitedResult(refusal)]);
  waiting.error(errorFromRefusal(refusal), refusal.headers);
}

/** The client of one call: notifications and requests are sent on the stream of its own request. */
function callClient(session: Session, waiting: PendingResponse, progressToken: Buffer | undefined): ClientContext {
  return clientOf(
    session,
    progressToken,
    (method, params) => waiting.notify(method, params),
    waiting.mayStream ? (method, params, signal) => waiting.request(method, params, signal) : undefined,
  );
}

/** Each legacy session owns its backend sessions, which declare the capabilities of its client. */
function ownerOf(session: Session, askTimeoutMs: number, service: GatewayService): SessionOwner {
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
    listClass: service.listClass?.(name, session.caller),
    sink: sessionSink(session, askTimeoutMs),
  };
}

function releaseSession({ service, log }: ProtocolServerParts, session: Session): void {
  const client = sessionClient(session);
  for (const [uri, entry] of session.watches) {
    service.unwatch(entry, uri, client).catch((cause: unknown) => {
      log.debug('a resource could not be unwatched', { cause: explainCause(cause) });
    });
  }
  session.watches.clear();
  service.release(session.owner.key);
}

/** Notifies each session once per kind; a kind that it has not fetched yet is not repeated. */
function notifyListsChanged(sessions: Sessions, { capabilityClass: changed, kinds }: ListsChanged): void {
  for (const session of sessions.all()) {
    const { capabilityClass: shared, listClass } = session.owner;
    if (shared !== changed && listClass !== changed) continue;
    pushListsChanged(session, kinds);
  }
}
