import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningCli } from '../../../support/cli.ts';
import { type KubeCluster, missingKube, startKube } from '../../../support/kube.ts';
import { podRig } from '../../../support/pod.ts';
import { proves } from '../../../support/proves.ts';
import { recordingServer } from '../../../support/recording-server.ts';
import { until } from '../../../support/until.ts';

const missing = missingKube();
const LONG = 180_000;
const WAIT = 60_000;

let cluster: KubeCluster;
beforeAll(async () => {
  if (missing === undefined) cluster = await startKube({ controllers: false });
}, LONG);
afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

const HEADER = { type: 'header_injection', options: { headerName: 'X-Api-Key', headerValueEnv: 'KEY' } };
const KEY = { KEY: { name: 'far-key', key: 'value' } };

async function urlOf(pod: RunningCli): Promise<string> {
  const [, url = ''] = await pod.printed(/serves (http:\S+)/, WAIT);
  return url;
}

async function page(url: string, path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(new URL(path, url));
  return { status: answer.status, body: await answer.json() };
}

/** A client that counts `tools/list_changed`. */
async function watchingClient(url: string): Promise<{ client: Client; changes: () => number }> {
  let changes = 0;
  const client = new Client(
    { name: 'watcher', version: '1' },
    { versionNegotiation: { mode: 'legacy' }, capabilities: {} },
  );
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes += 1;
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, changes: () => changes };
}

const names = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name).filter((name) => name.endsWith('_echo'));

