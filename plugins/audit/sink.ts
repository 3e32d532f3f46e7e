import { type FileHandle, open, stat } from 'node:fs/promises';
import { type Core, explainCause, GatewayFault } from '@toolmgr/core';

/** Where audit lines go. */
export interface Sink {
  /** Resolves with how many of the bytes were handed to the system: at least one, perhaps not all. */
  write(bytes: Buffer): Promise<number>;
  close(): Promise<void>;
}

/** A renamed or deleted file is noticed at the first write after this time. */
const LOOK_MS = 1_000;
const MODE = 0o600;

/**
 * Opens the file to append to, made with mode 0600, or stdout for `''`.
 *
 * A file that was renamed or deleted from outside is made anew at its path, so that log rotation needs no signal; one
 * that was emptied in place is appended to.
 * @throws GatewayFault PLUGIN_FAILED naming the file
 */
export async function openSink(logFile: string, core: Pick<Core, 'log' | 'now'>): Promise<Sink> {
  if (logFile === '') return stdoutSink();
  try {
    await refuseOddFile(logFile);
    return await fileSink(logFile, core);
  } catch (cause) {
    if (cause instanceof GatewayFault) throw cause;
    const what = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new GatewayFault('PLUGIN_FAILED', `audit.logFile: ${logFile} cannot be opened for appending (${what})`, {
      cause,
    });
  }
}

/** Opening a named pipe would wait for its reader, for ever. */
async function refuseOddFile(logFile: string): Promise<void> {
  const found = await stat(logFile).catch(() => undefined);
  if (found === undefined || found.isFile() || found.isCharacterDevice()) return;
  throw new GatewayFault('PLUGIN_FAILED', `audit.logFile: ${logFile} is not a regular file`);
}

async function fileSink(logFile: string, { log, now }: Pick<Core, 'log' | 'now'>): Promise<Sink> {
  let file = await open(logFile, 'a', MODE);
  const opened = await file.stat();
  const mode = opened.mode & 0o777;
  if (opened.isFile() && (mode & 0o077) !== 0) {
    log.warn('others may read the audit file', { file: logFile, mode: mode.toString(8), expected: '600' });
  }
  let lookedMs = now();
  return {
    async write(bytes) {
      if (now() - lookedMs >= LOOK_MS) {
        file = await stillThere(file, logFile, log);
        lookedMs = now();
      }
      return (await file.write(bytes)).bytesWritten;
    },
    close: () => file.close(),
  };
}

/** The file at the path: the open one, or a new one when that was moved away. */
async function stillThere(file: FileHandle, logFile: string, log: Core['log']): Promise<FileHandle> {
  const [ours, there] = await Promise.all([file.stat(), stat(logFile).catch(() => undefined)]);
  if (there !== undefined && there.ino === ours.ino && there.dev === ours.dev) return file;
  const next = await open(logFile, 'a', MODE); // when it cannot be made, the old one stays open for the next try
  await file.close().catch((cause: unknown) => {
    log.warn('the moved audit file could not be closed', { cause: explainCause(cause) });
  });
  return next;
}

/** Standard output. When its reader goes away the writes fail; that is heard here, or it would end the process. */
function stdoutSink(): Sink {
  const { stdout } = process;
  stdout.on('error', ignore);
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stdout.write(bytes, (error) => (error ? reject(error) : resolve(bytes.length)));
      }),
    async close() {
      // one turn later: the error of the last write comes after its callback
      setImmediate(() => stdout.off('error', ignore));
    },
  };
}

const ignore = (): void => {};
