import { expect, it } from 'vitest';
import { createGatewayLog } from '../../../../hosts/shared/gateway-log/index.ts';
import { proves } from '../../../support/proves.ts';

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

proves(
  'ask.start.failing-quiet',
  'a program that ends again and again has one JSON line and a count, and its last lines once, in their order',
  () => {
    const { lines, log } = collected('warn');
    const run = (...words: readonly string[]): void => {
      for (const word of words) log.log.programLine?.('one', word);
      log.log.warn('backend process ended', {
        backend: 'one',
        how: 'ended with exit code 3',
        stderr: words.join('\n'),
      });
    };
    for (let n = 0; n < 4; n++) run('cannot read key file', 'second line');
    expect(log.lastWords('one')).toEqual(['cannot read key file', 'second line']);
    run('cannot read key file', 'second line');
    expect(log.lastWords('one')).toEqual([]);
    run('another reason');
    expect(log.lastWords('one')).toEqual(['another reason']);
    log.close();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', message: 'backend process ended', how: 'ended with exit code 3' },
      { level: 'warn', message: expect.stringMatching(/^backend process ended … 5 more times/), backend: 'one' },
    ]);
  },
);

proves('ask.start.absent-package', 'a line that says all about an end has no stderr below it', () => {
  const { log } = collected('warn');
  for (const line of ['npm error code E404', 'npm error 404 Not Found']) log.log.programLine?.('one', line);
  log.log.warn('backend process ended', {
    backend: 'one',
    how: 'could not be started: the registry of npx has no package x',
    stderr: '',
  });
  expect(log.lastWords('one')).toEqual([]);
});
