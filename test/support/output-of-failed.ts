import { onTestFailed } from 'vitest';

const MAX_CHARS = 6_000; // of one program

/** Prints what a program has printed if the running test fails: the failed assertion rarely says why the program failed. */
export function printIfTestFails(command: readonly string[], printed: () => string): void {
  try {
    onTestFailed(() => {
      const text = printed();
      if (text !== '') console.error(`--- ${command.join(' ')}\n${text.slice(-MAX_CHARS)}`);
    });
  } catch {
    // outside a test, e.g. in beforeAll: its failure has the output of what failed there
  }
}
