import type { RawObject } from '../../json/raw-json.ts';
import { Deadlines, type WithDeadline } from '../../timing/shared-timers.ts';
import { ConnectionFailure } from '../failure.ts';
import type { Exchange, OutgoingRequest } from './backend-session.ts';

/** The connection of a pending request. */
export interface RequestConnection {
  readonly backend: string;
  now(): number;
  /** The request has ended. */
  forget(exchange: PendingRequest): void;
  /** The client cancelled: the backend should be notified. */
  withdraw(exchange: PendingRequest): void;
}

/** A server request that waits for a client while requests are pending. */
export interface PausedFor {
  /** One of the requests that it may belong to has ended. */
  over(exchange: PendingRequest): void;
}

/** One pending request. It is its own abort listener, so that a call needs no closure. */
export class PendingRequest implements Exchange, WithDeadline {
  readonly id: number | string;
  readonly asked: OutgoingRequest;
  readonly startedMs: number;
  abandon: (() => void) | undefined;
  settled = false;
  readonly #connection: RequestConnection;
  readonly #startedAt: number;
  readonly #resolve: (result: RawObject) => void;
  readonly #reject: (cause: unknown) => void;
  dueMs: number;
  #asks: Set<PausedFor> | undefined;

  constructor(
    connection: RequestConnection,
    id: number | string,
    asked: OutgoingRequest,
    resolve: (result: RawObject) => void,
    reject: (cause: unknown) => void,
  ) {
    this.#connection = connection;
    this.id = id;
    this.asked = asked;
    this.#resolve = resolve;
    this.#reject = reject;
    this.startedMs = connection.now();
    const ms = asked.totalMs === 0 ? asked.timeoutMs : Math.min(asked.timeoutMs, asked.totalMs);
    this.#startedAt = performance.now();
    this.dueMs = ms === 0 ? Number.POSITIVE_INFINITY : this.#startedAt + ms;
    if (ms !== 0) deadlines.add(this);
    if (asked.cancel === undefined) asked.signal?.addEventListener('abort', this);
    else asked.cancel.add(this);
  }

  /** The signal of the request aborted. */
  handleEvent(): void {
    this.cancelled(this.asked.signal?.reason);
  }

  cancelled(reason: unknown): void {
    if (this.settled) return;
    this.fail(reason);
    this.#connection.withdraw(this);
  }

  /** Progress: restarts the time limit, within the total. */
  restartTimeout(): void {
    if (this.settled || (this.#asks !== undefined && this.#asks.size > 0)) return;
    this.#arm();
  }

  pause(ask: PausedFor): void {
    if (this.settled) return;
    this.#asks ??= new Set();
    this.#asks.add(ask);
    this.dueMs = Number.POSITIVE_INFINITY;
  }

  resume(ask: PausedFor): void {
    if (this.#asks?.delete(ask) !== true || this.settled || this.#asks.size > 0) return;
    this.#arm();
  }

  succeed(result: RawObject): void {
    if (this.settled) return;
    this.#settle();
    this.#resolve(result);
  }

  fail(cause: unknown): void {
    if (this.settled) return;
    this.#settle();
    this.#reject(cause);
  }

  expire(): void {
    const waitedMs = this.#connection.now() - this.startedMs;
    const sentence = `did not answer ${this.asked.method} within ${waitedMs} ms`;
    this.fail(new ConnectionFailure(this.#connection.backend, 'timeout', sentence));
    this.#connection.withdraw(this);
  }

  #arm(): void {
    const { timeoutMs, totalMs } = this.asked;
    if (timeoutMs === 0) return;
    const nextMs = performance.now() + timeoutMs;
    this.dueMs = totalMs === 0 ? nextMs : Math.min(nextMs, this.#startedAt + totalMs);
  }

  #settle(): void {
    this.settled = true;
    deadlines.delete(this);
    if (this.asked.cancel === undefined) this.asked.signal?.removeEventListener('abort', this);
    else this.asked.cancel.remove(this);
    this.#connection.forget(this);
    if (this.#asks !== undefined) for (const ask of this.#asks) ask.over(this);
  }
}

/** The deadlines of all requests to backends. */
const deadlines = new Deadlines();
