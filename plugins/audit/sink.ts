import { open } from 'node:fs/promises';
import { GatewayFault } from '@toolmgr/core';

/** Where audit lines go. */
export interface Sink {
  /** Resolves when the text is handed to the system. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens the file to append to, made with mode 0600, or stdout for `''`.
 * @throws GatewayFault PLUGIN_FAILED naming the file
 */
export async function openSink(logFile: string): Promise<Sink> {
  if (logFile === '') return STDOUT;
  try {
    const file = await open(logFile, 'a', 0o600);
    return {
      write: (text) => file.appendFile(text),
      close: () => file.close(),
    };
  } catch (cause) {
    const what = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new GatewayFault('PLUGIN_FAILED', `audit.logFile: ${logFile} cannot be opened for appending (${what})`, {
      cause,
    });
  }
}

const STDOUT: Sink = {
  write: (text) =>
    new Promise((resolve, reject) => {
      process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
    }),
  close: async () => {},
};
