import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether something accepts connections on a loopback port. */
export function portAnswers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const done = (answers: boolean): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.setTimeout(CONNECT_MS, () => done(false));
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}

/** Waits until a loopback port accepts connections; `false` when `signal` aborts first. */
export async function waitForPort(port: number, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    if (await portAnswers(port)) return true;
    await delay(PORT_POLL_MS, undefined, { signal }).catch(() => {});
  }
  return false;
}

const CONNECT_MS = 1_000;
const PORT_POLL_MS = 50;
