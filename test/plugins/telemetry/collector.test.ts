import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { telemetryConfig } from '../../../plugins/telemetry/config.ts';
import { openExporters } from '../../../plugins/telemetry/exporters.ts';
import telemetry from '../../../plugins/telemetry/index.ts';
import { forwardProxy } from '../../support/forward-proxy.ts';
import { otlpReceiver } from '../../support/otlp-receiver.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { tracedGateway } from './traced-gateway.ts';

/** Maximum duration of a stop: its bound of 3 s, plus a margin for a busy machine. */
const STOP_MS = 8_000;

const traced = (endpoint: string, more: object = {}) =>
  telemetryConfig.parse({ endpoint, tracingEnabled: true, samplingRate: '1', ...more });

/** Traces one call, stops the gateway and returns its log. */
const callOnce = async (config: object): Promise<readonly string[]> => {
  const kit = await testGateway({
    plugins: [telemetry],
    plan: { plugins: [{ use: 'telemetry', with: config }] },
    backends: { far: fakeServer().tool('read') },
  });
  await (await kit.client()).callTool('read');
  await kit.gateway.stop();
  return kit.logged;
};

describe('exports', () => {
  proves('vmcp.telemetry.headers', 'have the configured headers and the path of their signal', async () => {
    await using collector = await otlpReceiver();
    process.env.OTEL_EXPORTER_OTLP_HEADERS = 'x-from-environment=e,x-tenant=overridden';
    try {
      await callOnce({
        endpoint: `http://${collector.address}/ingest`,
        headers: { 'X-Tenant': 'dev' },
        tracingEnabled: true,
        metricsEnabled: true,
        samplingRate: '1',
      });
    } finally {
      delete process.env.OTEL_EXPORTER_OTLP_HEADERS;
    }
    expect(collector.exports.map(({ path }) => path).sort()).toEqual(['/ingest/v1/metrics', '/ingest/v1/traces']);
    for (const { headers } of collector.exports) {
      expect(headers).toMatchObject({ 'x-tenant': 'dev', 'x-from-environment': 'e' });
    }
    expect(collector.spans).toHaveLength(2);
  });

  it('have headers whose values are secrets, and do not start without them', async () => {
    await using collector = await otlpReceiver();
    const config = traced(collector.address, { insecure: true, headersEnv: { 'X-Key': 'COLLECTOR_KEY' } });
    const exporters = await openExporters(pluginCore({ COLLECTOR_KEY: 'hunter2' }), config, []);
    exporters.tracer?.startSpan('x').end();
    await exporters.stop();
    expect(collector.exports.map(({ headers }) => headers['x-key'])).toEqual(['hunter2']);
    await expect(openExporters(pluginCore({}), config, [])).rejects.toThrow(
      /telemetry\.headersEnv\.X-Key: .*COLLECTOR_KEY/,
    );
    const twice = { endpoint: 'c:4318', tracingEnabled: true, headers: { 'x-key': 'a' }, headersEnv: { 'X-Key': 'B' } };
    expect(telemetryConfig.safeParse(twice).error?.message).toContain('a header is in headers too');
  });

  proves('choice.network.proxy-services', 'use the proxy of the environment', async () => {
    await using collector = await otlpReceiver();
    const proxy = await forwardProxy('ada:hidden');
    const port = collector.address.split(':').at(-1);
    vi.stubEnv('HTTP_PROXY', `http://ada:hidden@127.0.0.1:${proxy.port}`);
    try {
      await callOnce({ endpoint: `http://far.test:${port}`, tracingEnabled: true, samplingRate: '1' });
    } finally {
      vi.unstubAllEnvs();
    }
    expect(collector.spans.length).toBeGreaterThan(0);
    expect(proxy.asked).toContain(`POST http://far.test:${port}/v1/traces`);
  });

  describe('over TLS', () => {
    const folder = temporaryFolderOfFile('telemetry');
    let tls: { cert: string; key: string };
    let ca: string;
    beforeAll(async () => {
      ca = join(folder, 'ca.pem');
      const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
      const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
      openssl('req', '-x509', ...ec, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=Test CA');
      openssl(
        'req',
        ...ec.filter((word) => word !== '-days' && word !== '2'),
        '-keyout',
        'key.pem',
        '-out',
        'csr.pem',
        '-subj',
        '/CN=collector',
      );
      await writeFile(join(folder, 'ext'), 'subjectAltName=IP:127.0.0.1');
      const sign = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'ext'];
      openssl('x509', '-req', '-in', 'csr.pem', ...sign, '-out', 'cert.pem');
      const read = (name: string) => readFile(join(folder, name), 'utf8');
      tls = { cert: await read('cert.pem'), key: await read('key.pem') };
    });

    proves('vmcp.telemetry.ca-cert-path', 'trust only the CA of caCertPath', async () => {
      await using collector = await otlpReceiver({ tls });
      const config = { endpoint: collector.address, tracingEnabled: true, samplingRate: '1' };
      const [line, ...more] = await callOnce(config);
      expect(line).toMatch(/does not reach its collector.*(SELF_SIGNED|UNABLE_TO|CERT)/);
      expect(more).toEqual([]);
      expect(collector.spans).toEqual([]);
      expect(await callOnce({ ...config, caCertPath: ca })).toEqual([]);
      expect(collector.spans).toHaveLength(2);
    });

    it('with a wrong scheme are logged', async () => {
      await using collector = await otlpReceiver({ tls });
      const [line] = await callOnce({
        endpoint: collector.address,
        insecure: true,
        tracingEnabled: true,
        samplingRate: '1',
      });
      expect(line).toMatch(/was not sent before the stop|does not reach its collector/);
    });
  });

  it('do not start with a CA file that cannot be read', async () => {
    const config = { endpoint: 'c:4318', tracingEnabled: true, caCertPath: '/no/such/ca.pem' };
    await expect(callOnce(config)).rejects.toThrow(/telemetry\.caCertPath: cannot use \/no\/such\/ca\.pem: ENOENT/);
  });
});

