import { describe, expect, it } from 'vitest';
import { blocksOf, checkedPages } from './blocks.ts';
import { outputProblem } from './console-output.ts';
import { consoleSteps, runConsole } from './console-session.ts';

const PAGE_MS = 240_000; // two cores, shared; quiet it takes some seconds

const pages = [...checkedPages()]
  .map(([page, text]) => ({ page, blocks: blocksOf(page, text) }))
  .filter(({ blocks }) => blocks.some(({ language }) => language === 'console'));

describe('the output of commands', () => {
  it.each(pages)(
    'is as $page shows it',
    async ({ blocks }) => {
      expect(await runConsole(blocks)).toEqual([]);
    },
    PAGE_MS,
  );
});

describe('the comparison of outputs', () => {
  it.each([
    ['times, dates and ids', 'ready in 12 ms at 10:11:12', 'ready in 0.4 s at 23:59:59', false],
    ['widths of columns', 'name   state\na      b', 'name state\na b', false],
    ['text that the page leaves out', 'one two three\nfour\nfive\nsix', 'one … three\n…\nsix', false],
    ['lines between those of a gateway', 'log\nready\nlog', 'ready', true],
  ])('allows other %s', (_what, printed, expected, isPart) => {
    expect(outputProblem(printed, expected, isPart)).toBeUndefined();
  });

  it('refuses other text, missing lines and more lines', () => {
    for (const printed of ['one\ntwo', 'one', 'one\n2\n3', '']) {
      expect(outputProblem(printed, 'one\n2', false)).toContain('the page shows');
    }
    expect(outputProblem('two\none', 'one\ntwo', true)).toContain('the page shows');
  });

  it('reads commands and their output', () => {
    expect(consoleSteps({ line: 4, text: '$ one \\\n  --flag\nout\n\n$ two' })).toEqual([
      { line: 5, command: 'one \\\n  --flag', expected: 'out' },
      { line: 9, command: 'two', expected: '' },
    ]);
    expect(() => consoleSteps({ line: 4, text: 'out' })).toThrow('begins with');
  });
});
