import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '@toolmgr/core';
import type { Served } from '../../http/listen.ts';

/** What {@link drain} needs. */
export interface DrainOptions {
  readonly gateway: Pick<Gateway, 'counts'>;
  readonly served: Pick<Served, 'closeAfterResponses'>;
  /** The longest duration. */
  readonly ms: number;
}

/**
 * Serves until clients have moved to other pods: a pod gets requests for a while after it was told to stop, over connections that
 * are open, and over new ones until all nodes know that it stops. Resolves when no call runs and no request came for a while,
 * or after `ms`.
 */
export async function drain({ gateway, served, ms }: DrainOptions): Promise<void> {
  const end = performance.now() + ms;
  const { idleMs } = served.closeAfterResponses();
  while (performance.now() < end) {
    const { callsInFlight, parked } = gateway.counts();
    if (callsInFlight + parked === 0 && idleMs() >= QUIET_MS) return;
    await delay(LOOK_MS);
  }
}

const QUIET_MS = 1_500; // connections that send nothing meanwhile are closed with the listener
const LOOK_MS = 50;
