/** When a breaker opens, and for how long. */
export interface BreakerRules {
  readonly failureThreshold: number;
  readonly timeoutMs: number;
}

/**
 * Counts failures in a row and opens at the threshold. After the timeout one attempt is let through: its success closes
 * the breaker, its failure opens it for as long again.
 */
export class Breaker {
  readonly #rules: BreakerRules;
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  #sinceMs: number;
  #openedMs = 0;
  #failures: number;

  /** Closed since `sinceMs`, with as many failures in a row. */
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

  /** Epoch milliseconds from which an attempt is let through while it is open. */
  get triesAtMs(): number {
    return this.#openedMs + this.#rules.timeoutMs;
  }

  /** Closed, and no failure is counted. */
  get isQuiet(): boolean {
    return this.#failures === 0 && this.#state === 'closed';
  }

  /** Whether one attempt may be made now. The first after the timeout is the trial; while it runs, others are refused. */
  letsThrough(nowMs: number): boolean {
    if (this.#state === 'closed') return true;
    if (this.#state === 'half-open' || nowMs < this.triesAtMs) return false;
    this.#enter('half-open', nowMs);
    return true;
  }

  succeeded(nowMs: number): void {
    this.#failures = 0;
    if (this.#state !== 'closed') this.#enter('closed', nowMs);
  }

  /** Says whether it has opened by this. */
  failed(nowMs: number): boolean {
    if (this.#state === 'open') return false;
    this.#failures++;
    if (this.#state === 'closed' && this.#failures < this.#rules.failureThreshold) return false;
    this.#openedMs = nowMs;
    this.#enter('open', nowMs);
    return true;
  }

  /** The trial ended without saying anything: the next attempt is one. */
  abandoned(nowMs: number): void {
    if (this.#state === 'half-open') this.#enter('open', nowMs);
  }

  #enter(state: 'closed' | 'open' | 'half-open', nowMs: number): void {
    this.#state = state;
    this.#sinceMs = nowMs;
  }
}
