import type { Backend, BackendHealth } from '@toolmgr/core';
import { Breaker, type BreakerRules } from './breaker.ts';
import {
  afterFailedCall,
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

/** The health and breaker of one backend. It has no timers. */
export class Watch {
  readonly name: string;
  /** The description of the backend; another one gets a new watch. */
  readonly backend: Backend | undefined;
  readonly breaker: Breaker | undefined;
  /** Whether the gateway is connected, so that a failed call is a signal about the backend. */
  isConnected = false;
  isProbing = false;
  /** Epoch milliseconds of the last completed probe or connection. */
  checkedMs: number | undefined;
  /** Epoch milliseconds of the last result or error of a call. */
  answeredMs = 0;
  readonly #threshold: number;
  #record: HealthRecord;
  #isSuspected = false;

  /** `known` is the health from an earlier monitor with the same rules. */
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

  /** Whether the breaker is not closed, so that no call may be sent. */
  get isBroken(): boolean {
    return this.breaker !== undefined && this.breaker.state !== 'closed';
  }

  /** Whether another success would change nothing. */
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
    // wrong credentials do not open a breaker
    if (failure.isAuth) this.breaker?.abandoned(nowMs);
    else if (this.breaker?.failed(nowMs) === true) this.#record = afterOpening(this.#record, nowMs);
  }

  /** The core could not connect. Until the next probe only the first time counts for the status, and each for the breaker. */
  connectionFailed(failure: Failure, nowMs: number): void {
    const isFirst = !this.#isSuspected;
    this.#isSuspected = true;
    if (isFirst) return this.failed(failure, nowMs);
    if (this.breaker?.failed(nowMs) === true) this.#record = afterOpening(this.#record, nowMs);
  }

  /** A call of `caller` (its share) failed. Ten calls of one hanging tool are one failure until the next probe. */
  callFailed(failure: Failure, caller: string, sentMs: number, nowMs: number): void {
    if (!this.#isSuspected) this.#record = afterFailedCall(this.#record, failure);
    this.#isSuspected = true;
    const witness = sentMs < this.answeredMs ? undefined : caller;
    if (this.breaker?.callFailed(witness, nowMs) === true) this.#record = afterOpening(this.#record, nowMs);
  }

  /** A probe has ended, with any result. */
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
