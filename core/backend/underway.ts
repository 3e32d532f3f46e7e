import type { RawJson } from '../contract/json.ts';
import { LinkFailure } from './failure.ts';
import type { Asked, Exchange } from './link.ts';

/** The link that a request is in flight on. */
export interface Holder {
  readonly workload: string;
  now(): number;
  /** The request is over. */
  forget(exchange: Underway): void;
  /** The asking side gave up: the backend should know. */
  withdraw(exchange: Underway): void;
}

/** One request in flight. Also its own abort listener, so a call costs no closure. */
export class Underway implements Exchange {
  readonly id: number | string;
  readonly asked: Asked;
  readonly startedMs: number;
  abandon: (() => void) | undefined;
  settled = false;
  readonly #link: Holder;
  readonly #resolve: (result: RawJson) => void;
  readonly #reject: (cause: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #timerMs: number;
  #asks: Set<AbortController> | undefined;

  constructor(
    link: Holder,
    id: number | string,
    asked: Asked,
    resolve: (result: RawJson) => void,
    reject: (cause: unknown) => void,
  ) {
    this.#link = link;
    this.id = id;
    this.asked = asked;
    this.#resolve = resolve;
    this.#reject = reject;
    this.startedMs = link.now();
    this.#timerMs = asked.totalMs === 0 ? asked.timeoutMs : Math.min(asked.timeoutMs, asked.totalMs);
    this.#timer = this.#timerMs === 0 ? undefined : setTimeout(timedOut, this.#timerMs, this);
    asked.signal?.addEventListener('abort', this);
  }

  /** The signal of the asking side aborted. */
  handleEvent(): void {
    if (this.settled) return;
    this.fail(this.asked.signal?.reason);
    this.#link.withdraw(this);
  }

  /** A sign of life: the time for the answer starts again, within the total. */
  heardFrom(): void {
    if (this.settled || (this.#asks !== undefined && this.#asks.size > 0)) return;
    this.#arm();
  }

  pause(ask: AbortController): void {
    if (this.settled) return;
    this.#asks ??= new Set();
    this.#asks.add(ask);
    clearTimeout(this.#timer);
  }

  resume(ask: AbortController): void {
    if (this.#asks?.delete(ask) !== true || this.settled || this.#asks.size > 0) return;
    this.#timerMs = 0;
    this.#arm();
  }

  succeed(result: RawJson): void {
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
    const waitedMs = this.#link.now() - this.startedMs;
    const sentence = `did not answer ${this.asked.method} within ${waitedMs} ms`;
    this.fail(new LinkFailure('BACKEND_TIMEOUT', this.#link.workload, sentence, { category: 'timeout' }));
    this.#link.withdraw(this);
  }

  #arm(): void {
    const { timeoutMs, totalMs } = this.asked;
    if (timeoutMs === 0) return;
    const leftMs = totalMs === 0 ? timeoutMs : totalMs - (this.#link.now() - this.startedMs);
    const ms = Math.max(1, Math.min(timeoutMs, leftMs));
    if (ms === this.#timerMs) {
      this.#timer?.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timerMs = ms;
    this.#timer = setTimeout(timedOut, ms, this);
  }

  #settle(): void {
    this.settled = true;
    clearTimeout(this.#timer);
    this.asked.signal?.removeEventListener('abort', this);
    this.#link.forget(this);
    if (this.#asks !== undefined) for (const ask of this.#asks) ask.abort();
  }
}

function timedOut(exchange: Underway): void {
  exchange.expire();
}
