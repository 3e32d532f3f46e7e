import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { LATE, within } from '@toolmgr/core';
import type { Container } from 'dockerode';
import { attach } from './attach.ts';
import type { Engine } from './engine.ts';
import { frameSplitter } from './stream-frames.ts';

/** Bytes of output that wait for the gateway before the connection to the engine is paused. */
const WAITING_BYTES = 1_048_576;

/** Makes the two outputs of a container. */
export function outputPipes(): { readonly stdout: PassThrough; readonly stderr: PassThrough } {
  return { stdout: new PassThrough({ writableHighWaterMark: WAITING_BYTES }), stderr: new PassThrough() };
}

/** Attaches to a container: the socket is its stdin, its output goes to the pipes, which stay open. */
export async function attachPipes(
  engine: Engine,
  container: Container,
  pipes: { readonly stdout: PassThrough; readonly stderr: PassThrough },
): Promise<Socket> {
  const { socket, head } = await attach(engine.socketPath, container.id);
  const split = frameSplitter((kind, piece) => {
    const pipe = pipes[kind];
    // one listener per pause: a chunk may hold thousands of frames
    if (pipe.write(piece) || socket.isPaused()) return;
    socket.pause();
    pipe.once('drain', () => socket.resume());
  });
  if (head.length > 0) split(head);
  socket.on('data', split);
  socket.on('error', () => undefined); // the end of the container follows
  return socket;
}

/** How the end of a container that is attached to is noticed. */
export interface ContainerEnd {
  /**
   * Resolves with the exit code; `undefined` when the connection closed and the engine does not report an end: it went away, and the
   * container may run on.
   */
  readonly code: Promise<number | undefined>;
  /** A signal was sent: the end is looked for, since a connection whose output is not read does not close. */
  signalled(): Promise<void>;
}

/**
 * Watches for the end of a container through the connection to it, which closes then; the engine is asked for the code once.
 * Not with the request that waits for the end: for it podman looks at the container hundreds of times per second, which
 * takes half a core for each container that is idle.
 */
export function endOf(container: Container, socket: Socket): ContainerEnd {
  const { promise: code, resolve } = Promise.withResolvers<number | undefined>();
  const closed = async (): Promise<void> => resolve(await exitCodeWithin(container, END_MS, () => false));
  if (socket.closed) void closed();
  else socket.once('close', () => void closed());
  return {
    code,
    async signalled() {
      const found = await exitCodeWithin(container, SIGNAL_MS, () => socket.closed);
      if (found !== undefined) resolve(found);
    },
  };
}

/** Asks for the exit code until there is one, the time is over, or `isOver` says so. */
async function exitCodeWithin(
  container: Container,
  waitMs: number,
  isOver: () => boolean,
): Promise<number | undefined> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = FIRST_LOOK_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_LOOK_MS)) {
    const code = await exitCode(container, endMs - performance.now());
    if (code !== undefined || isOver() || performance.now() + pauseMs > endMs) return code;
    await delay(pauseMs, undefined, { ref: false });
  }
}

async function exitCode(container: Container, waitMs: number): Promise<number | undefined> {
  try {
    const found = await within(Math.max(waitMs, FIRST_LOOK_MS), undefined, container.inspect());
    return found === LATE || found.State.Running ? undefined : found.State.ExitCode;
  } catch (cause) {
    return (cause as { readonly statusCode?: number }).statusCode === 404 ? KILLED : undefined;
  }
}

/** The end of the container is reported a moment after the connection to it closes. */
const END_MS = 2_000;
/** A container gets about 10 s between the signals of a gateway. */
const SIGNAL_MS = 30_000;
const FIRST_LOOK_MS = 50;
const LONGEST_LOOK_MS = 500;
/** Code of a container that was removed: engines kill it. */
const KILLED = 137;
