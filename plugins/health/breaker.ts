/** When a breaker opens, and for how long. */
export interface BreakerRules {
  readonly failureThreshold: number;
  readonly timeoutMs: number;
}

/**
 * A circuit breaker: opens after a number of consecutive failures. After the timeout it allows one attempt: a success closes
 * the breaker, a failure opens it again.
 */
export class Breaker {
  readonly #rules: BreakerRules;
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  #sinceMs: number;
  #openedMs = 0;
  #failures: number;

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
    return this.#failures === 0 && this.#state === 'closed';
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
    if (this.#state !== 'closed') this.#enter('closed', nowMs);
  }

  /** Returns whether this failure opened it. */
  failed(nowMs: number): boolean {
    if (this.#state === 'open') return false;
    this.#failures++;
    if (this.#state === 'closed' && this.#failures < this.#rules.failureThreshold) return false;
    this.#openedMs = nowMs;
    this.#enter('open', nowMs);
    return true;
  }

  /** The attempt ended without a result; the next one tests recovery. */
  abandoned(nowMs: number): void {
    if (this.#state === 'half-open') this.#enter('open', nowMs);
  }

  #enter(state: 'closed' | 'open' | 'half-open', nowMs: number): void {
    this.#state = state;
    this.#sinceMs = nowMs;
  }
}
