import type { Backend, Command } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import type { Environment } from '../../contract/environment.ts';
import type { JsonObject } from '../../contract/json.ts';
import type { StdioLauncher } from '../../contract/stdio-launcher.ts';
import type { Log } from '../../extension/plugin.ts';
import type { Limits } from '../../limits.ts';
import type { ByteBudget, HeldBytes } from '../../mcp/byte-budget.ts';
import { ConnectionFailure } from '../failure.ts';
import type { Exchange, Transport, TransportSink } from '../sessions/backend-session.ts';
import { HeldReading, heldOfBackend } from './held-reading.ts';
import { Lines } from './lines.ts';
import { absentPackage } from './package-runner.ts';
import { ProcessGroup, type Spawn, type StartedBy } from './process-group.ts';

/** Unread bytes of a program before calls to it are refused. */
const MAX_UNREAD_BYTES = 67_108_864;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const LF_BYTES = Buffer.from('\n');

/** What a stdio transport is made with. */
export interface StdioOptions {
  readonly backend: Backend;
  readonly limits: Limits;
  readonly bytes: ByteBudget;
  readonly log: Log;
  readonly environment: Environment;
  readonly spawn?: Spawn | undefined;
  /** Starts the program instead of `spawn`. */
  readonly launcher?: StdioLauncher | undefined;
  /** Counts running processes. */
  readonly processCount: { processes: number };
}

/** A local program: one JSON message per line on its stdin and stdout (MCP transports, stdio). */
export class StdioTransport implements Transport {
  readonly closingCancels = false;
  readonly stateful = true;
  readonly #sink: TransportSink;
  readonly #backend: string;
  readonly #log: Log;
  readonly #limits: Limits;
  readonly #command: Command;
  readonly #group: ProcessGroup;
  /** What the program has not read of its input, also of requests that were cancelled. */
  readonly #unread: HeldBytes;
  #malformed = 0;
  #closing = false;

