// Set up before each test file that runs in the process of others: the file fails if it leaves the process changed.
import { isDeepStrictEqual } from 'node:util';
import { afterAll, vi } from 'vitest';

const before = stateOfProcess();

// Declared before the hooks of the file, so that it runs after them.
afterAll(() => {
  vi.unstubAllEnvs();
  const after = stateOfProcess();
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
  if (changed.length === 0) return;
  process.chdir(String(before.folder));
  throw new Error(`the file leaves changed what other test files of its process use: ${changed.join(', ')}`);
});

function stateOfProcess(): Readonly<Record<string, unknown>> {
  const listened = process.eventNames().filter((event) => event !== 'exit'); // what is removed when the process ends
  return {
    folder: process.cwd(),
    'exit code': process.exitCode,
    ...Object.fromEntries(listened.map((event) => [`listeners of ${String(event)}`, process.listenerCount(event)])),
    ...Object.fromEntries(Object.entries(process.env).map(([name, value]) => [`environment variable ${name}`, value])),
  };
}
