import { expect, it } from 'vitest';
import { createGatewayLog } from '../../../../hosts/shared/gateway-log/index.ts';

/** A log whose lines are collected. */
function collected(level: 'debug' | 'info' | 'warn') {
  const lines: string[] = [];
  const stream = { isTTY: false, write: (text: string) => lines.push(text) > 0 };
  return { lines, log: createGatewayLog({ level, stream, now: () => 0 }) };
}

it('writes JSON lines to a stream that is not a terminal, and stores those about a backend', () => {
  const { lines, log } = collected('warn');
  log.log.info('below the level', { backend: 'one' });
  log.log.warn('about a backend', { backend: 'one', tools: 3 });
  log.log.error('about none');
  log.log.programLine?.('one', 'from its stderr');
  const time = '1970-01-01T00:00:00.000Z';
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { time, level: 'warn', message: 'about a backend', backend: 'one', tools: 3 },
    { time, level: 'error', message: 'about none' },
  ]);
  expect(log.of('one', 10)).toEqual([
    { time, backend: 'one', level: 'warn', message: 'about a backend', fields: { backend: 'one', tools: 3 } },
    { time, backend: 'one', level: 'output', message: 'from its stderr' },
  ]);
});

it('changes the level of the same log', () => {
  const { lines, log } = collected('info');
  log.setLevel('debug');
  log.log.debug('now');
  log.setLevel('info');
  log.log.debug('no more');
  expect(lines).toHaveLength(1);
});
