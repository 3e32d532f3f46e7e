import type { Readable, Writable } from 'node:stream';
import type { Command } from './backend.ts';

/** A running program with pipes, wherever it runs. A `ChildProcess` of Node is one. */
export interface StdioProcess {
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Ends the program; `false` when it has ended already. */
  kill(signal: NodeJS.Signals): boolean;
  /** The program has ended. */
  once(event: 'exit' | 'close', listener: (code: number | null, signal: NodeJS.Signals | null) => void): unknown;
  /** The program could not be started; `exit` does not follow, `close` does. */
  once(event: 'error', listener: (cause: Error) => void): unknown;
  on(event: 'error', listener: (cause: Error) => void): unknown;
}

/**
 * Slot `stdioLaunchers`: starts the program behind a stdio backend elsewhere than as a child of this process, e.g. in a
 * container. A command names its launcher (`Command.launcher`). Faults of the start are the `error` event.
 */
export type StdioLauncher = (command: Command) => StdioProcess;
