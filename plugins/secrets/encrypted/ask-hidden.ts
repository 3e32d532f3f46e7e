import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';

/** The user ended the question with Ctrl-C or Ctrl-D. */
export class AskAborted extends Error {}

/**
 * Asks for one line on the terminal without showing what is typed. The question goes to stderr.
 * @throws AskAborted when the user does not answer
 */
export function askHidden(question: string): Promise<string> {
  process.stderr.write(question);
  const lines = createInterface({ input: process.stdin, output: silent(), terminal: true, historySize: 0 });
  return new Promise<string>((resolve, reject) => {
    lines.once('line', resolve);
    lines.once('close', () => reject(new AskAborted('no password was entered')));
  }).finally(() => {
    process.stderr.write('\n');
    lines.close();
  });
}

/** Whether a user can be asked. */
export function isAskable(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

function silent(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
