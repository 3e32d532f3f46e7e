import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** Whether something accepts connections on a port of this machine. */
export function portAnswers(port: number, host = LOOPBACK): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (answers: boolean): void => {
      socket.destroy();
      resolve(answers);
    };
    socket.setTimeout(CONNECT_MS, () => done(false));
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  });
}

/** Waits until a port accepts connections; `false` when `signal` aborts first. */
export async function waitForPort(port: number, signal: AbortSignal, host = LOOPBACK): Promise<boolean> {
  while (!signal.aborted) {
    if (await portAnswers(port, host)) return true;
    await delay(PORT_POLL_MS, undefined, { signal }).catch(() => {});
  }
  return false;
}

const LOOPBACK = '127.0.0.1';
const CONNECT_MS = 1_000;
const PORT_POLL_MS = 50;
