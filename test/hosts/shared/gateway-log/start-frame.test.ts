import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { isLiveTerminal } from '../../../../hosts/shared/gateway-log/show-starts.ts';
import { type FrameOptions, type StartRow, startFrame } from '../../../../hosts/shared/gateway-log/start-frame.ts';
import { createTerminal } from '../../../../hosts/shared/terminal.ts';

const style = createTerminal({ isTTY: true, write: () => true }, { NO_COLOR: '1' });
const coloured = createTerminal({ isTTY: true, write: () => true }, {});
const options: FrameOptions = { width: 80, height: 24, tick: 0, style, hasUnicode: true };
const starting = (name: string): StartRow => ({ name, state: 'starting', seconds: 3 });

describe('live lines', () => {
  it('are one per backend, in columns', () => {
    const rows: StartRow[] = [
      starting('slow'),
      { name: 'github', state: 'ready', seconds: 1, tools: 1 },
      { name: 'x', state: 'failed', seconds: 1, cause: 'ended with exit code 1' },
    ];
    expect(startFrame(rows, options)).toEqual([
      '⠋ slow    starting, 3 s',
      '✔ github  ready, 1 tool',
      '✖ x       ended with exit code 1',
    ]);
    expect(startFrame(rows, { ...options, hasUnicode: false }).map((line) => line[0])).toEqual(['-', '+', 'x']);
  });

  it('move only the spinner', () => {
    expect(startFrame([starting('a')], { ...options, tick: 11 })).toEqual(['⠙ a  starting, 3 s']);
  });

  it('are those that still start, as many as fit, and a summary', () => {
    const rows = Array.from({ length: 30 }, (_, at): StartRow => {
      if (at < 5) return { name: `server-${at}`, state: at === 3 ? 'failed' : 'ready', seconds: 1 };
      return starting(`server-${at}`);
    });
    const lines = startFrame(rows, options);
    expect(lines).toHaveLength(22);
    expect(lines[0]).toBe('⠋ server-5   starting, 3 s');
    expect(lines.at(-1)).toBe('4 of 30 ready, 1 failed, 25 starting (4 not shown)');
    expect(startFrame(rows, { ...options, height: 2 })).toEqual([
      '4 of 30 ready, 1 failed, 25 starting (25 not shown)',
    ]);
  });

  it('are narrower than the terminal, also with wide, combined and hostile characters', () => {
    const names = [
      '日本語のサーバー',
      '👩‍👩‍👧‍👦 family',
      'e\u0301te\u0301',
      'a\u001b[2J\u001b]0;t\u0007b',
      'x'.repeat(500),
    ];
    for (const width of [5, 20, 40]) {
      for (const each of [style, coloured]) {
        const rows = names.map((name): StartRow => ({ name, state: 'failed', seconds: 1, cause: `${name}\n${name}` }));
        for (const line of startFrame(rows, { ...options, width, style: each })) {
          expect(stringWidth(line)).toBeLessThan(width);
          for (const sign of ['\n', '\u001b[2J', '\u0007']) expect(line).not.toContain(sign);
        }
      }
    }
  });
});

it('are drawn only on a terminal that can, and not in CI', () => {
  expect(isLiveTerminal({ isTTY: true }, { TERM: 'xterm' })).toBe(true);
  expect(isLiveTerminal({ isTTY: true }, { CI: '' })).toBe(true);
  expect(isLiveTerminal({}, {})).toBe(false);
  expect(isLiveTerminal({ isTTY: true }, { TERM: 'dumb' })).toBe(false);
  expect(isLiveTerminal({ isTTY: true }, { CI: 'true' })).toBe(false);
});
