import { definePlugin } from '@toolmgr/core';
import { fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { workflowAdvanced } from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import telemetry from '../../../plugins/telemetry/index.ts';
import { METRICS } from '../../../plugins/telemetry/metric-table.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { prometheusSamples, type Sample } from '../../support/prometheus-text.ts';
import { proves } from '../../support/proves.ts';
import { tracedServer } from '../../support/traced-server.ts';
import { until } from '../../support/until.ts';
import { tracedGateway } from './traced-gateway.ts';

const PROMETHEUS = { enablePrometheusMetricsPath: true };

const scraped = async ({ gateway }: TestGateway): Promise<readonly Sample[]> => {
  const response = await gateway.fetch(new Request('http://localhost/metrics'));
  expect(response.status).toBe(200);
  return prometheusSamples(await response.text());
};

const total = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}): number =>
  samples
    .filter((sample) => sample.name === name)
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0);

describe('/metrics', () => {
  proves(
    ['vmcp.telemetry.prometheus-path', 'vmcp.surface.metrics', 'choice.telemetry.metrics-open'],
    'is served on the main port without authentication, in the Prometheus format, and does not count scrapes',
    async () => {
      const refusing = definePlugin({
        address: 'testing/refusing',
        config: z.strictObject({}),
        apply: ({ hooks }) =>
          hooks.authenticate.tap('testing/refusing', () => ({ refused: true, status: 401, reason: 'no' })),
      });
      await using kit = await testGateway({
        plugins: [telemetry, refusing],
        plan: { plugins: [{ use: 'telemetry', with: PROMETHEUS }, { use: refusing.address }] },
      });
      await using served = await loopbackServer((request, response) => kit.gateway.handle(request, response));
      const refused = await fetch(`${served.url}/mcp`, { method: 'POST', body: '{}' });
      expect(refused.status).toBe(401);
      await refused.body?.cancel();
      const pages = await Promise.all(Array.from({ length: 5 }, () => fetch(`${served.url}/metrics`)));
      for (const page of pages) {
        expect(page.status).toBe(200);
        expect(page.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
        const samples = prometheusSamples(await page.text());
        expect(total(samples, 'toolmgr_mcp_requests_total')).toBe(1);
        expect(total(samples, 'toolmgr_mcp_requests_total', { status_code: '401', status: 'error' })).toBe(1);
      }
      const head = await fetch(`${served.url}/metrics`, { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    },
  );

  proves('vmcp.telemetry.prometheus-path', 'is off by default', async () => {
    await using world = await tracedGateway({});
    expect((await world.kit.gateway.fetch(new Request('http://localhost/metrics'))).status).toBe(404);
  });

  it('refuses web pages of other sites on loopback, like every path', async () => {
    await using kit = await testGateway({
      plugins: [telemetry],
      plan: { plugins: [{ use: 'telemetry', with: PROMETHEUS }] },
    });
    const foreign = new Request('http://evil.example/metrics', { headers: { host: 'evil.example' } });
    expect((await kit.gateway.fetch(foreign)).status).toBe(403);
  });
});

describe('metrics', () => {
  it('count requests, tool calls, backends and sessions', async () => {
    await using server = await tracedServer();
    await using world = await tracedGateway(
      {
        far: { transport: 'streamable-http', url: `${server.url}?key=hunter2` },
        near: fakeServer().prompt('greet', 'hi'),
      },
      PROMETHEUS,
    );
    const { kit } = world;
    const modern = await kit.client();
    const legacy = await kit.client({ era: '2025-11-25' });
    await modern.callTool('echo');
    await legacy.callTool('echo');
    await legacy.callTool('fail');
    await modern.request('prompts/get', { name: 'greet' });
    await legacy.close();
    const samples = await scraped(kit);
    const value = (name: string, labels?: Record<string, string>) => total(samples, name, labels);
    expect(value('toolmgr_mcp_tool_calls_total', { tool: 'echo', status: 'success' })).toBe(2);
    expect(value('toolmgr_mcp_tool_calls_total', { tool: 'fail', status: 'error' })).toBe(1);
    expect(value('toolmgr_mcp_requests_total', { mcp_method: 'tools/call', mcp_resource_id: 'echo' })).toBe(2);
    expect(value('toolmgr_mcp_requests_total', { mcp_method: 'initialize', status_code: '200' })).toBe(1);
    expect(value('toolmgr_mcp_requests_total', { method: 'DELETE', status: 'success' })).toBe(1);
    expect(value('toolmgr_mcp_request_duration_seconds_count', { mcp_method: 'tools/call' })).toBe(3);
    expect(value('mcp_server_operation_duration_seconds_count', { gen_ai_tool_name: 'echo' })).toBe(2);
    expect(value('mcp_server_operation_duration_seconds_count', { error_type: 'tool_error' })).toBe(1);
    expect(value('mcp_client_operation_duration_seconds_count', { gen_ai_prompt_name: 'greet' })).toBe(1);
    const far = { target_workload_name: 'far', target_base_url: server.url, target_transport_type: 'streamable-http' };
    expect(value('toolmgr_vmcp_backend_requests_total', { ...far, action: 'call_tool' })).toBe(3);
    expect(value('toolmgr_vmcp_backend_errors_total', { ...far, gen_ai_tool_name: 'fail' })).toBe(1);
    expect(value('toolmgr_vmcp_backend_errors_total', { gen_ai_tool_name: 'echo' })).toBe(0);
    expect(value('toolmgr_bytes_in_flight_limit')).toBeGreaterThan(1_000_000);
    expect(value('toolmgr_bytes_in_flight_refused')).toBe(0);
    expect(value('toolmgr_vmcp_backends_discovered')).toBe(2);
    expect(value('toolmgr_vmcp_backends', { status: 'healthy' })).toBe(2);
    expect(value('toolmgr_mcp_sessions_ended_total', { reason: 'deleted' })).toBe(1);
    expect(value('mcp_server_session_duration_seconds_count')).toBe(1);
    expect(JSON.stringify(samples)).not.toContain('hunter2');
    expect(
      samples.filter(({ name }) => name.startsWith('toolmgr_mcp_request_duration_seconds_bucket'))[0]?.labels.le,
    ).toBe('0.01');
  });

  it('count refused calls and ended workflows separately', async () => {
    const refusing = definePlugin({
      address: 'testing/refusing',
      config: z.strictObject({}),
      apply({ hooks, hook }) {
        hooks.limit.tap('testing/refusing', ({ name }) =>
          name === 'busy' ? { refused: true, status: 429, reason: 'slow down', retryAfterMs: 1 } : undefined,
        );
        hooks.callSettled.tap('testing/refusing', ({ call }) => {
          const told = { call, workflowId: 'w', workflowName: call.name, atMs: 0, durationMs: 5 };
          for (const change of ['started', 'step_failed', call.name === 'busy' ? 'timed_out' : 'completed'] as const) {
            hook(workflowAdvanced).call({ ...told, change });
          }
        });
      },
    });
    await using world = await tracedGateway({ far: fakeServer().tool('read').tool('busy') }, PROMETHEUS, [refusing]);
    for (const era of ['2025-11-25', '2026-07-28'] as const) {
      const client = await world.kit.client({ era });
      await client.callTool('read');
      await client.request('tools/call', { name: 'busy', arguments: {} });
    }
    const samples = await scraped(world.kit);
    const value = (name: string, labels?: Record<string, string>) => total(samples, name, labels);
    expect(value('toolmgr_mcp_calls_refused_total', { status_code: '429', mcp_method: 'tools/call' })).toBe(2);
    expect(value('toolmgr_mcp_tool_calls_total', { tool: 'busy', status: 'refused' })).toBe(2);
    expect(value('toolmgr_mcp_requests_total', { mcp_resource_id: 'busy', status: 'error' })).toBe(2);
    expect(value('mcp_server_operation_duration_seconds_count', { error_type: '429' })).toBe(2);
    expect(value('toolmgr_vmcp_backend_requests_total')).toBe(2);
    expect(value('toolmgr_vmcp_workflow_executions_total')).toBe(4);
    expect(value('toolmgr_vmcp_workflow_errors_total')).toBe(2);
    expect(value('toolmgr_vmcp_workflow_errors_total', { workflow_name: 'busy' })).toBe(2);
    expect(value('toolmgr_vmcp_workflow_duration_seconds_count', { workflow_name: 'read' })).toBe(2);
  });

  it('follow added and removed backends', async () => {
    await using world = await tracedGateway({ a: fakeServer().tool('x') }, PROMETHEUS);
    world.kit.setBackends({});
    await until(async () => total(await scraped(world.kit), 'toolmgr_vmcp_backends_discovered') === 0);
    const away = { transport: 'streamable-http', url: 'http://127.0.0.1:9/mcp' } as const;
    world.kit.setBackends({ b: away });
    await until(async () => total(await scraped(world.kit), 'toolmgr_vmcp_backends', { status: 'unhealthy' }) === 1);
  });

  it('count an open stream, and record it when it opens', async () => {
    await using world = await tracedGateway({ far: fakeServer().tool('read') }, PROMETHEUS);
    const open = async () => total(await scraped(world.kit), 'toolmgr_mcp_active_connections');
    const { gateway } = world.kit;
    const hello = await gateway.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'initialize',
          params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
        }),
      }),
    );
    const headers = { 'mcp-session-id': hello.headers.get('mcp-session-id') ?? '', accept: 'text/event-stream' };
    const leaving = new AbortController();
    const stream = await gateway.fetch(new Request('http://localhost/mcp', { headers, signal: leaving.signal }));
    expect(stream.status).toBe(200);
    expect(await open()).toBe(1);
    expect(total(await scraped(world.kit), 'toolmgr_mcp_requests_total', { method: 'GET' })).toBe(1);
    await stream.body?.cancel();
    leaving.abort();
    await until(async () => (await open()) === 0);
    expect(total(await scraped(world.kit), 'toolmgr_mcp_requests_total', { method: 'GET' })).toBe(1);
  });

  proves(
    ['vmcp.telemetry.metrics-enabled', 'choice.telemetry.no-request-ids'],
    'are sent at the latest at the stop, with exactly the labels of their table',
    async () => {
      await using world = await tracedGateway({ far: fakeServer().tool('read').tool('ask') }, { metricsEnabled: true });
      for (const era of ['2025-11-25', '2026-07-28'] as const) {
        const client = await world.kit.client({ era });
        await client.callTool('read', { secret: 'hunter2' });
        await client.request('tools/call', { name: 'absent' });
        await client.close();
      }
      await world.kit.gateway.stop();
      const { points } = world.collector;
      expect(points.length).toBeGreaterThan(10);
      for (const { name, attributes, resource } of points) {
        const row = METRICS[name as keyof typeof METRICS] as (typeof METRICS)[keyof typeof METRICS] | undefined;
        expect(row, name).toBeDefined();
        const labels: readonly string[] = row?.labels ?? [];
        expect(
          Object.keys(attributes).filter((label) => !labels.includes(label)),
          name,
        ).toEqual([]);
        expect(resource['service.name']).toBe('observed');
      }
      const values = points.flatMap(({ attributes }) => Object.values(attributes).map(String));
      expect(
        values.filter((value) => /[0-9a-f]{8}-[0-9a-f]{4}|hunter2|anonymous|test-client|absent/.test(value)),
      ).toEqual([]);
      const calls = points.filter(({ name }) => name === 'toolmgr_mcp_tool_calls');
      expect(calls.map(({ value, attributes }) => [value, attributes.tool])).toEqual([[2, 'read']]);
    },
  );
});
