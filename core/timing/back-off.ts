/** Bounds of the pauses between tries. */
export interface BackOff {
  readonly firstMs: number;
  readonly maxMs: number;
  /** Share of a pause that is random, from 0 to 1: {@link JITTER} unless given. */
  readonly jitter?: number;
}

/** Half of a pause is random, so that replicas do not try again at the same moment. */
export const JITTER = 0.5;

/**
 * Milliseconds before try `attempt` (1, 2, …): doubles from `firstMs` up to `maxMs`; jitter only shortens it.
 * `chance` is from 0 to 1.
 */
export function backOffMs(
  attempt: number,
  { firstMs, maxMs, jitter = JITTER }: BackOff,
  chance = Math.random(),
): number {
  const ms = Math.min(firstMs * 2 ** (attempt - 1), maxMs);
  return Math.ceil(ms * (1 - jitter * (1 - chance)));
}
