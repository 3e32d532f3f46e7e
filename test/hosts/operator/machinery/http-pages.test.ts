import { describe, expect, test } from 'vitest';
import { addressFrom, servePages } from '../../../../hosts/operator/machinery/http-pages.ts';
import { createMetrics } from '../../../../hosts/operator/machinery/metrics.ts';
import { prometheusSamples } from '../../../support/prometheus-text.ts';

describe('an address to listen on', () => {
  test.each([
    [':8080', { host: undefined, port: 8080 }],
    ['127.0.0.1:0', { host: '127.0.0.1', port: 0 }],
    ['[::1]:8081', { host: '::1', port: 8081 }],
    ['localhost:80', { host: 'localhost', port: 80 }],
    ['0', 'none'],
    ['8080', undefined],
    [':99999', undefined],
    ['http://a:1', undefined],
  ])('%s', (text, address) => {
    expect(addressFrom(text)).toEqual(address);
  });
});

describe('the pages of a process', () => {
  test('are served by path; others are not found, and a page that fails says only that', async () => {
    await using served = await servePages(
      { host: '127.0.0.1', port: 0 },
      {
        '/healthz': () => ({ status: 200, text: 'ok\n' }),
        '/readyz': () => ({ status: 503, text: 'ConfigMap: not read\n' }),
        '/fails': () => Promise.reject(new Error('secret')),
      },
    );
    const read = async (path: string, method = 'GET') => {
      const answer = await fetch(`http://127.0.0.1:${served.port}${path}`, { method });
      return [answer.status, await answer.text()];
    };
    expect(await read('/healthz?verbose')).toEqual([200, 'ok\n']);
    expect(await read('/healthz', 'HEAD')).toEqual([200, '']);
    expect(await read('/readyz')).toEqual([503, 'ConfigMap: not read\n']);
    expect(await read('/fails')).toEqual([500, 'the page failed\n']);
    for (const path of ['/', '/constructor', '/__proto__']) expect((await read(path))[0]).toBe(404);
    expect((await read('/healthz', 'POST'))[0]).toBe(404);
    await expect(servePages({ host: '127.0.0.1', port: served.port }, {})).rejects.toThrow('EADDRINUSE');
  });

  test('show the metrics in the text format of Prometheus', async () => {
    const metrics = createMetrics('test_operator', () => ({
      queueDepths: () => [['maps', 3]],
      objects: () => [
        ['ConfigMap', 'Ready', 2],
        ['ConfigMap', '', 1],
      ],
      isLeader: () => true,
    }));
    metrics.reconciled('maps', 20, false);
    metrics.reconciled('maps', 3_000, true);
    metrics.requeued('maps');
    metrics.watchRestarted('ConfigMap', 'expired');
    metrics.apiAnswered({ method: 'GET', status: 200, isWatch: true });
    const samples = prometheusSamples(await metrics.page());
    const value = (name: string, labels: Record<string, string>) =>
      samples.find((each) => each.name === `test_operator_${name}` && isSubset(labels, each.labels))?.value;
    expect(value('queue_depth', { controller: 'maps' })).toBe(3);
    expect(value('objects', { kind: 'ConfigMap', phase: 'Ready' })).toBe(2);
    expect(value('leader', {})).toBe(1);
    expect(value('reconcile_duration_seconds_bucket', { controller: 'maps', le: '0.05' })).toBe(1);
    expect(value('reconcile_duration_seconds_count', { controller: 'maps' })).toBe(2);
    expect(value('reconcile_errors_total', { controller: 'maps' })).toBe(1);
    expect(value('requeues_total', { controller: 'maps' })).toBe(1);
    expect(value('watch_restarts_total', { kind: 'ConfigMap', reason: 'expired' })).toBe(1);
    expect(value('api_requests_total', { method: 'GET', code: '200', watch: 'true' })).toBe(1);
  });
});

function isSubset(part: Record<string, string>, whole: Readonly<Record<string, string>>): boolean {
  return Object.entries(part).every(([name, value]) => whole[name] === value);
}
