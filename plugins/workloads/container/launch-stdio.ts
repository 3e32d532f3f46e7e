import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { StdioProcess } from '@toolmgr/core';
import type { Container } from 'dockerode';
import { attachPipes, type ContainerEnd, endOf, outputPipes } from './attached-container.ts';
import type { Engine } from './engine.ts';

/** A container that has been created and is to be started. */
export interface Created {
  readonly engine: Engine;
  readonly container: Container;
}

/**
 * Starts a container and gives its pipes: one container per call, removed when it has ended.
 * `create` makes the container; its failure is the `error` event. `left` gets a container that could not be removed, because
 * the engine went away.
 */
export function launchStdio(create: () => Promise<Created>, left: (container: Container) => void): StdioProcess {
  return new ContainerProcess(create, left);
}

class ContainerProcess extends EventEmitter implements StdioProcess {
  readonly stdin: Writable;
  readonly stdout;
  readonly stderr;
  readonly #pipes = outputPipes();
  readonly #left: (container: Container) => void;
  #created: (Created & { readonly end: ContainerEnd }) | undefined;
  #hasEnded = false;
  /** A signal that came before the container was there. */
  #early: NodeJS.Signals | undefined;

  constructor(create: () => Promise<Created>, left: (container: Container) => void) {
    super();
    ({ stdout: this.stdout, stderr: this.stderr } = this.#pipes);
    this.#left = left;
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
    else void this.#send(this.#created, signal);
    return true;
  }

  async #send(
    { container, end }: { readonly container: Container; readonly end: ContainerEnd },
    signal: NodeJS.Signals,
  ): Promise<void> {
    await container.kill({ signal }).catch(() => undefined); // it has ended meanwhile
    await end.signalled();
  }

  async #run(create: () => Promise<Created>): Promise<Socket> {
    let unstarted: Container | undefined;
    try {
      const created = await create();
      const { engine, container } = created;
      unstarted = container;
      const socket = await attachPipes(engine, container, this.#pipes);
      socket.once('close', () => {
        this.stdout.end();
        this.stderr.end();
      });
      await container.start();
      unstarted = undefined;
      const end = endOf(container, socket);
      this.#created = { ...created, end };
      if (this.#early !== undefined) this.kill(this.#early);
      void this.#whenEnded(container, socket, end);
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

  async #whenEnded(container: Container, socket: Socket, end: ContainerEnd): Promise<void> {
    const code = (await end.code) ?? null;
    this.#hasEnded = true;
    this.emit('exit', code, null);
    socket.destroySoon();
    await container.remove({ force: true, v: true }).catch(({ statusCode }: { readonly statusCode?: number }) => {
      if (statusCode === undefined) this.#left(container);
    });
    this.stdout.end();
    this.emit('close', code, null);
  }
}
