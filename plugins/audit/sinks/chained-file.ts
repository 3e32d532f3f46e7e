import type { KeyObject } from 'node:crypto';
import { resolve } from 'node:path';
import { type Core, explainCause, GatewayFault, LATE, within } from '@toolmgr/core';
import { type AuditChain, createAuditChain } from '@toolmgr/plugins/kit/audit-chain';
import { chainEndOf } from './chain-end.ts';
import { openSink, type Sink } from './file.ts';

/** Lines after which a checkpoint is written, and the time after which it is. */
const CHECKPOINT_LINES = 1_000;
const CHECKPOINT_MS = 60_000;

/** Time that a gateway which stops has for the last lines of a file before the next one opens it. */
const CLOSE_MS = 10_000;

/** What a chain is made with. */
export interface ChainOptions {
  readonly component: string;
  /** Signs checkpoints. */
  readonly key: KeyObject | undefined;
}

/**
 * The sink of `logFile` whose lines are a chain. In one process a file has one chain, whichever gateways write to it: after a reload the
 * previous gateway still writes the lines of its calls.
 * @throws like `openSink` and `chainEndOf`
 */
export async function openChainedSink(
  logFile: string,
  core: Pick<Core, 'log' | 'now'>,
  options: ChainOptions,
): Promise<Sink> {
  const place = logFile === '' ? '' : resolve(logFile);
  const closed = CLOSING.get(place);
  const shared = SHARED.get(place) ?? { writers: 0, opened: openFile(logFile, core, closed) };
  SHARED.set(place, shared);
  shared.writers += 1;
  const leave = async (): Promise<void> => {
    shared.writers -= 1;
    if (shared.writers > 0) return;
    SHARED.delete(place);
    const closing = shared.opened.then((file) => file.close()).finally(() => CLOSING.delete(place));
    CLOSING.set(place, closing);
    await closing;
  };
  const file = await shared.opened.catch(async (cause) => {
    await leave().catch(() => {});
    throw cause;
  });
  file.use(options);
  return writerOf(file, leave);
}

/** The open files of this process by path; `''` is stdout. */
const SHARED = new Map<string, { writers: number; readonly opened: Promise<ChainedFile> }>();
/** Files that get their last lines: another chain continues after them. */
const CLOSING = new Map<string, Promise<void>>();

/** One file that several gateways write to. */
export interface ChainedFile {
  /** The options of the newest gateway count. */
  use(options: ChainOptions): void;
  /** Writes lines with their places. @throws what the sink throws; the lines that were added are written by {@link drain} */
  append(lines: Buffer): Promise<void>;
  /** Writes what is left of lines that were added. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** The sink of one gateway. Lines that were added once are not added again when the write is repeated. */
export function writerOf(file: ChainedFile, leave: () => Promise<void>): Sink {
  let isAdded = false;
  return {
    async write(bytes) {
      const before = isAdded;
      isAdded = true;
      await (before ? file.drain() : file.append(bytes));
      isAdded = false;
      return bytes.length;
    },
    close: leave,
  };
}

async function openFile(
  logFile: string,
  core: Pick<Core, 'log' | 'now'>,
  closed: Promise<void> | undefined,
): Promise<ChainedFile> {
  // a failed close is reported by its own gateway
  if ((await within(CLOSE_MS, undefined, Promise.resolve(closed?.catch(() => {})))) === LATE) {
    throw new GatewayFault('PLUGIN_FAILED', `audit.chain: ${logFile} is still written by a gateway that stops`);
  }
  const sink = await openSink(logFile, core);
  const end = logFile === '' ? { next: 0, previous: '' } : await chainEndOf(logFile);
  return chainedFile(sink, core, (options, at = end) => createAuditChain(at, options.component, options.key));
}

type MakeChain = (options: ChainOptions, end?: AuditChain['end']) => AuditChain;

/** A file on `sink` whose lines have places in the chain. */
export function chainedFile(sink: Sink, { log, now }: Pick<Core, 'log' | 'now'>, makeChain: MakeChain): ChainedFile {
  let chain: AuditChain | undefined;
  let rest: Buffer = Buffer.alloc(0);
  let turn: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  /** One after the other, so that lines are written in the order of their numbers. */
  const inTurn = (run: () => Promise<void>): Promise<void> => {
    const done = turn.then(run);
    turn = done.catch(() => {});
    return done;
  };
  const drainNow = async (): Promise<void> => {
    while (rest.length > 0) rest = rest.subarray(await sink.write(rest));
  };
  const addCheckpoint = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const line = chain?.checkpoint(now());
    if (line !== undefined) rest = Buffer.concat([rest, Buffer.from(line)]);
  };
  const signSoon = (): void => {
    timer ??= setTimeout(() => {
      const signed = inTurn(async () => {
        addCheckpoint();
        await drainNow();
      });
      signed.catch((cause: unknown) => log.warn('an audit checkpoint waits', { cause: explainCause(cause) }));
    }, CHECKPOINT_MS).unref();
  };

  return {
    use(options) {
      chain = makeChain(options, chain?.end);
    },
    append: (lines) =>
      inTurn(async () => {
        const texts = lines.toString('utf8').split('\n');
        texts.pop(); // after the last line break
        // behind what an earlier failure left, also while that cannot be written yet: a writer repeats a failed append by `drain`
        rest = Buffer.concat([rest, Buffer.from(texts.map((line) => chain?.add(line) ?? `${line}\n`).join(''))]);
        const unsigned = chain?.unsigned ?? 0;
        if (unsigned >= CHECKPOINT_LINES) addCheckpoint();
        else if (unsigned > 0) signSoon();
        await drainNow();
      }),
    drain: () => inTurn(drainNow),
    close: () =>
      inTurn(async () => {
        addCheckpoint();
        await drainNow();
      }).finally(() => sink.close()),
  };
}
