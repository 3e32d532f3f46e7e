import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
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

/**
 * Resolves with the exit code of a container that is attached to; `undefined` when the connection closed and the engine does not
 * report an end: it went away, and the container may run on. The request that waits for the end is not answered by an engine that
 * was killed, so the connection decides.
 */
export function exitOf(container: Container, socket: Socket): Promise<number | undefined> {
  const exit = container.wait().then(
    ({ StatusCode }: { readonly StatusCode: number }) => StatusCode,
    () => undefined,
  );
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const lost = closed.then(() => Promise.race([exit, delay(END_MS, undefined, { ref: false })]));
  return Promise.race([exit, lost]);
}

/** The end of the container is reported a moment after the connection to it closes. */
const END_MS = 2_000;
