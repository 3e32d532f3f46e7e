import type { Caller } from '../../contract/caller.ts';
import type { Responder } from '../../contract/inbound.ts';
import { explainCause } from '../../errors.ts';
import { throttledLine } from '../../extension/log-throttle.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
import { STREAM_HEADERS } from '../../mcp/event-stream.ts';
import { type Message, NULL_ID } from '../../mcp/message.ts';
import { Shares, shareOf } from '../../mcp/shares.ts';
import { CLOSED_STREAM } from '../http/node-adapter.ts';
import type { RecordedInbound } from '../http/request-recorder.ts';
import { sendError } from '../http/send-error.ts';
import type { HttpExchange, ProtocolServer, ProtocolServerParts, ServedPath } from '../protocol-server.ts';
import { messageStream, respondOn } from './connection-responder.ts';
import { messageUri, SESSION_PARAMETER, type SseOptions } from './message-uri.ts';
import { type ConnectionEnd, SseConnection } from './sse-connection.ts';

/** What the server is made with. */
export interface SseServerParts
  extends Pick<ProtocolServerParts, 'limits' | 'log' | 'heartbeat' | 'withdrawn' | 'now'>,
    SseOptions {
  /** The server of the revisions with sessions, which answers all messages. */
  readonly legacy: ProtocolServer;
  /** Whether the gateway serves those revisions. */
  isServed(): boolean;
}

/** The server of the transport HTTP+SSE. */
export interface SseServer {
  /** What one of its paths serves; `undefined` for other paths. */
  at(path: string): ServedPath | undefined;
  /** Ends the connections that have no session; the others end with their sessions. */
  close(): void;
  stop(): void;
}

/**
 * Serves the deprecated transport HTTP+SSE.
 *
 * A GET opens a connection: an event stream whose first event says where to POST messages. Each POST is acknowledged with
 * 202, and the server of the revisions with sessions answers its message on the event stream. The session of a client is opened by its `initialize`,
 * and ends with its connection.
 * Source: MCP 2024-11-05 transports, HTTP with SSE.
 */
