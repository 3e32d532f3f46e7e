import type { Readable, Writable } from 'node:stream';
import {
  decodeObject,
  explainCause,
  type Gateway,
  type Inbound,
  isObject,
  type Limits,
  type Log,
  type Responder,
} from '@toolmgr/core';
import { messagesOfEvents } from './event-messages.ts';
import { outlineOf } from './message-outline.ts';
import { readLines, TOO_LONG } from './read-lines.ts';
import { createMessageWriter, type MessageWriter } from './write-messages.ts';

/** What is served, and how. */
export interface StdioOptions {
  /** The current gateway, evaluated for each message. */
  gateway(): Pick<Gateway, 'serve' | 'settled'>;
  /** Path of the MCP endpoint of the gateway, and the host names that it allows. */
  readonly endpoint: { readonly path: string; readonly allowedHosts?: readonly string[] | undefined };
  readonly limits: StdioLimits;
  readonly input: Readable;
  /** Only messages are written to it. */
  readonly output: Writable;
  readonly log: Log;
  /** Ends the connection when aborted. */
  readonly signal: AbortSignal;
}

/** The limits of a plan that apply to stdio. */
export type StdioLimits = Pick<
  Limits,
  'bodyBytes' | 'resultBytes' | 'streamBufferBytes' | 'inFlightPerCaller' | 'queuePerCaller' | 'stopMs'
>;

/**
 * Serves a gateway to one client over stdio: one JSON-RPC message per line, both protocol eras. Resolves when the client has
 * closed its end and its running requests are answered (at most `limits.stopMs`), or when `signal` is aborted.
 *
 * Each message is given to the endpoint of the gateway as a POST would be, so that hooks, limits and records are those of HTTP.
 * Source: MCP 2025-11-25 and 2026-07-28, transports, stdio.
 */
export async function serveStdio(options: StdioOptions): Promise<void> {
  const { limits, input, log, signal } = options;
  const writer = createMessageWriter(options.output, {
    highBytes: limits.streamBufferBytes,
    mostBytes: limits.resultBytes,
  });
  const ended = AbortSignal.any([signal, writer.ended]);
  const connection = new Connection(options, writer);
  ended.addEventListener('abort', () => input.destroy(), { once: true });
  try {
    await Promise.race([options.gateway().settled(), aborted(ended)]); // the first answers name all backends that are ready soon
    for await (const line of readLines(input, limits.bodyBytes)) {
      await connection.accept(line);
      await writer.belowMark(); // a client that does not read is not read from
      if (ended.aborted) break;
    }
    await Promise.race([connection.idle(), aborted(AbortSignal.any([ended, AbortSignal.timeout(limits.stopMs)]))]);
  } catch (cause) {
    if (!ended.aborted) throw cause;
  } finally {
    await connection.end();
  }
  if (writer.ended.aborted) {
    log[writer.isTooSlow ? 'warn' : 'debug']('the stdio connection ended', {
      cause: explainCause(writer.ended.reason),
    });
  } else await Promise.race([writer.flushed(), aborted(AbortSignal.any([signal, AbortSignal.timeout(limits.stopMs)]))]);
}

/** A request of the client that is not answered. */
interface Running {
  readonly isStream: boolean;
  /** Runs the listeners of the core that wait for a lost connection. */
  leave(): void;
  /** The client cancelled it: nothing more is written about it. */
  isCancelled: boolean;
}

class Connection {
  readonly #options: StdioOptions;
  readonly #writer: MessageWriter;
  readonly #running = new Map<string | number, Running>();
  readonly #idle = new Set<() => void>();
  readonly #mostRunning: number;
  #session: { readonly id: string; readonly version: string } | undefined;
  #hasEnded = false;
  #leaveStandalone = ignore;

  constructor(options: StdioOptions, writer: MessageWriter) {
    this.#options = options;
    this.#writer = writer;
    this.#mostRunning = options.limits.inFlightPerCaller + options.limits.queuePerCaller;
  }

