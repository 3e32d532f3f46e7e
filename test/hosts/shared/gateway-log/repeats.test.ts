import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createGatewayLog } from '../../../../hosts/shared/gateway-log/index.ts';
import { MAX_KEYS, WINDOW_MS } from '../../../../hosts/shared/gateway-log/repeats.ts';

beforeEach(() => void vi.useFakeTimers({ now: 0 }));
afterEach(() => void vi.useRealTimers());

/** A log on a terminal, without the time at the beginning of its lines. */
function printed(format?: 'text' | 'json') {
  const lines: string[] = [];
  const write = (text: string) => lines.push(text.trimEnd().replace(/^\d\d:\d\d:\d\d /, '')) > 0;
  const log = createGatewayLog({ level: 'info', format, stream: { isTTY: true, write }, env: { NO_COLOR: '1' } });
  return { lines, gatewayLog: log, log: log.log };
}

it('a repeated line is printed once, then counted', () => {
  const { lines, log } = printed();
  for (let at = 0; at < 13; at++) log.warn('backend process ended', { backend: 'one', how: `exit ${at}`, pid: at });
  expect(lines).toEqual(['warn  one  backend process ended: exit 0  pid=0']);
  vi.advanceTimersByTime(WINDOW_MS);
  expect(lines.slice(1)).toEqual(['warn  one  backend process ended … 12 more times in 60 s']);
  vi.advanceTimersByTime(WINDOW_MS);
  log.warn('backend process ended', { backend: 'one', how: 'exit 1' });
  expect(lines).toHaveLength(3);
});

it('another backend, level or sentence is another line; identifiers do not matter', () => {
  const { lines, log } = printed();
  log.warn('a', { backend: 'one' });
  log.warn('a', { backend: 'two' });
  log.error('a', { backend: 'one' });
  log.warn('b', { backend: 'one' });
  expect(lines).toHaveLength(4);
  log.warn('a call failed', { cause: 'session 3f2b9a10-12ab-4c is gone' });
  log.warn('a call failed', { cause: 'session 77777777-99ff-4d is gone' });
  expect(lines).toHaveLength(5);
});

it('counts are printed when the log is closed, and when there are too many different lines', () => {
  const { lines, log, gatewayLog } = printed();
  for (let at = 0; at < 3; at++) log.warn('first');
  const letters = (at: number) => [...String(at)].map((digit) => 'qrstuvwxyz'[Number(digit)]).join('');
  for (let at = 0; at < MAX_KEYS; at++) log.warn(`line ${letters(at)}`);
  expect(lines).toContain('warn  first … 2 more times in 1 s');
  log.warn(`line ${letters(7)}`);
  gatewayLog.close();
  expect(lines.at(-1)).toBe(`warn  line ${letters(7)} … 1 more time in 1 s`);
});

it('the guide shows such lines', () => {
  const { lines, log } = printed();
  log.programLine?.('github', 'Error: Cannot find module "x"');
  for (let at = 0; at < 13; at++)
    log.warn('backend process ended', { backend: 'github', how: 'ended with exit code 1' });
  vi.advanceTimersByTime(WINDOW_MS);
  const guide = readFileSync(new URL('../../../../docs/guides/observability.md', import.meta.url), 'utf8');
  const block = /```text log\n(.*?)\n```/s.exec(guide)?.[1] ?? '';
  expect(block.replaceAll(/^\d\d:\d\d:\d\d /gm, '')).toBe(lines.join('\n'));
});

it('JSON has every line, except that the failures of one program are counted', () => {
  const { lines, log } = printed('json');
  for (let at = 0; at < 13; at++) log.warn('again', { backend: 'one' });
  expect(lines).toHaveLength(13);
  for (let at = 0; at < 13; at++) log.warn('backend process ended', { backend: 'one', how: 'exit 3' });
  vi.advanceTimersByTime(WINDOW_MS);
  expect(lines).toHaveLength(15);
});

it('a failure has one line, with the last lines of stderr below it', () => {
  const { lines, log } = printed();
  for (let at = 0; at < 8; at++) log.programLine?.('one', `line ${at}`);
  log.warn('backend process ended', { backend: 'one', how: 'exit', stderr: 'line 7' });
  log.warn('backend unavailable', { backend: 'one', cause: 'exit' });
  expect(lines[0]).toBe(
    ['warn  one  backend process ended: exit', ...[3, 4, 5, 6, 7].map((at) => `         line ${at}`)].join('\n'),
  );
  expect(lines).toHaveLength(1);
});

it('failures that a host shows itself are held, and the others are printed', () => {
  const { lines, log, gatewayLog } = printed();
  gatewayLog.holdFailures();
  log.warn('backend process ended', { backend: 'one', how: 'exit 3' });
  log.warn('backend is unavailable', { backend: 'one', cause: 'backend "one" exit 3' });
  log.warn('backend is unavailable', { backend: 'two', cause: 'refused' });
  expect([lines, gatewayLog.failureOf('one'), gatewayLog.failureOf('one')]).toEqual([[], 'exit 3', undefined]);
  gatewayLog.releaseFailures();
  log.warn('backend process ended', { backend: 'one', how: 'exit 3' });
  expect(lines).toEqual(['warn  two  backend is unavailable: refused']);
});
