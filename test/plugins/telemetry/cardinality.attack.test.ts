import { fakeServer, type TestGateway, text } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { MAX_LABEL_VALUES } from '../../../plugins/telemetry/bounded-labels.ts';
import { prometheusSamples } from '../../support/prometheus-text.ts';
import { proves } from '../../support/proves.ts';
import { tracedServer } from '../../support/traced-server.ts';
import { tracedGateway } from './traced-gateway.ts';

const seriesOf = async ({ gateway }: TestGateway): Promise<number> => {
  const page = await gateway.fetch(new Request('http://localhost/metrics'));
  const samples = prometheusSamples(await page.text());
  // made by the machine, with the names of plugins and stages only
  return samples.filter(({ name }) => !name.startsWith('toolmgr_event_loop_blocked')).length;
};

const METRICS_ONLY = { tracingEnabled: false, enablePrometheusMetricsPath: true };

describe('an attack on the memory of metrics', () => {
  proves('choice.telemetry.bounded-series', 'by a client creates no series', async () => {
    const far = fakeServer()
      .tool('read')
      .template('note://{id}')
      .on('resources/read', () => ({ contents: [] }));
    await using world = await tracedGateway({ far }, METRICS_ONLY);
    const modern = await world.kit.client({ headers: { 'user-agent': 'u' } });
    const legacy = await world.kit.client({ era: '2025-11-25' });
    const round = async (n: number): Promise<void> => {
      for (const client of [modern, legacy]) {
        await client.request('tools/call', { name: `made-up-${n}`, arguments: {} });
        await client.request('resources/read', { uri: `note://${n}` });
        await client.request('resources/read', { uri: `nowhere://${n}` });
        await client.request('prompts/get', { name: `made-up-${n}` });
        await client.request(`made/up-${n}`);
        await client.notify(`notifications/made-up-${n}`);
      }
      const strange = new Request('http://localhost/mcp', { method: `MADE${n}` });
      await world.kit.gateway.fetch(strange);
      await world.kit.gateway.fetch(new Request(`http://localhost/made-up-${n}`));
    };
    for (let n = 0; n < 5; n++) await round(n);
    const before = await seriesOf(world.kit);
    for (let n = 5; n < 60; n++) await round(n);
    expect(await seriesOf(world.kit)).toBe(before);
  });

  proves('choice.telemetry.bounded-series', 'by a backend with many names ends at the bound', async () => {
    const count = MAX_LABEL_VALUES + 200;
    const far = fakeServer();
    for (let n = 0; n < count; n++) far.tool(`tool-${n}`, () => text('ok'));
    await using world = await tracedGateway({ far }, METRICS_ONLY);
    const client = await world.kit.client();
    for (let n = 0; n < count; n++) await client.callTool(`tool-${n}`);
    const page = await (await world.kit.gateway.fetch(new Request('http://localhost/metrics'))).text();
    const calls = prometheusSamples(page).filter(({ name }) => name === 'toolmgr_mcp_tool_calls_total');
    expect(calls).toHaveLength(MAX_LABEL_VALUES + 1);
    expect(calls.find(({ labels }) => labels.tool === '_OTHER')?.value).toBe(200);
  });

  proves('choice.telemetry.bounded-series', 'by a backend with many error codes ends at the bound', async () => {
    let code = -1;
    const far = fakeServer().tool('read', () => {
      throw { code: code--, message: 'no' };
    });
    await using world = await tracedGateway({ far }, METRICS_ONLY);
    const client = await world.kit.client();
    for (let n = 0; n < 150; n++) await client.request('tools/call', { name: 'read', arguments: {} });
    const page = await (await world.kit.gateway.fetch(new Request('http://localhost/metrics'))).text();
    const codes = new Set(prometheusSamples(page).map(({ labels }) => labels.error_type));
    expect(codes.size).toBeLessThanOrEqual(66); // 64, `_OTHER`, and the series without an error
    expect(codes).toContain('_OTHER');
  });
});

describe('an attack by trace context', () => {
  proves('choice.telemetry.baggage-is-no-header', 'adds no header to the request of the backend', async () => {
    await using server = await tracedServer();
    await using world = await tracedGateway({ far: { transport: 'streamable-http', url: server.url } });
    const client = await world.kit.client();
    const evil = 'a=1\r\nx-evil: yes\r\n\r\nGET / HTTP/1.1';
    const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const metas = [
      { baggage: evil },
      { baggage: `a=1;p${evil}` },
      { baggage: 'a=%0D%0Ax-evil: yes' },
      { traceparent: parent, tracestate: `v=1${evil}` },
      { traceparent: `${parent}\r\nx-evil: yes` },
      { traceparent: { evil }, baggage: [evil], tracestate: 7 },
      { baggage: `${'k=v,'.repeat(500_000)}` },
    ];
    for (const meta of metas) {
      expect(await client.callTool('echo', {}, meta as Parameters<typeof client.callTool>[2])).toBeDefined();
    }
    expect(server.calls).toHaveLength(metas.length);
    for (const { headers } of server.calls) {
      expect(headers).not.toHaveProperty('x-evil');
      expect(String(headers.baggage ?? '').length).toBeLessThanOrEqual(8_192);
      expect(headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
    }
    expect(world.kit.logged).toEqual([]);
  });
});
