import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import type { StdioProcess } from '@toolmgr/core';
import type { Container } from 'dockerode';
import { attach } from './attach.ts';
import type { Engine } from './engine.ts';
import { frameSplitter } from './stream-frames.ts';

/** A container that has been created and is to be started. */
export interface Created {
  readonly engine: Engine;
  readonly container: Container;
}

/** Bytes of output that wait for the gateway before the connection to the engine is paused. */
const WAITING_BYTES = 1_048_576;

/**
 * Starts a container and gives its pipes: one container per call, removed when it has ended.
 * `create` makes the container; its failure is the `error` event.
 */
export function launchStdio(create: () => Promise<Created>): StdioProcess {
  return new ContainerProcess(create);
}

class ContainerProcess extends EventEmitter implements StdioProcess {
  readonly stdin: Writable;
  readonly stdout = new PassThrough({ writableHighWaterMark: WAITING_BYTES });
  readonly stderr = new PassThrough();
  #created: Created | undefined;
  #hasEnded = false;
  /** A signal that came before the container was there. */
  #early: NodeJS.Signals | undefined;

  constructor(create: () => Promise<Created>) {
    super();
    const connected = this.#run(create);
    connected.catch(() => undefined);
    this.stdin = new Writable({
      write: (chunk: Buffer, _, done) =>
        void connected.then(
          (socket) => void socket.write(chunk, (cause) => done(cause)),
          (cause: Error) => done(cause),
        ),
      final: (done) =>
        void connected.then(
          (socket) => void socket.end(() => done()),
          () => done(),
        ),
    });
  }

  kill(signal: NodeJS.Signals): boolean {
    if (this.#hasEnded) return false;
    if (this.#created === undefined) this.#early = signal;
    else void this.#created.container.kill({ signal }).catch(() => undefined); // it has ended meanwhile
    return true;
  }

  async #run(create: () => Promise<Created>): Promise<Socket> {
    let unstarted: Container | undefined;
    try {
      const created = await create();
      const { engine, container } = created;
      unstarted = container;
      const { socket, head } = await attach(engine.socketPath, container.id);
      this.#read(socket, head);
      await container.start();
      unstarted = undefined;
      this.#created = created;
      if (this.#early !== undefined) this.kill(this.#early);
      void this.#whenEnded(container, socket);
      return socket;
    } catch (cause) {
      // nothing else knows of a container that was created and not started
      await unstarted?.remove({ force: true, v: true }).catch(() => undefined);
      this.#hasEnded = true;
      this.stdout.end();
      this.stderr.end();
      this.emit('error', cause instanceof Error ? cause : new Error(String(cause)));
      this.emit('close', null, null);
      throw cause;
    }
  }

  #read(socket: Socket, head: Buffer): void {
    const split = frameSplitter((kind, piece) => {
      const pipe = kind === 'stdout' ? this.stdout : this.stderr;
      // one listener per pause: a chunk may hold thousands of frames
      if (pipe.write(piece) || socket.isPaused()) return;
      socket.pause();
      pipe.once('drain', () => socket.resume());
    });
    if (head.length > 0) split(head);
    socket.on('data', split);
    socket.on('error', () => undefined); // the end of the container follows
    socket.once('close', () => {
      this.stdout.end();
      this.stderr.end();
    });
  }

  async #whenEnded(container: Container, socket: Socket): Promise<void> {
    const code = await container.wait().then(
      ({ StatusCode }: { readonly StatusCode: number }) => StatusCode,
      () => null, // the engine went away, and the container with it as far as we can tell
    );
    this.#hasEnded = true;
    this.emit('exit', code, null);
    socket.destroySoon();
    await container.remove({ force: true, v: true }).catch(() => undefined);
    this.stdout.end();
    this.emit('close', code, null);
  }
}