  /** Accepts one line. Waits for the answer of `initialize` only, because what follows belongs to its session. */
  async accept(line: Buffer | typeof TOO_LONG): Promise<void> {
    if (line === TOO_LONG) return this.#refuse(undefined, `a line may have ${this.#options.limits.bodyBytes} bytes`);
    const { kind, id, method, params, claims } = outlineOf(line);
    if (kind === 'invalid') return void this.#serve(line, 'error');
    const isModern = claims && this.#session === undefined;
    if (id === undefined || method === undefined) {
      if (method === 'notifications/cancelled') this.#cancel(params?.requestId);
      // The core knows no notification of stateless clients.
      if (kind !== 'notification' || !isModern) void this.#serve(line, 'nothing');
      return;
    }
    if (method === 'ping' && this.#session === undefined && !claims) return this.#pong(id);
    if (this.#running.has(id)) return this.#refuse(id, 'a request with this id is still running');
    if (this.#running.size >= this.#mostRunning) return this.#refuse(id, 'too many requests are running');
    if (method !== 'initialize' || isModern) return void this.#answer(line, id, method);
    if (this.#session !== undefined) return this.#refuse(id, 'this session was initialized already');
    await this.#answer(line, id, method);
  }

  /** A ping is allowed before `initialize`, and clients of the revision without sessions send it too: the Go SDK does. */
  #pong(id: string | number): void {
    this.#writer.write(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: {} })));
  }

  /** Resolves when no request but open subscriptions runs. */
  async idle(): Promise<void> {
    const isIdle = (): boolean => [...this.#running.values()].every(({ isStream }) => isStream);
    while (!isIdle()) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  /** Cancels what runs and ends the session. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    for (const one of this.#running.values()) one.leave();
    this.#leaveStandalone();
    if (this.#session === undefined) return;
    const responder: Responder = { send: ignore, open: () => NO_STREAM, onDisconnect: ignore };
    await this.#options.gateway().serve(this.#inbound('DELETE'), NO_BODY, responder);
  }

  async #answer(line: Buffer, id: string | number, method: string): Promise<void> {
    const leaving = new Set<() => void>();
    const running: Running = {
      isStream: method === 'subscriptions/listen',
      isCancelled: false,
      leave() {
        for (const each of leaving) each();
        leaving.clear();
      },
    };
    this.#running.set(id, running);
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const finish = (): void => {
      if (this.#running.get(id) === running) this.#running.delete(id);
      leaving.clear();
      resolve();
      for (const each of this.#idle) each();
      this.#idle.clear();
    };
    const write = (message: Buffer): boolean => (running.isCancelled ? true : this.#writer.write(message));
    let answered: Parameters<Responder['send']>[1] | undefined;
    await this.#options.gateway().serve(this.#inbound('POST', leaving), line, {
      send: (status, headers, body) => {
        if (answered !== undefined) return;
        answered = headers;
        const message = bytesOf(body);
        if (message.length > 0) write(message);
        if (method === 'initialize' && status === 200) this.#open(headers['mcp-session-id'], message);
        finish();
      },
      open: (_status, headers) => {
        answered ??= headers;
        return this.#stream(write, finish);
      },
      onDisconnect: (listener) => void leaving.add(listener),
    });
    await done;
  }

  /** Serves what is no request: errors about invalid messages are written, notifications and responses have no answer. */
  async #serve(line: Buffer, written: 'error' | 'nothing'): Promise<void> {
    await this.#options.gateway().serve(this.#inbound('POST'), line, {
      send: (_status, _headers, body) => {
        const message = bytesOf(body);
        if (written === 'error' && message.length > 0) this.#writer.write(message);
      },
      open: () => NO_STREAM,
      onDisconnect: ignore,
    });
  }

  /** The session is open: what the gateway sends outside of requests is written from now on. */
  #open(id: string | readonly string[] | undefined, result: Buffer): void {
    if (typeof id !== 'string') return;
    const answer = decodeObject(result)?.result;
    const version = isObject(answer) && typeof answer.protocolVersion === 'string' ? answer.protocolVersion : '';
    this.#session = { id, version };
    void this.#connectStandalone();
  }

  /** A stream that the gateway ends, e.g. on a reload, is opened again. */
  async #connectStandalone(): Promise<void> {
    if (this.#hasEnded) return;
    const leaving = new Set<() => void>();
    this.#leaveStandalone = () => {
      for (const each of leaving) each();
    };
    await this.#options.gateway().serve(this.#inbound('GET', leaving), NO_BODY, {
      send: (status) => this.#options.log.warn('no further messages of the gateway reach the client', { status }),
      open: () =>
        this.#stream(
          (message) => this.#writer.write(message),
          () => void setTimeout(() => void this.#connectStandalone(), REOPEN_MS).unref(),
        ),
      onDisconnect: (listener) => void leaving.add(listener),
    });
  }

  #stream(write: (message: Buffer) => boolean, ended: () => void): ReturnType<Responder['open']> {
    const writer = this.#writer;
    let isOpen = true;
    return {
      write(frames) {
        let mayContinue = true;
        for (const message of messagesOfEvents(frames)) mayContinue = write(message);
        return mayContinue;
      },
      onDrain: (listener) => writer.onDrain(listener),
      end() {
        if (!isOpen) return;
        isOpen = false;
        ended();
      },
      get pendingBytes() {
        return writer.pendingBytes;
      },
    };
  }

  #cancel(id: unknown): void {
    const running = this.#running.get(id as string | number);
    if (running === undefined) return;
    running.isCancelled = true;
    // With a session the notification itself cancels the call; without one the connection of the request is closed.
    if (this.#session === undefined) {
      running.leave();
      this.#running.delete(id as string | number);
    }
  }

  #refuse(id: string | number | undefined, message: string): void {
    const error = { code: INVALID_REQUEST, message };
    this.#writer.write(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error })));
  }

  #inbound(method: string, leaving?: Set<() => void>): Inbound {
    const { endpoint } = this.#options;
    const session = this.#session;
    const host = endpoint.allowedHosts?.[0] ?? HOST;
    const gone = new AbortController();
    leaving?.add(() => gone.abort(new Error('the client cancelled the request or is gone')));
    return {
      transport: 'stdio',
      method,
      path: endpoint.path,
      headers: { ...HEADERS, host, ...(session === undefined ? {} : sessionHeaders(session)) },
      remoteAddress: undefined,
      signal: gone.signal,
    };
  }
}

function sessionHeaders({ id, version }: { readonly id: string; readonly version: string }) {
  return { 'mcp-session-id': id, 'mcp-protocol-version': version };
}

function bytesOf(body: Parameters<Responder['send']>[2]): Buffer {
  if (body === undefined) return NO_BODY;
  if (typeof body === 'string') return Buffer.from(body);
  return Buffer.isBuffer(body) ? body : Buffer.concat(body as readonly Buffer[]);
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

const HOST = 'localhost';
const HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};
const INVALID_REQUEST = -32600;
const REOPEN_MS = 100;
const NO_BODY = Buffer.alloc(0);
const ignore = (): void => {};
const NO_STREAM: ReturnType<Responder['open']> = { write: () => true, onDrain: ignore, end: ignore, pendingBytes: 0 };
