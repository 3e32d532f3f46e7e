import type { Writable } from 'node:stream';

/**
 * Takes standard output for the messages of a protocol: from now on everything else that is written to it, e.g. by `console.log` of
 * a plugin, goes to standard error. A closed standard output ends nothing by itself.
 */
export function takeStdout(): Writable {
  const output = process.stdout;
  output.removeAllListeners('error');
  output.on('error', () => {});
  Object.defineProperty(process, 'stdout', { configurable: true, value: process.stderr });
  globalThis.console = new console.Console(process.stderr);
  return output;
}