describe('an unavailable collector', () => {
  proves('choice.telemetry.collector-away', 'is logged once, with its end and the number of lost items', async () => {
    await using collector = await otlpReceiver();
    const core = pluginCore();
    const exporters = await openExporters(
      core,
      traced(collector.address, { insecure: true, headers: { k: 'hunter2' } }),
      [],
    );
    const spanEnds = () => exporters.tracer?.startSpan('x').end();
    collector.answer(400); // not retried, so it fails at once
    for (let n = 1; n <= 2; n++) {
      spanEnds();
      await until(() => collector.exports.length === n);
    }
    await until(() => core.lines.length === 1);
    collector.answer(200);
    spanEnds();
    await until(() => core.lines.length === 2);
    const about = { signal: 'traces', collector: `http://${collector.address}` };
    expect(core.lines).toEqual([
      { level: 'warn', message: expect.stringMatching(/does not reach/), fields: { ...about, cause: 'HTTP 400' } },
      { level: 'info', message: expect.stringMatching(/again/), fields: { ...about, lost: 2, forMs: 0 } },
    ]);
    expect(collector.spans).toHaveLength(1);
    await exporters.stop();
  });

  it('delays no call, and its queue is bounded', async () => {
    const { address, close } = await silentServer();
    const core = pluginCore();
    const exporters = await openExporters(core, traced(address, { insecure: true }), []);
    const startedMs = performance.now();
    for (let n = 0; n < 50_000; n++)
      exporters.tracer?.startSpan('x', { attributes: { text: 'y'.repeat(1_000) } }).end();
    expect(performance.now() - startedMs).toBeLessThan(10_000);
    const used = process.memoryUsage().heapUsed;
    expect(used).toBeLessThan(500_000_000); // otherwise 50,000 spans of 1,000 characters would be queued
    await exporters.stop();
    await close();
  });

  proves('choice.telemetry.bounded-stop', 'does not delay a stop beyond its bound', async () => {
    const silent = await silentServer();
    for (const endpoint of ['127.0.0.1:9', silent.address]) {
      const startedMs = performance.now();
      await callOnce({ endpoint, insecure: true, tracingEnabled: true, metricsEnabled: true, samplingRate: '1' });
      expect(performance.now() - startedMs).toBeLessThan(STOP_MS);
    }
    await silent.close();
    await using world = await tracedGateway({ far: fakeServer().tool('read') });
    const client = await world.kit.client();
    for (let n = 0; n < 300; n++) await client.callTool('read');
    expect(await world.spans()).toHaveLength(600);
  });
});

describe('settings', () => {
  proves('choice.telemetry.not-loaded', 'that are off do not load telemetry', async () => {
    await using kit = await testGateway({ backends: { far: fakeServer().tool('read') } });
    expect(Object.values(kit.gateway.taps()).flat()).not.toContain('telemetry');
  });

  it('with a variable that looks like a secret log a warning without its value', async () => {
    process.env.TOOLMGR_TEST_API_TOKEN = 'hunter2';
    try {
      await using collector = await otlpReceiver();
      const logged = await callOnce({
        endpoint: collector.address,
        insecure: true,
        tracingEnabled: true,
        environmentVariables: ['TOOLMGR_TEST_API_TOKEN'],
      });
      expect(logged.join()).toMatch(/sounds|looks like a secret.*TOOLMGR_TEST_API_TOKEN/);
      expect(logged.join()).not.toContain('hunter2');
    } finally {
      delete process.env.TOOLMGR_TEST_API_TOKEN;
    }
  });
});

/** Accepts connections and never responds. */
async function silentServer(): Promise<{ readonly address: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const bound = server.address();
  return {
    address: `127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