  constructor(options: StdioOptions, sink: TransportSink) {
    const { backend, limits, bytes, log, environment, spawn, launcher, processCount } = options;
    this.#sink = sink;
    this.#backend = backend.name;
    this.#log = log;
    this.#limits = limits;
    const command = backend.command ?? { file: '', args: [] };
    this.#command = command;
    const onStderrLine = log.programLine && ((line: string) => log.programLine?.(backend.name, line));
    this.#group = started(backend.name, command, { environment, spawn, launcher, onStderrLine });
    processCount.processes++;
    const { child } = this.#group;
    this.#unread = heldOfBackend({ bytes, backend: backend.name });
    child.stdin?.on('drain', () => this.#unread.add(-this.#unread.bytes));
    child.stdin?.once('close', () => this.#unread.release());
    const lines = new Lines(
      limits.frameBytes,
      (line) => this.#line(line),
      () => this.#tooLong(),
    );
    const { stdout } = child;
    const reading = new HeldReading(heldOfBackend({ bytes, backend: backend.name }), () => {
      lines.skipLine();
      reading.release();
      this.#sink.failAll(lineWithoutSpace(backend.name));
      stdout?.resume();
    });
    stdout?.on('data', (chunk: Buffer) => {
      lines.push(chunk);
      reading.took(chunk.length, lines.pendingBytes, stdout);
    });
    stdout?.once('close', () => reading.release());
    stdout?.on('error', () => undefined);
    // EPIPE: the exit that follows reports the reason.
    child.stdin?.on('error', () => undefined);
    child.once('error', (cause) => this.#ended('could not be started', 'spawn', cause));
    // `close` follows the last bytes of stdout, so a response written just before the exit is read.
    child.once('close', (code, signal) => this.#ended(exitSentence(code, signal), 'exit', undefined));
    // A helper that keeps stdout open must not hide the exit of the program itself.
    void this.#group.ended.then(() => {
      processCount.processes--;
      setTimeout(() => {
        child.stdout?.destroy();
        child.stderr?.destroy();
      }, DRAIN_MS).unref();
    });
  }

  send(body: Buffer, exchange: Exchange): void {
    const failure = this.#write(body);
    if (failure !== undefined) exchange.fail(failure);
  }

  async post(body: Buffer, _method: string, _caller: Caller | undefined): Promise<void> {
    const failure = this.#write(body);
    if (failure !== undefined) throw failure;
  }

  agreed(): void {}

  async close(): Promise<void> {
    this.#closing = true;
    await this.#group.stop();
  }

  #write(body: Buffer): ConnectionFailure | undefined {
    const { stdin } = this.#group.child;
    if (!this.#group.running || stdin === null || !stdin.writable) {
      return new ConnectionFailure(this.#backend, 'exit', 'is not running', { notRun: true, connectionLost: true });
    }
    const isSpent = this.#unread.bytes > 0 && !this.#unread.budget.hasSpace(this.#unread, body.length);
    if (isSpent || stdin.writableLength > MAX_UNREAD_BYTES) {
      return new ConnectionFailure(this.#backend, 'busy', 'does not read its input', { notRun: true });
    }
    stdin.cork();
    stdin.write(oneLine(body));
    stdin.write(LF_BYTES);
    stdin.uncork();
    if (stdin.writableNeedDrain) this.#unread.add(stdin.writableLength - this.#unread.bytes);
    return undefined;
  }

  #line(line: Buffer): void {
    try {
      this.#sink.hear(line, undefined);
    } catch {
      this.#malformed++;
      // The first, then every power of ten: a server that prints to stdout must not flood the log.
      if (!Number.isInteger(Math.log10(this.#malformed))) return;
      this.#log.warn('backend wrote lines to stdout that are not MCP messages; skipped', this.#about());
    }
  }

  #tooLong(): void {
    const sentence = `wrote a line of more than ${this.#limits.frameBytes} bytes`;
    // The line was discarded, so its request is unknown.
    this.#sink.failAll(new ConnectionFailure(this.#backend, 'too-large', sentence));
  }

  #ended(how: string, kind: 'spawn' | 'exit', cause: unknown): void {
    if (this.#closing) return;
    this.#closing = true;
    const lastWords = this.#group.lastWords();
    // a program that has written something was installed
    const absent = bytesOf(this.#group.child.stdout) === 0 ? absentPackage(this.#command, lastWords) : undefined;
    const category = absent === undefined ? kind : ('absent' as const);
    const sentence = absent === undefined ? how : `could not be started: ${absent}`;
    this.#log.warn('backend process ended', {
      ...this.#about(),
      how: sentence,
      ...(cause instanceof Error ? { cause: cause.message } : {}),
      stderr: absent === undefined ? lastWords.slice(-LOGGED_CHARS) : '', // the sentence says all
    });
    this.#sink.lost(
      new ConnectionFailure(this.#backend, category, sentence, {
        connectionLost: true,
        notRun: category !== 'exit',
        cause,
      }),
    );
  }

  #about(): JsonObject {
    return { backend: this.#backend, malformed: this.#malformed };
  }
}

/** How many bytes a program has written; `undefined` for a stream that does not count them. */
function bytesOf(stdout: object | null): unknown {
  return (stdout as { readonly bytesRead?: number } | null)?.bytesRead;
}

/** Node's spawn throws for an argv or environment that no system accepts. */
function started(backend: string, command: Command, by: StartedBy): ProcessGroup {
  try {
    return new ProcessGroup(command, by);
  } catch (cause) {
    throw new ConnectionFailure(backend, 'spawn', 'could not be started', { notRun: true, cause });
  }
}

/** The line was discarded, so its request is unknown. */
function lineWithoutSpace(backend: string): ConnectionFailure {
  const sentence = 'wrote a line that has no space in the memory budget of the gateway';
  return new ConnectionFailure(backend, 'busy', sentence, { code: 'MEMORY_SPENT' });
}

const LOGGED_CHARS = 2_000;
const DRAIN_MS = 500;

/** The body on one line. Line breaks in JSON are white space; inside strings they are escaped. */
function oneLine(body: Buffer): Buffer {
  if (!body.includes(LF) && !body.includes(CR)) return body;
  for (let at = 0; at < body.length; at++) if (body[at] === LF || body[at] === CR) body[at] = SPACE;
  return body;
}

function exitSentence(code: number | null, signal: string | null): string {
  return signal === null ? `ended with exit code ${code ?? 'unknown'}` : `was ended by ${signal}`;
}
