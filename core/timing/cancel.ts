import type { CancelListener, Cancellation } from '../contract/cancellation.ts';

/** A cancellation with an `abort` method. */
export class Cancel implements Cancellation {
  #listeners: CancelListener[] | undefined;
  #controller: AbortController | undefined;
  aborted = false;
  reason: unknown;

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.aborted) this.#controller.abort(this.reason);
    }
    return this.#controller.signal;
  }

  add(listener: CancelListener): void {
    if (this.aborted) return listener.cancelled(this.reason);
    if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  remove(listener: CancelListener): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at !== -1) this.#listeners?.splice(at, 1);
  }

  /** Only the first call has an effect. */
  abort(reason: unknown): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.#controller?.abort(reason);
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener.cancelled(reason);
  }
}

/** An AbortSignal as a cancellation. */
export function cancellationOf(signal: AbortSignal): Cancellation {
  return new SignalCancellation(signal);
}

class SignalCancellation implements Cancellation {
  readonly signal: AbortSignal;
  #listeners: Map<CancelListener, () => void> | undefined;

  constructor(signal: AbortSignal) {
    this.signal = signal;
  }

  get aborted(): boolean {
    return this.signal.aborted;
  }

  get reason(): unknown {
    return this.signal.reason;
  }

  add(listener: CancelListener): void {
    if (this.signal.aborted) return listener.cancelled(this.signal.reason);
    const heard = (): void => {
      this.#listeners?.delete(listener);
      listener.cancelled(this.signal.reason);
    };
    this.#listeners ??= new Map();
    this.#listeners.set(listener, heard);
    this.signal.addEventListener('abort', heard, { once: true });
  }

  remove(listener: CancelListener): void {
    const heard = this.#listeners?.get(listener);
    if (heard === undefined) return;
    this.#listeners?.delete(listener);
    this.signal.removeEventListener('abort', heard);
  }
}
