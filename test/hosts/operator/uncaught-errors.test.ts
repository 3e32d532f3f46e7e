import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const MODULE = new URL('../../../hosts/operator/log-uncaught-errors.ts', import.meta.url).href;
const PROGRAM = `
  const { logUncaughtErrors } = await import(${JSON.stringify(MODULE)});
  const log = (message, fields) => console.log(message, fields.cause);
  const logging = logUncaughtErrors({ info: log, warn: log, error: log });
  setTimeout(() => { throw new Error('in a timer'); });
  Promise.reject(new Error('in a promise'));
  setTimeout(() => { console.log('continues'); logging[Symbol.dispose](); setTimeout(() => { throw new Error('after'); }); }, 50);
`;

it('an error that nothing caught is logged and does not end the operator, until it stops', async () => {
  const args = ['--conditions=development', '--input-type=module', '--eval', PROGRAM];
  const ended = await promisify(execFile)(process.execPath, args).catch((cause) => cause);
  expect(ended.stdout.split('\n').sort().filter(Boolean)).toEqual([
    'an error was not caught; the operator continues in a promise',
    'an error was not caught; the operator continues in a timer',
    'continues',
  ]);
  expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('Error: after')]);
});
