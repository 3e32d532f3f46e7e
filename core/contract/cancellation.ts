/**
 * Whether and why nobody waits for an answer any more. Cheaper than an AbortSignal, which is made only for those who
 * ask for it: most calls end without.
 */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** The same as a platform signal, for `fetch` and others that take one. */
  readonly signal: AbortSignal;
  /** `listener.cancelled` runs once, at once when it has happened already. */
  add(listener: CancelListener): void;
  remove(listener: CancelListener): void;
}

/** Hears a cancellation. An object, so that a call needs no closure for it. */
export interface CancelListener {
  cancelled(reason: unknown): void;
}
