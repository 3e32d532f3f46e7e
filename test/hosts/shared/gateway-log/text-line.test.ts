import { describe, expect, it } from 'vitest';
import { type LogEntry, textLine } from '../../../../hosts/shared/gateway-log/text-line.ts';
import { createTerminal } from '../../../../hosts/shared/terminal.ts';

const stream = { isTTY: true, write: () => true };
const PLAIN = createTerminal(stream, { NO_COLOR: '1' });
const COLOURED = createTerminal(stream, {});
const AT = new Date(2026, 0, 2, 9, 5, 7).getTime(); // local time

const entry = (more: Partial<LogEntry>): LogEntry => ({ atMs: AT, level: 'warn', message: 'it happened', ...more });

describe('a log line for people', () => {
  it('has the local time, level, backend, sentence with its reason, and the other fields', () => {
    const fields = { backend: 'github', malformed: 0, how: 'ended with exit code 1' };
    expect(textLine(entry({ message: 'backend process ended', fields }), PLAIN)).toBe(
      '09:05:07 warn  github  backend process ended: ended with exit code 1',
    );
    const lost = { backend: 'github', cause: 'backend "github" ended', tools: 0, ms: 12 };
    expect(textLine(entry({ message: 'backend lost', fields: lost }), PLAIN)).toBe(
      '09:05:07 warn  github  backend lost: ended  tools=0 ms=12',
    );
    expect(textLine(entry({ level: 'info' }), PLAIN)).toBe('09:05:07 info  it happened');
    expect(textLine(entry({ fields: { a: { b: [1] }, c: null } }), PLAIN)).toBe(
      '09:05:07 warn  it happened  a={"b":[1]} c=null',
    );
  });

  it('has colours on a terminal and none with NO_COLOR', () => {
    expect(textLine(entry({ level: 'error' }), COLOURED)).toContain('\u001b[31merror\u001b[39m');
    expect(textLine(entry({ level: 'error', fields: { a: 1 } }), PLAIN)).not.toContain('\u001b');
  });

  it('has lines of stderr and of a stack below it', () => {
    expect(textLine(entry({ fields: { stack: 'Error: x\n    at y' } }), PLAIN, ['last words'])).toBe(
      '09:05:07 warn  it happened\n         Error: x\n         at y\n         last words',
    );
  });

  it('changes nothing on the terminal, whatever a server says', () => {
    const hostile = 'a\u001b]0;title\u0007b\u001b[2Jc\rd\u001b[31me\u202ef\ng';
    const line = textLine(
      entry({ message: hostile, fields: { backend: hostile, cause: hostile, x: hostile } }),
      PLAIN,
      [hostile],
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must be absent
    expect(line.replaceAll('\n         ', '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });

  it('is bounded', () => {
    expect(textLine(entry({ fields: { cause: 'x'.repeat(1_000_000) } }), PLAIN).length).toBeLessThan(5_000);
  });
});

describe('colours', () => {
  const red = (env: NodeJS.ProcessEnv, isTTY = true) => createTerminal({ ...stream, isTTY }, env).red('x') !== 'x';
  it('follow NO_COLOR, FORCE_COLOR and TERM', () => {
    expect([red({}), red({ NO_COLOR: '' }), red({ FORCE_COLOR: '1' }, false)]).toEqual([true, true, true]);
    expect([red({}, false), red({ NO_COLOR: '1' }), red({ TERM: 'dumb' })]).toEqual([false, false, false]);
    expect([red({ FORCE_COLOR: '0' }), red({ FORCE_COLOR: '1', NO_COLOR: '1' })]).toEqual([false, false]);
    expect(red({ FORCE_COLOR: '1', TERM: 'dumb' })).toBe(true);
  });
});
