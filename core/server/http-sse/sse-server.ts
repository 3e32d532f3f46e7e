import type { Caller } from '../../contract/caller.ts';
import type { Responder } from '../../contract/inbound.ts';
import { explainCause } from '../../errors.ts';
import { throttledLine } from '../../extension/log-throttle.ts';
import { INTERNAL } from '../../mcp/envelope.ts';
import { CODE, wireError } from '../../mcp/errors.ts';
import { STREAM_HEADERS } from '../../mcp/event-stream.ts';
import { type Message, NULL_ID, type RequestMessage } from '../../mcp/message.ts';
import { Shares, shareOf } from '../../mcp/shares.ts';
import { repliesOn, streamOn } from '../connection-replies.ts';
import type { LegacyServer } from '../era-2025-11-25/legacy-server.ts';
import type { Exchange, ProtocolServerParts, ServedPath } from '../protocol-server.ts';
import { sendError } from '../refuse.ts';
import { messageUri, SESSION_PARAMETER, type SseOptions } from './message-uri.ts';
import { type ConnectionEnd, SseConnection } from './sse-connection.ts';

/** What the server is made with. */
export interface SseServerParts
  extends Pick<ProtocolServerParts, 'limits' | 'log' | 'heartbeat' | 'withdrawn' | 'now'>,
    SseOptions {
  /** The server of the revisions with sessions, which answers all messages. */
  readonly legacy: Pick<LegacyServer, 'era' | 'connected'>;
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

  function connect({ inbound, caller }: Exchange, responder: Responder): void {
    const share = shareOf(caller, inbound.remoteAddress);
    const donor = unused.donor(share);
    if (donor !== undefined) {
      const [oldest] = donor;
      if (oldest === undefined)
        return sendError(responder, 503, wireError(CODE.internalError, FULL), { 'retry-after': '1' });
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
    connection.writeFrame(`event: endpoint\ndata: ${messageUri(parts, inbound.headers, connection.id)}\n\n`);
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
  async function endSession({ session }: SseConnection, caller: Caller): Promise<void> {
    try {
      if (session !== undefined) await legacy.connected.end(session, caller);
    } catch (cause) {
      log.warn('the session of an SSE client could not be ended', { cause: explainCause(cause) });
    }
  }

  async function post(exchange: Exchange, message: Message): Promise<void> {
    const { inbound, replies, caller } = exchange;
    const id = new URLSearchParams(inbound.query).get(SESSION_PARAMETER);
    if (id === null || id === '') return sendError(replies, 400, wireError(CODE.invalidRequest, MISSING));
    const connection = connections.get(id);
    if (connection === undefined) return sendError(replies, 404, UNKNOWN);
    if (connection.caller.key !== caller.key) {
      await endSession(connection, caller);
      connection.end('closed');
      return sendError(replies, 404, UNKNOWN);
    }
    if (message.kind === 'request' && connection.running >= mostRunning) {
      return sendError(replies, 429, wireError(CODE.invalidRequest, BUSY), { 'retry-after': '1' });
    }
    if (inbound.record !== undefined) inbound.record.isAnsweredElsewhere = true;
    replies.send(202, { 'content-type': 'text/plain' }, ACCEPTED);
    await connection.during(answer(connection, exchange, message));
  }

  async function answer(connection: SseConnection, exchange: Exchange, message: Message): Promise<void> {
    const { inbound, caller } = exchange;
    const isRequest = message.kind === 'request';
    const replies = repliesOn(connection, { record: inbound.record, ...(isRequest ? {} : UNANSWERED) });
    try {
      await serve(connection, { inbound, caller, replies }, message);
    } catch (cause) {
      log.error('a request failed', { path: inbound.path, cause: explainCause(cause) });
      sendError(replies, 500, INTERNAL, {}, isRequest ? message.id : NULL_ID); // the POST is answered already
    }
  }

  async function serve(connection: SseConnection, exchange: Exchange, message: Message): Promise<void> {
    const { inbound, replies } = exchange;
    const { session, isInitializing } = connection;
    const isRequest = message.kind === 'request';
    const isInitialize = isRequest && message.method === 'initialize';
    if (isInitialize && (session !== undefined || isInitializing)) {
      return sendError(replies, 400, wireError(CODE.invalidRequest, INITIALIZED), {}, message.id);
    }
    if (isInitialize) return open(connection, exchange, message);
    if (session !== undefined) {
      return legacy.connected.accept(exchange, session, message, inbound.headers['mcp-protocol-version']);
    }
    const id = isRequest ? message.id : NULL_ID;
    sendError(replies, 400, wireError(CODE.invalidRequest, UNINITIALIZED), {}, id);
  }

  /** Opens the session; what belongs to no call is sent on the connection too. */
  async function open(connection: SseConnection, exchange: Exchange, message: RequestMessage): Promise<void> {
    connection.isInitializing = true;
    const session = await legacy.connected.open(exchange, message).finally(() => {
      connection.isInitializing = false;
    });
    if (session === undefined) return;
    connection.session = session;
    unused.delete(connection.share, connection);
    if (!connections.has(connection.id)) return endSession(connection, exchange.caller); // the client left meanwhile
    connection.hasSession();
    legacy.connected.listen(
      session,
      streamOn(connection, () => connection.endWhenIdle()),
    );
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
      for (const connection of connections.values()) if (connection.session === undefined) connection.endWhenIdle();
    },
    stop() {
      for (const connection of connections.values()) connection.end('closed');
    },
  };
}

/** An error about a notification or a response is dropped. */
const UNANSWERED = { write: () => true };
const ACCEPTED = Buffer.from('Accepted');
const MISSING = `the query parameter ${SESSION_PARAMETER} is missing: POST to the URL of the endpoint event`;
/** With the code that the SDKs of this era use; clients evaluate only the status. */
const UNKNOWN = wireError(-32001, 'the session is unknown or has ended: connect again');
const FULL = 'the gateway has reached its limit of sessions';
const BUSY = 'too many requests of this session are running';
const INITIALIZED = 'this session was initialized already';
const UNINITIALIZED = 'the session is not initialized: send initialize first';
