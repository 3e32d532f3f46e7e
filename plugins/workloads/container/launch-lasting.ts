import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { isObject, type JsonObject, parsedJson, type StdioProcess } from '@toolmgr/core';
import type { Container } from 'dockerode';
import { attachPipes, type ContainerEnd, endOf, outputPipes } from './attached-container.ts';
import type { Engine } from './engine.ts';
import { type LastingSession, type LastingSessions, sessionKey } from './lasting-sessions.ts';

/** A running container of an earlier connection, and what was agreed with its server. */
export interface Candidate {
  readonly container: Container;
  readonly session: LastingSession;
}

/** What is needed for the connections to the containers of one workload. */
export interface LastingParts {
  readonly engine: Engine;
  readonly sessions: LastingSessions;
  /** Containers that a connection of this process uses. */
  readonly inUse: Set<string>;
  /** Running containers that no connection uses. */
  candidates(): Promise<readonly Candidate[]>;
  create(): Promise<Container>;
}

/** What is done with the lines that the gateway writes. */
type Mode = 'choose' | 'observe' | 'skip' | 'forward';

const LF = 0x0a;
const MAX_OBSERVED_BYTES = 1_048_576;
const METHOD_NOT_FOUND = -32601;

/**
 * Connects to a container that outlives this process: to a running one whose session fits, or to a new one.
 *
 * A server with sessions takes `initialize` once. So for a running container it is answered with the result that was remembered
 * when the container was new. The probe for newer revisions is answered as such a server did.
 */
export function launchLasting(parts: () => Promise<LastingParts>): StdioProcess {
  return new LastingProcess(parts);
}

class LastingProcess extends EventEmitter implements StdioProcess {
  readonly stdin: Writable;
  readonly stdout;
  readonly stderr;
  readonly #pipes = outputPipes();
  readonly #written = lineBuffer();
  readonly #ready: Promise<LastingParts>;
  #mode: Mode = 'choose';
  #candidates: readonly Candidate[] = [];
  #used: { readonly container: Container; readonly socket: Socket; readonly end: ContainerEnd } | undefined;
  #asked: { probe?: unknown; initialize?: { readonly id: unknown; readonly key: string } } = {};
  #hasEnded = false;

