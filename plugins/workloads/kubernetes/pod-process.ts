import { EventEmitter } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { explainCause, type StdioProcess } from '@toolmgr/core';
import type { Api, Connection } from '@toolmgr/plugins/kit/kubernetes';
import { type Attached, attach, type PodContainer } from './attach.ts';
import { exitCodeOf, freshContainer } from './fresh-container.ts';

/** How the API server is reached. */
export interface Cluster {
  readonly connection: Connection;
  readonly api: Api;
}

/** What one session with the server in a pod needs. */
export interface PodSession {
  readonly pod: PodContainer;
  cluster(): Promise<Cluster>;
  /** Id of the container of the last session, which is not used again. */
  used: string | undefined;
  readonly waiting: (reason: string) => void;
}

/** Bytes of output that wait for the gateway before the connection is paused. */
const WAITING_BYTES = 1_048_576;
/** The end of a container is in its pod a moment after the connection closes. */
const EXIT_CODE_MS = 500;

/** Connects to the container of a pod as if it were a child process: stdin, stdout, stderr and its end. */
export function launchInPod(session: PodSession): StdioProcess {
  return new PodProcess(session);
}

class PodProcess extends EventEmitter implements StdioProcess {
  readonly stdin: Writable;
  readonly stdout = new PassThrough({ writableHighWaterMark: WAITING_BYTES });
  readonly stderr = new PassThrough();
  readonly #session: PodSession;
  readonly #over = new AbortController();
  readonly #attached: Promise<Attached>;

  constructor(session: PodSession) {
    super();
    this.#session = session;
    this.#attached = this.#attach();
    this.#attached.catch((cause: unknown) => this.#fail(cause));
    this.stdin = new Writable({
      write: (chunk: Buffer, _, done) =>
        void this.#attached
          .then((attached) => attached.write(chunk))
          .then(
            () => done(),
            (cause: Error) => done(cause),
          ),
      final: (done) => {
        done();
        void this.#attached.then((attached) => attached.end()).catch(() => undefined);
      },
    });
  }

  /** Signals cannot be sent over the API. The container ends when its stdin does. */
  kill(): boolean {
    if (this.#over.signal.aborted) return false;
    this.#over.abort();
    void this.#attached.then((attached) => attached.cut()).catch(() => undefined);
    return true;
  }

  async #attach(): Promise<Attached> {
    const session = this.#session;
    const { pod, waiting, used } = session;
    const { connection, api } = await session.cluster();
    const id = await freshContainer({ api, pod, usedId: used, waiting, signal: this.#over.signal });
    if (id === undefined) throw new Error('the connection was given up');
    const attached = await attach(connection, pod, { stdout: this.stdout, stderr: this.stderr });
    session.used = id;
    if (this.#over.signal.aborted) attached.cut();
    void attached.closed.then((why) => this.#ended(api, id, why));
    return attached;
  }

  async #ended(api: Api, id: string, why: string): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, EXIT_CODE_MS));
    const code = await exitCodeOf(api, this.#session.pod, id).catch(() => undefined);
    if (code === undefined) this.stderr.write(`toolmgr: the connection to the server ended: ${why}\n`);
    this.#close(code ?? null);
  }

  #fail(cause: unknown): void {
    this.stderr.write(`toolmgr: ${explainCause(cause)}\n`);
    this.emit('error', cause instanceof Error ? cause : new Error(String(cause)));
    this.#close(null);
  }

  #close(code: number | null): void {
    this.#over.abort();
    this.emit('exit', code, null);
    this.stdout.end();
    this.stderr.end();
    this.emit('close', code, null);
  }
}
