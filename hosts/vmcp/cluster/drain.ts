import { setTimeout as delay } from 'node:timers/promises';
import type { Gateway } from '@toolmgr/core';
import type { Served } from '../../http/listen.ts';

/** What {@link drain} needs. */
export interface DrainOptions {
  readonly gateway: Pick<Gateway, 'counts' | 'endStreams'>;
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
  const requests = served.closeAfterResponses();
  let known = requests();
  // Looks are counted, not time: a process that got no processor for a while has requests that it did not read yet.
  for (let quiet = 0; quiet < QUIET_LOOKS && performance.now() < end; ) {
    gateway.endStreams(); // also those that clients open again here
    await delay(LOOK_MS);
    const { callsInFlight, parked } = gateway.counts();
    const isQuiet = requests() === known && callsInFlight + parked === 0;
    known = requests();
    quiet = isQuiet ? quiet + 1 : 0;
  }
}

const LOOK_MS = 50;
/** 1.5 s. Connections that send nothing meanwhile are closed with the listener. */
const QUIET_LOOKS = 30;
