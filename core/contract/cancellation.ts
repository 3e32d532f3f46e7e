/**
 * Whether and why a call is cancelled. Cheaper than an AbortSignal, which most calls never need and which is created
 * only on demand.
 */
export interface Cancellation {
  readonly aborted: boolean;
  readonly reason: unknown;
  /** The same as an AbortSignal, for `fetch` and other functions that take one. */
  readonly signal: AbortSignal;
  /** Calls `listener.cancelled` once; immediately when the cancellation has already happened. */
  add(listener: CancelListener): void;
  remove(listener: CancelListener): void;
}

/** Is called on cancellation. An object, so that a call needs no closure for it. */
export interface CancelListener {
  cancelled(reason: unknown): void;
}