  constructor(parts: () => Promise<LastingParts>) {
    super();
    ({ stdout: this.stdout, stderr: this.stderr } = this.#pipes);
    this.#ready = this.#begin(parts);
    this.#ready.catch((cause: unknown) => this.#fail(cause));
    this.stdin = new Writable({
      write: (chunk: Buffer, _, done) => void this.#write(chunk).then(() => done(), done),
      // its stdin stays open for the next connection, so it does not see this end
      final: (done) => {
        this.kill('SIGTERM');
        done();
      },
    });
  }

  kill(signal: NodeJS.Signals): boolean {
    if (this.#hasEnded) return false;
    void this.#ready
      .then(async () => {
        if (this.#used === undefined) return this.#over(null);
        const { container, end } = this.#used;
        await container.kill({ signal }).finally(() => void end.signalled());
      })
      .catch(() => undefined); // it has ended meanwhile
    return true;
  }

  async #begin(parts: () => Promise<LastingParts>): Promise<LastingParts> {
    const given = await parts();
    this.#candidates = await given.candidates();
    const stateless = this.#candidates.find(({ session }) => session.key === undefined);
    if (stateless !== undefined && (await this.#attachTo(given, stateless.container))) this.#mode = 'forward';
    else if (this.#candidates.length === 0) await this.#create(given);
    return given;
  }

  async #create(parts: LastingParts): Promise<void> {
    const container = await parts.create();
    parts.inUse.add(container.id);
    try {
      const socket = await attachPipes(parts.engine, container, this.#pipes);
      this.#observeAnswers(parts, container);
      await container.start();
      this.#mode = 'observe';
      this.#use(parts, container, socket);
    } catch (cause) {
      parts.inUse.delete(container.id);
      // nothing else knows of a container that was created and not started
      await container.remove({ force: true, v: true }).catch(() => undefined);
      throw cause;
    }
  }

  /** `false` when the container cannot be used: another connection has it, or it has ended. */
  async #attachTo(parts: LastingParts, container: Container): Promise<boolean> {
    if (parts.inUse.has(container.id)) return false;
    parts.inUse.add(container.id);
    try {
      const socket = await attachPipes(parts.engine, container, this.#pipes);
      socket.write('\n'); // the last connection may have ended in the middle of a line
      this.#use(parts, container, socket);
      return true;
    } catch {
      parts.inUse.delete(container.id);
      return false;
    }
  }

  #use(parts: LastingParts, container: Container, socket: Socket): void {
    const end = endOf(container, socket);
    this.#used = { container, socket, end };
    void end.code.then(async (code) => {
      socket.destroy();
      parts.inUse.delete(container.id);
      if (code !== undefined) {
        await parts.sessions.remove(container.id).catch(() => undefined);
        await container.remove({ force: true, v: true }).catch(() => undefined);
      }
      this.#over(code ?? null);
    });
  }

  async #write(chunk: Buffer): Promise<void> {
    const parts = await this.#ready;
    if (this.#mode === 'forward') return this.#send(chunk);
    const lines = this.#written.add(chunk);
    if (this.#mode === 'observe') {
      for (const line of lines) this.#observe(messageIn(line));
      return this.#send(chunk);
    }
    for (const line of lines) await this.#choose(parts, line);
    if (this.#forwards()) await this.#send(this.#written.rest());
  }

  #forwards(): boolean {
    return this.#mode === 'forward' || this.#mode === 'observe';
  }

  /** One line of the gateway before there is a container for it. */
  async #choose(parts: LastingParts, line: Buffer): Promise<void> {
    const message = messageIn(line);
    if (this.#mode !== 'choose') {
      const isSkipped = this.#mode === 'skip' && message?.method === 'notifications/initialized';
      if (this.#mode === 'skip') this.#mode = 'forward';
      return isSkipped ? undefined : this.#send(line);
    }
    if (message?.method !== 'initialize') {
      if (message?.id !== undefined) this.#reply({ id: message.id, error: NO_METHOD });
      return;
    }
    const key = keyOf(message);
    const found = this.#candidates.find(({ session }) => session.key === key);
    if (found?.session.result !== undefined && (await this.#attachTo(parts, found.container))) {
      this.#mode = 'skip';
      return this.#reply({ id: message.id, result: found.session.result });
    }
    await this.#create(parts).catch((cause: unknown) => this.#fail(cause));
    this.#observe(message);
    await this.#send(line);
  }

  #reply(answer: JsonObject): void {
    this.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...answer })}\n`);
  }

  #send(bytes: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#used === undefined) reject(new Error('the container has ended'));
      else this.#used.socket.write(bytes, (cause) => (cause ? reject(cause) : resolve()));
    });
  }

  #observe(message: JsonObject | undefined): void {
    if (message?.method === 'server/discover') this.#asked.probe = message.id;
    if (message?.method === 'initialize') this.#asked.initialize = { id: message.id, key: keyOf(message) };
  }

  /** Remembers the session of a new container when its server answers. */
  #observeAnswers(parts: LastingParts, container: Container): void {
    const answers = lineBuffer();
    const listen = (chunk: Buffer): void => {
      for (const line of answers.add(chunk)) {
        const session = this.#sessionIn(messageIn(line));
        if (session === undefined) continue;
        void parts.sessions.set(container.id, session).catch(() => undefined); // then it is not used again
        end();
        return;
      }
    };
    const end = (): void => {
      this.stdout.off('data', listen);
      if (this.#mode === 'observe') this.#mode = 'forward';
    };
    this.stdout.on('data', listen);
  }

  #sessionIn(answer: JsonObject | undefined): LastingSession | undefined {
    if (answer === undefined || !isObject(answer.result)) return undefined;
    const { probe, initialize } = this.#asked;
    if (initialize !== undefined && answer.id === initialize.id) return { key: initialize.key, result: answer.result };
    return probe !== undefined && answer.id === probe ? {} : undefined;
  }

  #fail(cause: unknown): void {
    if (this.#hasEnded) return;
    this.emit('error', cause instanceof Error ? cause : new Error(String(cause)));
    this.#over(null);
  }

  #over(code: number | null): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#used = undefined;
    this.emit('exit', code, null);
    this.stdout.end();
    this.stderr.end();
    this.emit('close', code, null);
  }
}

const NO_METHOD = { code: METHOD_NOT_FOUND, message: 'Method not found' };

function keyOf({ params }: JsonObject): string {
  return sessionKey(isObject(params) ? params : {});
}

function messageIn(line: Buffer): JsonObject | undefined {
  const value = parsedJson(line);
  return isObject(value) ? value : undefined;
}

/** Splits bytes into lines with their line breaks; `rest` takes what is not a whole line yet. Long lines are dropped. */
function lineBuffer(): { add(chunk: Buffer): readonly Buffer[]; rest(): Buffer } {
  let begun: Buffer = Buffer.alloc(0);
  return {
    add(chunk) {
      begun = begun.length + chunk.length > MAX_OBSERVED_BYTES ? chunk : Buffer.concat([begun, chunk]);
      const lines: Buffer[] = [];
      for (let at = begun.indexOf(LF); at !== -1; at = begun.indexOf(LF)) {
        lines.push(begun.subarray(0, at + 1));
        begun = begun.subarray(at + 1);
      }
      return lines;
    },
    rest() {
      const rest = begun;
      begun = Buffer.alloc(0);
      return rest;
    },
  };
}
