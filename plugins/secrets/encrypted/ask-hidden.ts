import { closeSync, openSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ReadStream } from 'node:tty';

/** The user ended the question with Ctrl-C or Ctrl-D. */
export class AskAborted extends Error {}

/**
 * Asks for one line on the terminal without showing what is typed. The question goes to stderr. When stdin is not the
 * terminal, the answer is read from the terminal of the process.
 * @throws AskAborted when the user does not answer
 */
export async function askHidden(question: string): Promise<string> {
  const input = process.stdin.isTTY ? process.stdin : new ReadStream(openSync(TERMINAL, 'r'));
  process.stderr.write(question);
  const lines = createInterface({ input, output: silent(), terminal: true, historySize: 0 });
  try {
    return await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      lines.once('close', () => reject(new AskAborted('no answer was entered')));
    });
  } finally {
    process.stderr.write('\n');
    lines.close();
    if (input !== process.stdin) input.destroy();
  }
}

/** Whether a user can be asked: stderr is a terminal, and the process has one to read from. */
export function isAskable(): boolean {
  if (process.stderr.isTTY !== true) return false;
  if (process.stdin.isTTY === true) return true;
  try {
    closeSync(openSync(TERMINAL, 'r'));
    return true;
  } catch {
    return false;
  }
}

function silent(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}

const TERMINAL = '/dev/tty';
