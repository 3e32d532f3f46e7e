import { get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const REQUEST_MS = 2_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;

/**
 * Waits until a server answers HTTP with any status; `false` when `signal` aborts or `mayStill` says no first. A port that
 * accepts connections is not enough: the engine's own proxy accepts them before the server listens.
 */
export async function answersHttp(
  url: string,
  signal: AbortSignal,
  mayStill: () => Promise<boolean>,
): Promise<boolean> {
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    if (await answers(url)) return true;
    if (!(await mayStill())) return false;
    await delay(pauseMs, undefined, { signal }).catch(() => {});
  }
  return false;
}

function answers(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = get(
      url,
      { agent: false, headers: { accept: 'text/event-stream' }, timeout: REQUEST_MS },
      (response) => {
        resolve(true);
        response.destroy();
      },
    );
    sent.once('timeout', () => sent.destroy());
    sent.once('error', () => resolve(false));
    sent.once('close', () => resolve(false));
  });
}
