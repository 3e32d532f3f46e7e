import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { Interrupted, UsageError } from './usage-error.ts';

/** Asks the user for one line; `hides` does not show what is typed. Rejects when `signal` aborts, and with `Interrupted` for Ctrl-C. */
export type Ask = (question: string, options?: AskOptions) => Promise<string>;

interface AskOptions {
  readonly hides?: boolean;
  readonly signal?: AbortSignal;
}

/** Asks on the terminal; `undefined` when there is none. The question goes to stderr. */
export function terminalAsk(): Ask | undefined {
  return process.stdin.isTTY === true && process.stderr.isTTY === true ? askOnTerminal : undefined;
}

async function askOnTerminal(question: string, { hides = false, signal }: AskOptions = {}): Promise<string> {
  const output = hides ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr;
  if (hides) process.stderr.write(question);
  const lines = createInterface({
    ...{ input: process.stdin, output, terminal: true, historySize: 0 },
    ...(signal === undefined ? {} : { signal }), // it closes the interface
  });
  try {
    let Ended: typeof UsageError = UsageError;
    // raw mode of the terminal: Ctrl-C is no signal by itself
    lines.on('SIGINT', () => {
      Ended = Interrupted;
      if (signal === undefined) lines.close();
      else process.kill(process.pid, 'SIGINT');
    });
    return await new Promise<string>((resolve, reject) => {
      lines.once('close', () => reject(new Ended('no answer was entered')));
      if (hides) lines.once('line', resolve);
      else lines.question(question, resolve);
    });
  } finally {
    if (hides) process.stderr.write('\n');
    lines.close();
  }
}
