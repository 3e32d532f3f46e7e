import { createInterface } from 'node:readline/promises';

/** Asks on the terminal. @throws Error without a terminal */
export async function confirmed(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new Error('there is no terminal to ask at: use --yes, or --dry-run');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question} [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