describe.skipIf(missing !== undefined)(`a pod in discovered mode ${missing ? `(skipped: ${missing})` : ''}`, () => {
  it(
    'serves discovered backends, follows them without a restart, and reads a changed secret',
    async () => {
      await using far = await recordingServer();
      await using rig = await podRig(cluster, ['far-key']);
      await rig.writeSecret('far-key', { value: 'first' });
      const one = { name: 'far', url: far.url, transport: 'streamable-http', auth: HEADER } as const;
      await rig.publish([{ ...one, authConfigRef: 'far-auth' }], KEY);
      await using pod = await rig.start('pod-a');
      const url = await urlOf(pod);
      await until(async () => (await page(url, '/readyz')).status === 200, WAIT);
      expect((await page(url, '/readyz')).body).toEqual({ status: 'ready', mode: 'dynamic' });
      const { client, changes } = await watchingClient(url);
      expect(await names(client)).toEqual(['far_echo']);
      const call = async (): Promise<unknown> => {
        await client.callTool({ name: 'far_echo', arguments: { message: 'hi' } });
        return far.calls.at(-1)?.['x-api-key'];
      };
      expect(await call()).toBe('first');
      expect((await page(url, '/status')).body).toMatchObject({
        backends: [{ name: 'far', auth_type: 'header_injection' }],
      });

      await rig.writeSecret('far-key', { value: 'second' });
      expect(await call()).toBe('first');
      const checksum = await rig.publish([{ ...one, authConfigRef: 'far-auth' }], KEY);
      await until(async () => (await call()) === 'second', WAIT);
      expect(pod.err()).not.toMatch(/first|second/);

      await rig.publish([one, { name: 'near', url: far.url, transport: 'streamable-http' }], KEY);
      await until(async () => changes() > 0 && (await names(client)).join() === 'far_echo,near_echo', WAIT);
      const before = changes();
      await rig.publish([{ name: 'near', url: far.url, transport: 'streamable-http' }]);
      await until(async () => changes() > before && (await names(client)).join() === 'near_echo', WAIT);
      await client.callTool({ name: 'near_echo', arguments: { message: 'hi' } });
      expect(far.calls.at(-1)?.['x-api-key']).toBeUndefined();
      expect(checksum).not.toBe((await rig.reports())['pod-a']?.backendsChecksum);
      await client.close();
    },
    LONG,
  );

  proves(
    [
      'vmcp.discovered-backend.name',
      'vmcp.discovered-backend.url',
      'vmcp.discovered-backend.status',
      'vmcp.discovered-backend.message',
      'vmcp.discovered-backend.auth-type',
      'vmcp.discovered-backend.auth-config-ref',
      'vmcp.discovered-backend.circuit-breaker-state',
      'vmcp.discovered-backend.circuit-last-changed',
      'vmcp.discovered-backend.consecutive-failures',
      'vmcp.discovered-backend.last-health-check',
      'vmcp.discovered-backend.mcp-revision',
      'vmcp.versioning.revision-reported',
    ],
    'reports what it sees of each backend at once, and removes its report when it stops',
    async () => {
      await using far = await recordingServer();
      await using rig = await podRig(cluster, ['far-key']);
      await rig.writeSecret('far-key', { value: 'first' });
      const away = { name: 'away', url: 'http://127.0.0.1:9/mcp?token=hidden', transport: 'streamable-http' } as const;
      const ready = { name: 'far', url: far.url, transport: 'streamable-http', auth: HEADER } as const;
      const checksum = await rig.publish([{ ...ready, authConfigRef: 'far-auth' }, away], KEY);
      const failureHandling = {
        ...{ healthCheckInterval: '1s', healthCheckTimeout: '500ms', unhealthyThreshold: 1 },
        ...{ statusReportingInterval: '3s', circuitBreaker: { enabled: true, failureThreshold: 2, timeout: '60s' } },
      };
      await using pod = await rig.start('pod-b', { operational: { failureHandling } });
      const report = async () => (await rig.reports())['pod-b'];
      const of = async (name: string) => (await report())?.backends.find((backend) => backend.name === name);
      await until(
        async () => (await of('away'))?.circuitBreakerState === 'open' && (await of('far'))?.status === 'ready',
        WAIT,
      );
      const now = await report();
      expect(now).toMatchObject({ configChecksum: 'checksum-of-pod-b', backendsChecksum: checksum });
      expect(await of('far')).toMatchObject({
        name: 'far',
        url: far.url,
        status: 'ready',
        authType: 'header_injection',
        authConfigRef: 'far-auth',
        circuitBreakerState: 'closed',
        consecutiveFailures: 0,
        mcpRevision: '2025-11-25',
        tools: 4,
      });
      expect(await of('away')).toMatchObject({
        url: 'http://127.0.0.1:9/mcp',
        status: 'unavailable',
        message: 'circuit open',
        authType: 'unauthenticated',
      });
      expect(await of('away')).not.toHaveProperty('mcpRevision');
      for (const field of ['circuitLastChanged', 'lastHealthCheck'] as const) {
        expect(new Date((await of('away'))?.[field] ?? '').getTime()).toBeGreaterThan(Date.now() - WAIT);
      }
      expect((await of('away'))?.consecutiveFailures).toBeGreaterThan(1);
      // without a change it is written once per interval
      const { reportedAt } = now ?? { reportedAt: '' };
      await until(async () => (await report())?.reportedAt !== reportedAt, WAIT);
      const elapsedMs = new Date((await report())?.reportedAt ?? '').getTime() - new Date(reportedAt).getTime();
      expect(elapsedMs).toBeGreaterThan(900);
      pod.signal('SIGTERM');
      expect((await pod.finished).code).toBe(0);
      expect(await report()).toBeUndefined();
    },
    LONG,
  );

  it(
    'keeps serving while the API server is away, and follows changes when it is back',
    async () => {
      await using far = await recordingServer();
      await using rig = await podRig(cluster);
      const one = { name: 'far', url: far.url, transport: 'streamable-http' } as const;
      await rig.publish([one]);
      await using pod = await rig.start('pod-c');
      const url = await urlOf(pod);
      const { client } = await watchingClient(url);
      await until(async () => (await names(client)).length === 1, WAIT);

      await cluster.killApiServer();
      await using waiting = await rig.start('pod-d');
      const waitingUrl = await urlOf(waiting);
      expect(await page(waitingUrl, '/readyz')).toEqual({
        status: 503,
        body: { status: 'not_ready', mode: 'dynamic', reason: 'cache_sync_pending' },
      });
      expect((await page(waitingUrl, '/health')).status).toBe(200);
      await client.callTool({ name: 'far_echo', arguments: { message: 'hi' } });
      expect((await page(url, '/readyz')).status).toBe(200);

      await cluster.startApiServer();
      await rig.publish([one, { ...one, name: 'near' }]);
      await cluster.compact();
      await until(async () => (await names(client)).length === 2, WAIT);
      await until(async () => (await page(waitingUrl, '/readyz')).status === 200, WAIT);
      await until(async () => Object.keys(await rig.reports()).join() === 'pod-c,pod-d', WAIT);
      await client.close();
    },
    LONG,
  );

  it(
    'keeps the last backends when the document is malformed',
    async () => {
      await using far = await recordingServer();
      await using rig = await podRig(cluster);
      await rig.publish([{ name: 'far', url: far.url, transport: 'streamable-http' }]);
      await using pod = await rig.start('pod-e');
      const { client } = await watchingClient(await urlOf(pod));
      await until(async () => (await names(client)).length === 1, WAIT);
      for (const [text, reason] of [
        ['{', 'no valid JSON'],
        ['{"checksum":"x","backends":[],"secrets":{},"more":1}', 'unknown key'],
        [
          JSON.stringify({
            ...{ checksum: 'x', secrets: {} },
            backends: [{ name: 'bad', url: 'file:///etc/passwd', transport: 'sse' }],
          }),
          'expected an http or https URL',
        ],
      ] as const) {
        await rig.publishText(text);
        await until(() => pod.err().includes(reason), WAIT);
      }
      expect(await names(client)).toEqual(['far_echo']);
      await client.close();
    },
    LONG,
  );
});