export function createSseServer(parts: SseServerParts): SseServer {
  const { legacy, limits, log, heartbeat, withdrawn, path, messagesPath } = parts;
  const connections = new Map<string, SseConnection>();
  const unused = new Shares<SseConnection>(limits.sessions, limits.sessionsPerCaller);
  const mostRunning = limits.inFlightPerCaller + limits.queuePerCaller;
  const slow = throttledLine(parts, 'SSE clients were disconnected because they read too slowly');

  function connect({ inbound, responder, caller }: HttpExchange): void {
    const share = shareOf(caller, inbound.remoteAddress);
    const donor = unused.donor(share);
    if (donor !== undefined) {
      const [oldest] = donor;
      if (oldest === undefined) return refuse(responder, 503, CODE.internalError, FULL, { 'retry-after': '1' });
      oldest.end('unused');
    }
    inbound.record?.speaks(legacy.era);
    const stream = responder.open(200, STREAM_HEADERS);
    const connection = new SseConnection({
      ...{ stream, caller, share, heartbeat, ended },
      mostPendingBytes: limits.resultBytes,
    });
    connections.set(connection.id, connection);
    unused.add(share, connection);
    connection.write(`event: endpoint\ndata: ${messageUri(parts, inbound.headers, connection.id)}\n\n`);
    responder.onDisconnect(() => connection.end('left'));
    withdrawn.watch(caller, { isOpen: () => connections.has(connection.id), end: () => connection.end('closed') });
  }

  function ended(connection: SseConnection, why: ConnectionEnd): void {
    connections.delete(connection.id);
    unused.delete(connection.share, connection);
    if (why === 'slow') slow.add();
    void endSession(connection, connection.caller);
  }

  /** Ends it as `caller`: the table of sessions reports a caller that is not its owner. */
  async function endSession({ sessionId }: SseConnection, caller: Caller): Promise<void> {
    if (sessionId === undefined) return;
    try {
      await legacy.methods.DELETE?.({ inbound: ofSession(NO_REQUEST, 'DELETE', sessionId), responder: SILENT, caller });
    } catch (cause) {
      log.warn('the session of an SSE client could not be ended', { cause: explainCause(cause) });
    }
  }

  async function post(exchange: HttpExchange, message: Message): Promise<void> {
    const { inbound, responder, caller } = exchange;
    const id = new URLSearchParams(inbound.query).get(SESSION_PARAMETER);
    if (id === null || id === '') return refuse(responder, 400, CODE.invalidRequest, MISSING);
    const connection = connections.get(id);
    if (connection === undefined) return refuse(responder, 404, UNKNOWN_SESSION, UNKNOWN);
    if (connection.caller.key !== caller.key) {
      await endSession(connection, caller);
      connection.end('closed');
      return refuse(responder, 404, UNKNOWN_SESSION, UNKNOWN);
    }
    if (message.kind === 'request' && connection.running >= mostRunning) {
      return refuse(responder, 429, CODE.invalidRequest, BUSY, { 'retry-after': '1' });
    }
    inbound.record?.isAnsweredElsewhere();
    responder.send(202, { 'content-type': 'text/plain' }, 'Accepted');
    await connection.during(answer(connection, exchange, message));
  }

  async function answer(connection: SseConnection, exchange: HttpExchange, message: Message): Promise<void> {
    const { inbound, caller } = exchange;
    const { sessionId, isInitializing } = connection;
    const isRequest = message.kind === 'request';
    const responder = respondOn(connection, isRequest, inbound.record);
    const isInitialize = isRequest && message.method === 'initialize';
    if (isInitialize && (sessionId !== undefined || isInitializing)) {
      return sendError(responder, 400, {}, message.id, wireError(CODE.invalidRequest, INITIALIZED));
    }
    if (!isInitialize && sessionId === undefined) {
      const id = isRequest ? message.id : NULL_ID;
      return sendError(responder, 400, {}, id, wireError(CODE.invalidRequest, UNINITIALIZED));
    }
    const passed: HttpExchange = { inbound: ofSession(inbound, 'POST', sessionId), responder, caller };
    if (!isInitialize) return await legacy.post(passed, message);
    connection.isInitializing = true;
    try {
      await legacy.post(passed, message);
      await open(connection, responder.sessionId, caller);
    } finally {
      connection.isInitializing = false;
    }
  }

  /** Connects the session's own stream, on which the gateway sends what belongs to no call. */
  async function open(connection: SseConnection, sessionId: string | undefined, caller: Caller): Promise<void> {
    if (sessionId === undefined) return;
    connection.sessionId = sessionId;
    unused.delete(connection.share, connection);
    if (!connections.has(connection.id)) return endSession(connection, caller); // the client left meanwhile
    const end = (): void => connection.endWhenIdle();
    const responder: Responder = {
      send: end,
      open: () => messageStream(connection, { ended: end }),
      onDisconnect: () => {},
    };
    connection.hasSession();
    await legacy.methods.GET?.({ inbound: ofSession(NO_REQUEST, 'GET', sessionId), responder, caller });
  }

  const stream: ServedPath = {
    takesMessages: false,
    bodiless: (method) => (method === 'GET' && parts.isServed() ? connect : undefined),
    allow: () => ({ allow: 'GET' }),
    serverFor: () => wireError(CODE.invalidRequest, 'messages are not sent to this path'),
  };
  const messages: ServedPath = {
    takesMessages: true,
    bodiless: () => undefined,
    allow: () => ({ allow: 'POST' }),
    serverFor: () => ({ era: legacy.era, post }),
  };
  const paths = new Map([
    [path, stream],
    [messagesPath, messages],
  ]);

  return {
    at: (asked) => paths.get(asked),
    close() {
      for (const connection of connections.values()) if (connection.sessionId === undefined) connection.endWhenIdle();
    },
    stop() {
      for (const connection of connections.values()) connection.end('closed');
    },
  };
}

/** The request as the server of sessions takes it. A session id of the client has no meaning here. */
function ofSession(inbound: RecordedInbound, method: string, sessionId: string | undefined): RecordedInbound {
  const headers = { ...inbound.headers, accept: ACCEPT, 'mcp-session-id': sessionId };
  return {
    method,
    path: inbound.path,
    headers,
    remoteAddress: inbound.remoteAddress,
    get signal() {
      return inbound.signal;
    },
    ...(inbound.record === undefined ? {} : { record: inbound.record }),
  };
}

function refuse(
  responder: Responder,
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void {
  sendError(responder, status, { 'content-type': 'application/json', ...headers }, NULL_ID, wireError(code, message));
}

const ACCEPT = 'application/json, text/event-stream';
/** Code that the SDKs of this era use; clients evaluate only the status. */
const UNKNOWN_SESSION = -32001;
const MISSING = `the query parameter ${SESSION_PARAMETER} is missing: POST to the URL of the endpoint event`;
const UNKNOWN = 'the session is unknown or has ended: connect again';
const FULL = 'the gateway has reached its limit of sessions';
const BUSY = 'too many requests of this session are running';
const INITIALIZED = 'this session was initialized already';
const UNINITIALIZED = 'the session is not initialized: send initialize first';
const SILENT: Responder = { send: () => {}, open: () => CLOSED_STREAM, onDisconnect: () => {} };
/** For requests of the server itself. */
const NO_REQUEST: RecordedInbound = {
  method: 'GET',
  path: '',
  headers: {},
  remoteAddress: undefined,
  signal: new AbortController().signal,
};
