import type { Backend, BackendHealth } from '@toolmgr/core';
import { Breaker, type BreakerRules } from './breaker.ts';
import {
  afterFailure,
  afterOpening,
  afterSuccess,
  type Failure,
  firstHealthRecord,
  type HealthRecord,
  healthRecordFrom,
} from './health-record.ts';

/** When a backend counts as unhealthy. */
export interface WatchRules {
  readonly threshold: number;
  /** Absent when there is no breaker. */
  readonly breaker: BreakerRules | undefined;
}

/** Everything that is known of one backend under watch. Takes evidence, decides nothing about time. */
export class Watch {
  readonly name: string;
  /** The description that the evidence is about: another one is another backend. */
  readonly backend: Backend | undefined;
  readonly breaker: Breaker | undefined;
  /** The gateway has a connection, so that a failing call says something about the backend. */
  isThere = false;
  isProbing = false;
  /** Epoch milliseconds of the last probe or look that came to an end. */
  checkedMs: number | undefined;
  readonly #threshold: number;
  #record: HealthRecord;
  #isSuspected = false;

  /** `known`: what a monitor by the same rules made of it before, whose place this one takes. */
  constructor(name: string, backend: Backend | undefined, rules: WatchRules, nowMs: number, known?: BackendHealth) {
    this.name = name;
    this.backend = backend;
    this.checkedMs = known?.checkedMs;
    this.#threshold = rules.threshold;
    this.#record = known === undefined ? firstHealthRecord(nowMs) : healthRecordFrom(known);
    if (rules.breaker !== undefined) {
      this.breaker = new Breaker(rules.breaker, known?.breaker?.sinceMs ?? nowMs, this.#record.failures);
    }
  }

  get record(): HealthRecord {
    return this.#record;
  }

  /** No call may be sent; only the trial of the breaker counts now. */
  get isBroken(): boolean {
    return this.breaker !== undefined && this.breaker.state !== 'closed';
  }

  /** One more good answer would change nothing. */
  get isSettled(): boolean {
    const { failures, status } = this.#record;
    return failures === 0 && status !== 'unknown' && this.breaker?.isQuiet !== false;
  }

  succeeded(isSlow: boolean, nowMs: number): void {
    this.#isSuspected = false;
    this.breaker?.succeeded(nowMs);
    this.#record = afterSuccess(this.#record, isSlow, nowMs);
  }

  failed(failure: Failure, nowMs: number): void {
    this.#record = afterFailure(this.#record, failure, this.#threshold, nowMs);
    // Credentials are not what a breaker waits for.
    if (failure.isAuth) this.breaker?.abandoned(nowMs);
    else if (this.breaker?.failed(nowMs) === true) this.#record = afterOpening(this.#record, nowMs);
  }

  /**
   * A failure outside probes. For the status the first one counts, and the others with it until a probe has shown what
   * it meant: ten calls of one tool that hangs are one sign of trouble. For the breaker each counts.
   */
  suspected(failure: Failure, nowMs: number): void {
    const isFirst = !this.#isSuspected;
    this.#isSuspected = true;
    if (isFirst) return this.failed(failure, nowMs);
    if (this.breaker?.failed(nowMs) === true) this.#record = afterOpening(this.#record, nowMs);
  }

  /** A probe has come to its end, whatever it showed. */
  checked(nowMs: number): void {
    this.checkedMs = nowMs;
    this.#isSuspected = false;
    this.breaker?.abandoned(nowMs);
  }

  health(): BackendHealth {
    const { status, failures, category, sinceMs } = this.#record;
    return {
      status,
      consecutiveFailures: failures,
      checkedMs: this.checkedMs,
      errorCategory: category,
      sinceMs,
      ...(this.breaker === undefined ? {} : { breaker: { state: this.breaker.state, sinceMs: this.breaker.sinceMs } }),
    };
  }
}
