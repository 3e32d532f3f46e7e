import type { MessageClient, MessageConnection } from '../contract/message-client.ts';
import type { RequestListener } from '../contract/request-record.ts';
import { explainCause } from '../errors.ts';
import type { Log } from '../extension/plugin.ts';
import type { Limits } from '../limits.ts';
import { EMPTY_RESULT, errorBytes, INTERNAL, resultParts } from '../mcp/envelope.ts';
import { CODE, wireError } from '../mcp/errors.ts';
import {
  type InvalidMessage,
  type Message,
  type MessageId,
  NULL_ID,
  type RequestMessage,
  readMessage,
} from '../mcp/message.ts';
import type { GatewayService } from '../pipeline/gateway-service.ts';
import { Cancel } from '../timing/cancel.ts';
import { isPromise } from '../timing/is-promise.ts';
import { type ReplyOptions, repliesOn, streamOn } from './connection-replies.ts';
import type { Session } from './era-2025-11-25/sessions/session.ts';
import { type RecordedInbound, RequestRecorder } from './http/request-recorder.ts';
import { claimOf, type ProtocolRouter } from './protocol-router.ts';
import type { Exchange, ServedPath } from './protocol-server.ts';
import { sendError } from './refuse.ts';
import type { RejectedTokens } from './rejected-tokens.ts';
import type { Replies } from './replies.ts';
import { admitted, deliver } from './serve-mcp.ts';

/** What a connection needs from its endpoint. */
export interface ConnectionParts {
  readonly service: Pick<GatewayService, 'identify'>;
  readonly router: Pick<ProtocolRouter, 'connected' | 'serverOf'>;
  readonly limits: Limits;
  readonly log: Log;
  readonly rejected: RejectedTokens;
  /** Path of MCP, which records name. */
  readonly path: string;
  /** Who gets records now. */
  requests(): RequestListener | undefined;
  isStopping(): boolean;
  /** A message is being served; returns what to call when it no longer is. */
  enter(): () => void;
}

/** A request that is not answered. */
interface Running {
  readonly isSubscription: boolean;
  /** Cancelled when the client wants nothing more about it. */
  readonly cancel: Cancel;
  isMuted: boolean;
}

/**
 * Serves a client with one connection, in both eras: its `initialize` opens a session for the connection; without one, a message that
 * names a stateless revision is served in that one. Each message has the hooks, limits and records of a request over HTTP.
 */
