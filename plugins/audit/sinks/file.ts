import { type FileHandle, open, stat } from 'node:fs/promises';
import { type Core, explainCause, GatewayFault } from '@toolmgr/core';

/** The output of audit lines. */
export interface Sink {
  /** Resolves with the number of written bytes, at least one and perhaps not all. */
  write(bytes: Buffer): Promise<number>;
  close(): Promise<void>;
}

/** Interval in which a write checks for a renamed or deleted file. */
const CHECK_INTERVAL_MS = 1_000;
const MODE = 0o600;

/**
 * Opens a file for appending, created with mode 0600, or stdout for `''`.
 *
 * A file that was renamed or deleted is created again, so that log rotation needs no signal. A truncated file is appended to.
 * @throws GatewayFault PLUGIN_FAILED naming the file
 */
export async function openSink(logFile: string, core: Pick<Core, 'log' | 'now'>): Promise<Sink> {
  if (logFile === '') return stdoutSink();
  try {
    await requireRegularFile(logFile);
    return await fileSink(logFile, core);
  } catch (cause) {
    if (cause instanceof GatewayFault) throw cause;
    const what = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new GatewayFault('PLUGIN_FAILED', `audit.logFile: ${logFile} cannot be opened for appending (${what})`, {
      cause,
    });
  }
}

/** Opening a named pipe would block until it has a reader. */
async function requireRegularFile(logFile: string): Promise<void> {
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
  let checkedMs = now();
  return {
    async write(bytes) {
      if (now() - checkedMs >= CHECK_INTERVAL_MS) {
        file = await reopenIfMoved(file, logFile, log);
        checkedMs = now();
      }
      return (await file.write(bytes)).bytesWritten;
    },
    close: () => file.close(),
  };
}

/** The open file, or a new one when it is no longer at its path. */
async function reopenIfMoved(file: FileHandle, logFile: string, log: Core['log']): Promise<FileHandle> {
  const [ours, there] = await Promise.all([file.stat(), stat(logFile).catch(() => undefined)]);
  if (there !== undefined && there.ino === ours.ino && there.dev === ours.dev) return file;
  const next = await open(logFile, 'a', MODE); // when this fails, the old file stays open for the next try
  await file.close().catch((cause: unknown) => {
    log.warn('the moved audit file could not be closed', { cause: explainCause(cause) });
  });
  return next;
}

/** Standard output. Without an error listener a closed pipe would end the process. */
function stdoutSink(): Sink {
  const { stdout } = process;
  stdout.on('error', ignore);
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => {
        stdout.write(bytes, (error) => (error ? reject(error) : resolve(bytes.length)));
      }),
    async close() {
      // later, because the error event of the last write follows its callback
      setImmediate(() => stdout.off('error', ignore));
    },
  };
}

const ignore = (): void => {};
