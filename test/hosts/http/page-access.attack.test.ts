import { connect } from 'node:net';
import { testGateway } from '@toolmgr/core/testing';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { LOOPBACK_NAMES, type Served, serveGateway } from '../../../hosts/http/listen.ts';
import type { HostRoute } from '../../../hosts/http/mount.ts';
import { type PageAccess, pageAccess } from '../../../hosts/http/page-access.ts';
import telemetry from '../../../plugins/telemetry/index.ts';
import { proves } from '../../support/proves.ts';

const TOKEN = 'op3n-sesame~1';
const SECRET = 'names-of-backends';

/** Sends one raw request; returns the status and the whole response. */
async function raw(port: number, head: readonly string[]): Promise<{ status: number; text: string }> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
  socket.write(`${[...head, 'Connection: close', '', ''].join('\r\n')}`);
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]), text };
}

let gateway: Awaited<ReturnType<typeof testGateway>>;
let served: Served;
let access: PageAccess | undefined;

beforeEach(async () => {
  gateway = await testGateway({
    plugins: [telemetry],
    plan: { plugins: [{ use: 'telemetry', with: { enablePrometheusMetricsPath: true } }] },
  });
  const page = (path: string): HostRoute => ({
    path,
    access: () => access,
    isOfHost: () => path !== '/metrics' || access !== undefined,
    answer: () => ({ status: 200, body: { told: SECRET } }),
  });
  served = await serveGateway(gateway.gateway, {
    ...{ host: '127.0.0.1', port: 0, allowedHosts: LOOPBACK_NAMES },
    routes: ['/status', '/api/backends/health', '/metrics'].map(page),
  });
});
afterEach(async () => {
  await served.close();
  await gateway.gateway.stop();
});

const SPELLINGS = [
  ...[
    '//status',
    '/status/',
    '/%73tatus',
    '/STATUS',
    '/./status',
    '/x/../status',
    '/status;x',
    '/status%00',
    '/status%2f',
  ],
  ...['//metrics', '/metrics/', '/%6detrics', '/METRICS', '/./metrics', '/x/../metrics', '/metrics;x', '/metrics#x'],
  ...['/\\metrics', 'http://127.0.0.1/metrics', 'http://127.0.0.1/status', '/api//backends/health', '/mcp/../metrics'],
];
/** Content of the gateway's own page. */
const METRICS = /^# TYPE /m;

describe.each([
  ['a token', pageAccess(TOKEN)],
  ['another listener', 'elsewhere' as const],
])('pages behind %s', (_, guarded) => {
  beforeEach(() => {
    access = guarded;
  });
  const refused = guarded === 'elsewhere' ? 404 : 401;
  const host = 'Host: 127.0.0.1';

  proves('choice.endpoint.status-guard-spellings', 'are not reachable by another spelling of their path', async () => {
    for (const path of SPELLINGS) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const { status, text } = await raw(served.port, [`${method} ${path} HTTP/1.1`, host, 'Content-Length: 0']);
        expect([path, method, status >= 400 && status < 500]).toEqual([path, method, true]);
        expect(text).not.toContain(SECRET);
        expect(text).not.toMatch(METRICS);
      }
    }
  });

  proves(
    'choice.endpoint.status-guard-spellings',
    'refuse every method in the same way, and a token outside its header',
    async () => {
      for (const path of ['/status', '/api/backends/health', '/metrics']) {
        for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE', 'PUT', 'TRACE']) {
          const { status, text } = await raw(served.port, [
            `${method} ${path}?access_token=${TOKEN}&token=${TOKEN} HTTP/1.1`,
            ...[host, `Cookie: token=${TOKEN}`, `Proxy-Authorization: Bearer ${TOKEN}`, 'Content-Length: 0'],
            ...[
              host.replace('Host: ', 'Origin: http://'),
              'Access-Control-Request-Method: GET',
              `X-Original-URL: ${path}`,
            ],
          ]);
          expect([path, method, status]).toEqual([path, method, refused]);
          expect(text).not.toContain(SECRET);
          expect(text).not.toMatch(METRICS);
          expect(text.toLowerCase()).not.toContain('access-control-allow');
        }
      }
    },
  );

  proves('choice.endpoint.status-guard-spellings', 'refuse values that only look like the token', async () => {
    for (const value of [
      ...['', 'Bearer', 'Bearer ', `Basic ${TOKEN}`, TOKEN, `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(0, -1)}`],
      ...[`Bearer ${TOKEN.toUpperCase()}`, `Bearer "${TOKEN}"`, `Bearer ${TOKEN},${TOKEN}`, `Bearer x ${TOKEN}`],
      `Bearer ${'x'.repeat(16_000)}`,
    ]) {
      const { status } = await raw(served.port, ['GET /status HTTP/1.1', host, `Authorization: ${value}`]);
      expect([value.slice(0, 40), status]).toEqual([value.slice(0, 40), refused]);
    }
    // the first of two counts, as in Node
    const two = ['GET /status HTTP/1.1', host, 'Authorization: Bearer wrong', `Authorization: Bearer ${TOKEN}`];
    expect((await raw(served.port, two)).status).toBe(refused);
  });

  proves(
    'choice.endpoint.status-guard-spellings',
    'refuse unknown Host names and Origins even with the token',
    async () => {
      const token = `Authorization: Bearer ${TOKEN}`;
      for (const path of ['/status', '/metrics']) {
        const get = `GET ${path} HTTP/1.1`;
        expect((await raw(served.port, [get, 'Host: evil.example', token])).status).toBe(403);
        expect((await raw(served.port, [get, 'Host: 127.0.0.1.evil.example', token])).status).toBe(403);
        const foreign = [get, host, token, 'Origin: https://evil.example'];
        expect((await raw(served.port, foreign)).status).toBe(guarded === 'elsewhere' ? 404 : 403);
        expect((await raw(served.port, [get, host, token, 'Origin: null'])).status).toBe(refused === 404 ? 404 : 403);
      }
      const right = await raw(served.port, ['GET /status HTTP/1.1', host, `authorization: bEARER   ${TOKEN}`]);
      expect(right.status).toBe(guarded === 'elsewhere' ? 404 : 200);
      expect(right.text.includes(SECRET)).toBe(guarded !== 'elsewhere');
    },
  );
});
