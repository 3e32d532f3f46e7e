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
import type { Session } from './era-2025-11-25/sessions/session.ts';
import { type RecordedInbound, RequestRecorder } from './http/request-recorder.ts';
import { claimOf, type ProtocolRouter } from './protocol-router.ts';
import type { Exchange } from './protocol-server.ts';
import { refuse } from './refuse.ts';
import type { RejectedTokens } from './rejected-tokens.ts';
import type { Replies } from './replies.ts';
import { judged } from './serve-mcp.ts';
import { streamOn } from './stream-on.ts';

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

/** What is sent about one message. */
interface Reply {
  /** Cancelled when the client wants nothing more about it. */
  readonly cancel: Cancel;
  write(message: readonly Buffer[]): boolean;
  done(): void;
}

/** A request that is not answered. */
interface Running extends Reply {
  readonly isSubscription: boolean;
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
    const message = readMessage(bytes, limits);
    if ('misread' in message) return void serve(message, replyTo(message.isUnanswered === true ? undefined : client));
    if (message.kind === 'request') return request(message);
    const isModern = session === undefined && claimOf(message) !== undefined;
    if (message.kind === 'notification' && message.method === CANCELLED) cancel(message.given.requestId);
    if (message.kind === 'response' || !isModern) void serve(message, replyTo()); // the stateless era has no notifications
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
    const one: Running = {
      cancel: new Cancel(),
      isSubscription: message.method === 'subscriptions/listen',
      isMuted: false,
      write: (parts) => one.isMuted || client.write(parts),
      done() {
        if (running.get(message.key) === one) running.delete(message.key);
        resolve();
        for (const each of whenDone) each();
        whenDone.clear();
      },
    };
    running.set(message.key, one);
    await Promise.all([serve(message, one), promise]);
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

  async function serve(message: Message | InvalidMessage, reply: Reply): Promise<void> {
    const inbound = inboundOf(path, reply.cancel);
    const requests = parts.requests();
    const record = requests && new RequestRecorder(inbound, requests);
    if (record !== undefined) inbound.record = record;
    const replies = repliesOf(client, reply, record);
    const leave = parts.enter();
    try {
      await serveMessage(message, inbound, replies);
    } catch (cause) {
      log.error('a request failed', { path, cause: explainCause(cause) });
      refuse(replies, 500, INTERNAL);
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
    const id = 'id' in message ? message.id : NULL_ID;
    if (parts.isStopping()) {
      inbound.record?.refused(STOPPING.message);
      return refuse(replies, 503, STOPPING, {}, id);
    }
    inbound.record?.enters('mcp');
    const found = service.identify(inbound);
    const caller = judged(isPromise(found) ? await found : found, inbound, parts.rejected);
    if ('error' in caller) return refuse(replies, caller.status, caller.error, {}, id);
    inbound.record?.isOf(caller);
    if ('misread' in message) return refuse(replies, 400, message.misread, {}, id);
    inbound.record?.says(message);
    const server = router.serverOf(message, session !== undefined);
    if ('code' in server) return refuse(replies, 400, server, {}, id);
    inbound.record?.speaks(server.era);
    const exchange: Exchange = { inbound, caller, replies };
    if (server.era !== '2025-11-25') return server.post(exchange, message);
    if (session !== undefined) return router.connected.accept(exchange, session, message);
    if (message.kind !== 'request' || message.method !== 'initialize') return server.post(exchange, message);
    session = await router.connected.open(exchange, message);
    listen();
  }

  /** A stream that the gateway ends, e.g. on a reload, is opened again. */
  function listen(): void {
    if (hasEnded || session === undefined) return;
    if (session.hasEnded) return log.warn('no further messages of the gateway reach the client: its session has ended');
    const ended = (): void => void setTimeout(listen, REOPEN_MS).unref();
    detach = router.connected.listen(session, streamOn(client, { ended }));
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
      if (session === undefined) return;
      await router.connected.end(session, session.caller).catch((cause: unknown) => {
        log.warn('the session of a client could not be ended', { cause: explainCause(cause) });
      });
    },
  };
}

/** The reply to what is no request: an error to `client` when it is no message. */
function replyTo(client?: MessageClient): Reply {
  return { cancel: new Cancel(), write: (parts) => client?.write(parts) ?? true, done: ignore };
}

function repliesOf(
  client: MessageClient,
  { write, done, cancel }: Reply,
  record: RequestRecorder | undefined,
): Replies {
  let isAnswered = false;
  return {
    mayStream: true,
    failed: (error) => record?.failed(error),
    send(status, _headers, message) {
      if (isAnswered) return;
      isAnswered = true;
      if (message !== undefined) write([message].flat());
      record?.answered(status, message);
      done();
    },
    stream() {
      isAnswered = true;
      record?.streams(200);
      cancel.add({ cancelled: () => record?.clientDisconnected() });
      const own: MessageClient = {
        write,
        onDrain: (listener) => client.onDrain(listener),
        get pendingBytes() {
          return client.pendingBytes;
        },
      };
      return streamOn(own, {
        wrote: (bytes) => record?.wrote(bytes),
        ended() {
          record?.ended();
          done();
        },
      });
    },
    onDisconnect: (listener) => cancel.add({ cancelled: listener }),
  };
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
