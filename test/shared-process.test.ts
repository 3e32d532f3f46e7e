import { describe, expect, it } from 'vitest';
import { sharable } from './support/shared-process.ts';

const shares = (text: string, more: Readonly<Record<string, string>> = {}): boolean =>
  sharable(new Map(Object.entries({ 'test/a/b.test.ts': text, ...more }))).length === 1;

describe('a test file that runs in the process of others', () => {
  it('uses nothing of the whole process, but reads of it, and sets variables that it sets back', () => {
    const text = `spawn(process.execPath); process.kill(pid); process.env.A = 'b'; process.once('exit', end); vi.waitFor(f);`;
    expect(shares(text)).toBe(true);
    expect(shares("it('ends', () => {}); // [choice.process.rejection]")).toBe(true);
  });

  it.each([
    'vi.useFakeTimers();',
    "vi.mock('node:fs');",
    "process.on('SIGTERM', stop);",
    'process.chdir(folder);',
    'process.memoryUsage().rss;',
    'globalThis.fetch;',
    "import { setFlagsFromString } from 'node:v8';",
  ])('does not have %s', (text) => {
    expect(shares(text)).toBe(false);
  });

  it('imports no file of tests that does, directly or through another', () => {
    const more = {
      'test/support/one.ts': "export { two } from './two.ts';",
      'test/support/two.ts': 'export const two = () => process.cpuUsage();',
    };
    expect(shares("import { two } from '../support/one.ts';", more)).toBe(false);
    expect(shares("import { one } from 'one';", more)).toBe(true);
  });

  it('imports no module that sets something up for the first file only', () => {
    const from = "import { FOLDER } from '../support/one.ts';";
    expect(shares(from, { 'test/support/one.ts': "export const FOLDER = temporaryFolderOfFile('one');" })).toBe(false);
    expect(shares(from, { 'test/support/one.ts': 'process.env.FOLDER = FOLDER;' })).toBe(false);
    expect(shares("process.env.FOLDER = 'one';")).toBe(true);
  });
});
