/** When a breaker opens, and for how long. */
export interface BreakerRules {
  readonly failureThreshold: number;
  readonly timeoutMs: number;
}

/** Fewer callers than these never open a breaker by themselves, not even with a threshold of 1. */
const MIN_CALLERS = 2;

/**
 * A circuit breaker: opens after a number of consecutive failures. After the timeout it allows one attempt: a success closes
 * the breaker, a failure opens it again.
 *
 * A failed call may say more about the call than about the backend. So the calls of one caller count as one failure, and
 * those of a single caller do not open the breaker. The next failed check confirms all failed calls; a success deletes them.
 */
export class Breaker {
  readonly #rules: BreakerRules;
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  #sinceMs: number;
  #openedMs = 0;
  #failures: number;
  /** Failed calls since the last success or failed check. */
  #unconfirmed = 0;
  /** Who made them, without calls that were waiting while the backend answered others. */
  readonly #callers = new Set<string>();

  /** Starts closed, with a number of consecutive failures. */
  constructor(rules: BreakerRules, sinceMs: number, failures = 0) {
    this.#rules = rules;
    this.#sinceMs = sinceMs;
    this.#failures = failures;
  }

  get state(): 'closed' | 'open' | 'half-open' {
    return this.#state;
  }

  /** Epoch milliseconds of the last change of state. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** Epoch milliseconds of the next attempt while it is open. */
  get triesAtMs(): number {
    return this.#openedMs + this.#rules.timeoutMs;
  }

  /** Whether it is closed without failures. */
  get isQuiet(): boolean {
    return this.#failures === 0 && this.#unconfirmed === 0 && this.#state === 'closed';
  }

  /** Whether an attempt is allowed now. The first one after the timeout tests recovery; until it ends, others are refused. */
  allowsAttempt(nowMs: number): boolean {
    if (this.#state === 'closed') return true;
    if (this.#state === 'half-open' || nowMs < this.triesAtMs) return false;
    this.#enter('half-open', nowMs);
    return true;
  }

  succeeded(nowMs: number): void {
    this.#failures = 0;
    this.#forgetCalls();
    if (this.#state !== 'closed') this.#enter('closed', nowMs);
  }

  /** A check failed. Returns whether this opened it. */
  failed(nowMs: number): boolean {
    if (this.#state === 'open') return false;
    this.#failures += this.#unconfirmed + 1;
    this.#forgetCalls();
    if (this.#state === 'closed' && this.#failures < this.#rules.failureThreshold) return false;
    this.#open(nowMs);
    return true;
  }

  /**
   * A call failed. Returns whether this opened it.
   * @param caller share of the caller; absent when the backend answered others while the call was waiting
   */
  callFailed(caller: string | undefined, nowMs: number): boolean {
    if (this.#state !== 'closed') return false;
    this.#unconfirmed++;
    if (caller !== undefined) this.#callers.add(caller);
    const { size } = this.#callers;
    if (size < MIN_CALLERS || this.#failures + size < this.#rules.failureThreshold) return false;
    this.#failures += this.#unconfirmed;
    this.#forgetCalls();
    this.#open(nowMs);
    return true;
  }

  /** The attempt ended without a result; the next one tests recovery. */
  abandoned(nowMs: number): void {
    if (this.#state === 'half-open') this.#enter('open', nowMs);
  }

  #open(nowMs: number): void {
    this.#openedMs = nowMs;
    this.#enter('open', nowMs);
  }

  #forgetCalls(): void {
    this.#unconfirmed = 0;
    this.#callers.clear();
  }

  #enter(state: 'closed' | 'open' | 'half-open', nowMs: number): void {
    this.#state = state;
    this.#sinceMs = nowMs;
  }
}
