/**
 * Whether a value is a promise, or another object with a `then`.
 *
 * Use: `isPromise(found) ? await found : found`. `await` alone costs a turn of the microtask queue even for a value
 * that is available, and a request passes many such places.
 */
export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return value instanceof Promise || typeof (value as PromiseLike<T> | undefined | null)?.then === 'function';
}