export function connectClient(parts: ConnectionParts, client: MessageClient): MessageConnection {
  const { router, service, limits, log, path } = parts;
  const mostRunning = limits.inFlightPerCaller + limits.queuePerCaller;
  const running = new Map<MessageId, Running>();
  const whenDone = new Set<() => void>();
  let session: Session | undefined;
  let detach = ignore;
  let hasEnded = false;

  async function accept(bytes: Buffer): Promise<void> {
    const message = read(bytes);
    if (message === undefined) return;
    if ('misread' in message) return void serve(message, message.isUnanswered === true ? UNANSWERED : {});
    if (message.kind === 'request') return request(message);
    const isModern = session === undefined && claimOf(message) !== undefined;
    if (message.kind === 'notification' && message.method === CANCELLED) cancel(message.given.requestId);
    if (message.kind === 'response' || !isModern) void serve(message, UNANSWERED); // the stateless era has no notifications
  }

  /** The message; `undefined` after a fault of the parser, which is answered like any other inside. */
  function read(bytes: Buffer): Message | InvalidMessage | undefined {
    try {
      return readMessage(bytes, limits);
    } catch (cause) {
      log.error('a message could not be read', { path, cause: explainCause(cause) });
      client.write([errorBytes(NULL_ID, INTERNAL)]);
      return undefined;
    }
  }

  async function request(message: RequestMessage): Promise<void> {
    const { id, key, method } = message;
    const isModern = session === undefined && claimOf(message) !== undefined;
    // Allowed before `initialize`; clients of the stateless revision send it too: the Go SDK does.
    if (method === 'ping' && session === undefined && !isModern)
      return void client.write(resultParts(id, [EMPTY_RESULT]));
    if (running.has(key)) return refuseRequest(id, 'a request with this id is still running');
    if (running.size >= mostRunning) return refuseRequest(id, 'too many requests are running');
    if (method !== 'initialize' || isModern) return void answer(message);
    if (session !== undefined) return refuseRequest(id, 'this session was initialized already');
    await answer(message); // what follows belongs to its session
  }

  function refuseRequest(id: Buffer, why: string): void {
    client.write([errorBytes(id, wireError(CODE.invalidRequest, why))]);
  }

  async function answer(message: RequestMessage): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = new Cancel();
    const one: Running = { isSubscription: message.method === 'subscriptions/listen', cancel, isMuted: false };
    const done = (): void => {
      if (running.get(message.key) === one) running.delete(message.key);
      resolve();
      for (const each of whenDone) each();
      whenDone.clear();
    };
    running.set(message.key, one);
    await Promise.all([
      serve(message, { write: (parts) => one.isMuted || client.write(parts), done }, cancel),
      promise,
    ]);
  }

  /** The server of sessions gets the notification too, and cancels the call. */
  function cancel(id: unknown): void {
    const one = running.get(id as MessageId);
    if (one === undefined) return;
    one.isMuted = true;
    if (session !== undefined) return;
    one.cancel.abort(new Error(GONE));
    running.delete(id as MessageId);
  }

  async function serve(
    message: Message | InvalidMessage,
    reply: Pick<ReplyOptions, 'write' | 'done'>,
    cancel = new Cancel(),
  ): Promise<void> {
    const inbound = inboundOf(path, cancel);
    const requests = parts.requests();
    const record = requests && new RequestRecorder(inbound, requests);
    if (record !== undefined) inbound.record = record;
    const onDisconnect = (listener: () => void): void => cancel.add({ cancelled: listener });
    const opened = (): void => {
      record?.streams(200);
      onDisconnect(() => record?.clientDisconnected());
    };
    const replies = repliesOn(client, { ...reply, record, opened, onDisconnect });
    const leave = parts.enter();
    try {
      await serveMessage(message, inbound, replies);
    } catch (cause) {
      log.error('a request failed', { path, cause: explainCause(cause) });
      sendError(replies, 500, INTERNAL, {}, idOf(message));
    } finally {
      leave();
      if (record?.status === 0) record.clientDisconnected();
    }
  }

  async function serveMessage(
    message: Message | InvalidMessage,
    inbound: RecordedInbound,
    replies: Replies,
  ): Promise<void> {
    const id = idOf(message);
    if (parts.isStopping()) {
      inbound.record?.refused(STOPPING.message);
      return sendError(replies, 503, STOPPING, {}, id);
    }
    inbound.record?.enters('mcp');
    const found = service.identify(inbound);
    const caller = admitted(isPromise(found) ? await found : found, { inbound, replies, rejected: parts.rejected, id });
    if (caller === undefined) return;
    inbound.record?.isOf(caller);
    await deliver(served, { inbound, caller, replies }, message);
  }

  const served: Pick<ServedPath, 'serverFor'> = {
    serverFor(_inbound, message) {
      const server = router.serverOf(message, session !== undefined);
      if ('code' in server || server.era !== '2025-11-25') return server;
      const isInitialize = message.kind === 'request' && message.method === 'initialize';
      if (session === undefined && !isInitialize) return server;
      return { era: server.era, post: postInSession };
    },
  };

  async function postInSession(exchange: Exchange, message: Message): Promise<void> {
    if (session !== undefined) return router.connected.accept(exchange, session, message);
    session = await router.connected.open(exchange, message as RequestMessage);
    if (hasEnded) await endSession(); // the client left meanwhile
    listen();
  }

  async function endSession(): Promise<void> {
    if (session === undefined) return;
    await router.connected.end(session, session.caller).catch((cause: unknown) => {
      log.warn('the session of a client could not be ended', { cause: explainCause(cause) });
    });
  }

  /** A stream that the gateway ends, e.g. on a reload, is opened again. */
  function listen(): void {
    if (hasEnded || session === undefined) return;
    if (session.hasEnded) return log.warn('no further messages of the gateway reach the client: its session has ended');
    const ended = (): void => void setTimeout(listen, REOPEN_MS).unref();
    detach = router.connected.listen(session, streamOn(client, ended));
  }

  return {
    accept,
    async idle() {
      while ([...running.values()].some(({ isSubscription }) => !isSubscription))
        await new Promise<void>((resolve) => whenDone.add(resolve));
    },
    async end() {
      hasEnded = true;
      for (const one of running.values()) one.cancel.abort(new Error(GONE));
      detach();
      await endSession();
    },
  };
}

function idOf(message: Message | InvalidMessage): Buffer {
  return 'id' in message ? message.id : NULL_ID;
}

/** A message as hooks see it. */
function inboundOf(path: string, cancel: Cancel): RecordedInbound {
  return {
    ...{ transport: 'stdio', method: 'POST', path, headers: NO_HEADERS, remoteAddress: undefined, cancel },
    get signal() {
      return cancel.signal;
    },
  };
}

const CANCELLED = 'notifications/cancelled';
const GONE = 'the client cancelled the request or is gone';
const REOPEN_MS = 100;
const STOPPING = wireError(CODE.internalError, 'the gateway is stopping: retry later');
const NO_HEADERS: RecordedInbound['headers'] = {};
const ignore = (): void => {};
/** What is no request is not answered. */
const UNANSWERED = { write: () => true };
