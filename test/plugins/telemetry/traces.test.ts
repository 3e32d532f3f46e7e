import { trace } from '@opentelemetry/api';
import { type CatalogEntry, definePlugin, type Era, encode, resultFromValue } from '@toolmgr/core';
import { fakeServer } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { proves } from '../../support/proves.ts';
import { tracedServer } from '../../support/traced-server.ts';
import { until } from '../../support/until.ts';
import { spanOf, tracedGateway } from './traced-gateway.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CLIENT_SPAN = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE}-${CLIENT_SPAN}-01`;
const NOT_SAMPLED = `00-${TRACE}-${CLIENT_SPAN}-00`;
const ERAS = ['2025-11-25', '2026-07-28'] as const satisfies readonly Era[];
const BACKEND_ERAS = ['legacy', 'modern'] as const;
const CELLS = ERAS.flatMap((client) => BACKEND_ERAS.map((backend) => [client, backend] as const));

describe('one trace', () => {
  proves(
    'choice.telemetry.continuous-trace',
    'covers client, gateway and backend in all four combinations, with headers and _meta',
    async () => {
      for (const [client, backendEra] of CELLS) {
        await using server = await tracedServer();
        await using world = await tracedGateway({
          far: { transport: 'streamable-http', url: server.url, era: backendEra },
        });
        const { kit } = world;
        const byHeader = await kit.client({ era: client, headers: { traceparent: SAMPLED, tracestate: 'v=1' } });
        await byHeader.callTool('echo', {});
        const byMeta = await kit.client({ era: client });
        await byMeta.callTool('echo', {}, { traceparent: SAMPLED, tracestate: 'v=2', baggage: 'tenant=a' });
        const spans = await world.spans();
        expect(server.calls, `${client} to ${backendEra}`).toHaveLength(2);
        for (const [index, { headers, meta }] of server.calls.entries()) {
          const [, traceId, spanId, flags] = String(headers.traceparent).split('-');
          expect([traceId, flags]).toEqual([TRACE, '01']);
          expect(meta.traceparent).toBe(headers.traceparent);
          expect([headers.tracestate, meta.tracestate]).toEqual([`v=${index + 1}`, `v=${index + 1}`]);
          const called = spans.find((span) => span.spanId === spanId);
          const asked = spans.find((span) => span.spanId === called?.parentSpanId);
          expect(called).toMatchObject({ name: 'tools/call echo', kind: 3, traceId: TRACE });
          expect(asked).toMatchObject({ name: 'tools/call echo', kind: 2, traceId: TRACE, parentSpanId: CLIENT_SPAN });
        }
        expect(server.calls[1]?.headers.baggage).toBe('tenant=a');
        expect(server.calls[1]?.meta.baggage).toBe('tenant=a');
      }
    },
  );

  it('starts in the gateway when the client sends none', async () => {
    const far = fakeServer().tool('read');
    await using world = await tracedGateway({ far });
    await (await world.kit.client()).callTool('read');
    const spans = await world.spans();
    const asked = spanOf(spans, 'tools/call read', 2);
    const called = spanOf(spans, 'tools/call read', 3);
    expect(asked.parentSpanId).toBe('');
    expect([called.traceId, called.parentSpanId]).toEqual([asked.traceId, asked.spanId]);
    const { params } = far.received.find(({ method }) => method === 'tools/call') ?? {};
    expect(params?._meta).toMatchObject({ traceparent: `00-${called.traceId}-${called.spanId}-01` });
  });

  proves('choice.telemetry.inner-calls', 'has inner calls as children of their tool', async () => {
    const virtual = definePlugin({
      address: 'testing/twice',
      config: z.strictObject({}),
      apply(core) {
        const twice: CatalogEntry<'tool'> = {
          kind: 'tool',
          key: 'twice',
          backend: 'testing/twice',
          original: 'twice',
          definition: encode({ name: 'twice', inputSchema: { type: 'object' } }),
          shapedBy: [],
          run: async (parent) => {
            await Promise.all([1, 2].map((n) => core.perform({ parent, name: 'read', arguments: { n } })));
            return resultFromValue({ content: [] });
          },
        };
        core.hooks.shapeCatalog.tap('testing/twice', (draft) => ({ ...draft, tools: [...draft.tools, twice] }));
      },
    });
    for (const era of ERAS) {
      await using world = await tracedGateway({ far: fakeServer().tool('read') }, {}, [virtual]);
      await (await world.kit.client({ era })).callTool('twice');
      const spans = await world.spans();
      const asked = spanOf(spans, 'tools/call twice', 2);
      const inner = spanOf(spans, 'tools/call twice', 1);
      expect(inner).toMatchObject({ parentSpanId: asked.spanId, traceId: asked.traceId });
      const reads = spans.filter(({ name, kind }) => name === 'tools/call read' && kind === 3);
      expect(reads.map(({ parentSpanId }) => parentSpanId)).toEqual([inner.spanId, inner.spanId]);
    }
  });
});

describe('sampling', () => {
  const flagsAfter = async (samplingRate: string, traceparent?: string) => {
    const far = fakeServer().tool('read');
    await using world = await tracedGateway({ far }, { samplingRate });
    const client = await world.kit.client(traceparent === undefined ? {} : { headers: { traceparent } });
    await client.callTool('read');
    await client.toolNames();
    const spans = await world.spans();
    const { params } = far.received.find(({ method }) => method === 'tools/call') ?? {};
    const contextFields = String((params?._meta as { traceparent?: string } | undefined)?.traceparent).split('-');
    return { spans: spans.length, traceId: contextFields[1], parent: contextFields[2], flags: contextFields[3] };
  };

  proves('choice.telemetry.parent-decides', 'is decided by the client and forwarded to the backend', async () => {
    expect(await flagsAfter('0', SAMPLED)).toMatchObject({ spans: 3, traceId: TRACE, flags: '01' });
    expect(await flagsAfter('1', NOT_SAMPLED)).toMatchObject({ spans: 0, traceId: TRACE, flags: '00' });
    expect(await flagsAfter('0')).toMatchObject({ spans: 0, flags: '00' });
    expect(await flagsAfter('1')).toMatchObject({ spans: 3, flags: '01' });
  });

  it('keeps about the configured share of traces', async () => {
    await using world = await tracedGateway({ far: fakeServer().tool('read') }, { samplingRate: '0.5' });
    const client = await world.kit.client();
    for (let n = 0; n < 200; n++) await client.request('tools/list');
    const kept = (await world.spans()).length;
    expect(kept).toBeGreaterThan(50); // 200 fair coins: less than one in 10^12 falls outside
    expect(kept).toBeLessThan(150);
  });

  proves('choice.telemetry.no-span-objects', 'is off without tracing: no context is created or changed', async () => {
    const far = fakeServer().tool('read');
    await using world = await tracedGateway({ far }, { tracingEnabled: false, metricsEnabled: true });
    const client = await world.kit.client();
    await client.callTool('read');
    await client.callTool('read', {}, { traceparent: SAMPLED });
    const metas = far.received.filter(({ method }) => method === 'tools/call').map(({ params }) => params._meta);
    expect(metas[0]).not.toHaveProperty('traceparent');
    expect(metas[1]).toMatchObject({ traceparent: SAMPLED });
    expect(await world.spans()).toEqual([]);
    expect(world.collector.exports.some(({ path }) => path.endsWith('/v1/traces'))).toBe(false);
  });
});

describe('the attributes of a span', () => {
  proves(
    [
      'vmcp.telemetry.service-name',
      'vmcp.telemetry.service-version',
      'vmcp.telemetry.custom-attributes',
      'vmcp.telemetry.environment-variables',
    ],
    'include the service name, custom attributes and environment variables',
    async () => {
      process.env.TOOLMGR_TEST_REGION = 'north';
      const settings = {
        customAttributes: { team: 'platform', 'service.namespace': 'tools' },
        environmentVariables: ['TOOLMGR_TEST_REGION', 'TOOLMGR_TEST_ABSENT'],
      };
      try {
        await using plain = await tracedGateway({ far: fakeServer().tool('read') }, settings);
        await (await plain.kit.client()).callTool('read');
        for (const span of await plain.spans()) {
          expect(span.resource).toMatchObject({
            'service.name': 'observed',
            'service.version': '0.1.0',
            'service.namespace': 'tools',
            team: 'platform',
          });
          expect(span.attributes['environment.TOOLMGR_TEST_REGION']).toBe('north');
          expect(span.attributes).not.toHaveProperty('environment.TOOLMGR_TEST_ABSENT');
        }
        await using named = await tracedGateway({}, { serviceName: 'mine', serviceVersion: '7' });
        await (await named.kit.client()).toolNames();
        const [span] = await named.spans();
        expect(span?.resource).toMatchObject({ 'service.name': 'mine', 'service.version': '7' });
      } finally {
        delete process.env.TOOLMGR_TEST_REGION;
      }
    },
  );

  proves('vmcp.telemetry.legacy-attributes', 'have former and current names, unless configured otherwise', async () => {
    const attributesWith = async (settings: object) => {
      await using world = await tracedGateway({ far: fakeServer().tool('read') }, settings);
      const client = await world.kit.client({ era: '2025-11-25', headers: { 'user-agent': 'tester/1' } });
      await client.callTool('read', { city: 'Oslo', token: 'hunter2' });
      const spans = await world.spans();
      return [spanOf(spans, 'tools/call read', 2).attributes, spanOf(spans, 'tools/call read', 3).attributes] as const;
    };
    const current = {
      'http.request.method': 'POST',
      'url.path': '/mcp',
      'url.full': 'http://localhost/mcp',
      'user_agent.original': 'tester/1',
      'http.response.status_code': 200,
      'mcp.method.name': 'tools/call',
      'rpc.system.name': 'jsonrpc',
      'jsonrpc.protocol.version': '2.0',
      'jsonrpc.request.id': '2',
      'gen_ai.tool.name': 'read',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.arguments': 'city=Oslo, token=[masked]',
      'network.transport': 'tcp',
      'mcp.client.name': 'test-client',
      'mcp.server.name': 'observed',
      'mcp.protocol.version': '2025-11-25',
      'mcp.session.id': expect.stringMatching(/./),
    };
    const old = {
      'http.method': 'POST',
      'http.target': '/mcp',
      'http.status_code': 200,
      'http.duration_ms': expect.any(Number),
      'mcp.method': 'tools/call',
      'rpc.system': 'jsonrpc',
      'rpc.service': 'mcp',
      'mcp.request.id': '2',
      'mcp.tool.name': 'read',
      'mcp.tool.arguments': 'city=Oslo, token=[masked]',
      'mcp.transport': 'streamable-http',
    };
    const [asked, called] = await attributesWith({});
    expect(asked).toMatchObject({ ...current, ...old });
    expect(called).toMatchObject({
      'gen_ai.tool.name': 'read',
      'mcp.tool.name': 'read',
      'mcp.backend.name': 'far',
      'mcp.backend.protocol.version': '2026-07-28',
      'network.transport': 'pipe',
      'mcp.transport': 'stdio',
    });
    const [today] = await attributesWith({ useLegacyAttributes: false });
    expect(today).toMatchObject(current);
    for (const name of Object.keys(old)) expect(today).not.toHaveProperty(name);
  });

  proves('choice.telemetry.no-secrets', 'contain the kind of an error, but never its text', async () => {
    await using server = await tracedServer();
    const far = fakeServer().tool('refuse', () => {
      throw { code: -32050, message: 'bad key hunter2', data: { key: 'hunter2' } };
    });
    await using world = await tracedGateway({
      far,
      http: { transport: 'streamable-http', url: server.url },
    });
    const client = await world.kit.client({ headers: { authorization: 'Bearer hunter2', cookie: 'hunter2' } });
    await client.callTool('fail', { password: 'hunter2' });
    await client.request('tools/call', { name: 'refuse', arguments: {} });
    await client.request('tools/call', { name: 'hunter2', arguments: {} });
    await client.request('hunter2/method');
    world.kit.setBackends({});
    const spans = await world.spans();
    expect(spanOf(spans, 'tools/call fail', 2)).toMatchObject({
      status: 2,
      attributes: { 'error.type': 'tool_error' },
    });
    expect(spanOf(spans, 'tools/call fail', 3)).toMatchObject({
      status: 2,
      attributes: { 'error.type': 'tool_error' },
    });
    expect(spanOf(spans, 'tools/call refuse', 3)).toMatchObject({
      status: 2,
      attributes: { 'error.type': '-32050', 'rpc.response.status_code': '-32050' },
    });
    expect(spanOf(spans, 'tools/call refuse', 2)).toMatchObject({ attributes: { 'error.type': '-32050' } });
    // an unknown tool is an error of the client, not a failure of the gateway
    expect(spanOf(spans, 'tools/call', 2)).toMatchObject({ status: 0, attributes: { 'error.type': '-32602' } });
    expect(JSON.stringify(spans)).not.toContain('hunter2');
    expect(spans.every(({ statusMessage }) => statusMessage === '')).toBe(true);
  });

  proves('choice.telemetry.no-secrets', 'contain the fault code when a backend is lost', async () => {
    const server = await tracedServer();
    await using world = await tracedGateway({ http: { transport: 'streamable-http', url: server.url } });
    const client = await world.kit.client();
    await until(async () => (await client.toolNames()).includes('fail'));
    await server[Symbol.asyncDispose]();
    await client.callTool('fail', {});
    const attributes = { 'error.type': 'BACKEND_UNREACHABLE' };
    expect(spanOf(await world.spans(), 'tools/call fail', 3)).toMatchObject({ status: 2, attributes });
  });

  it('contain the fault code when a backend is unavailable', async () => {
    const far = fakeServer()
      .tool('read')
      .on('tools/call', () => new Promise(() => {}));
    await using world = await tracedGateway({ far });
    const client = await world.kit.client();
    const gone = new AbortController();
    const asked = client.request('tools/call', { name: 'read', arguments: {} }, gone.signal).catch(() => undefined);
    await expect.poll(() => far.received.some(({ method }) => method === 'tools/call')).toBe(true);
    gone.abort();
    await asked;
    const called = spanOf(await world.spans(), 'tools/call read', 3);
    expect(called).toMatchObject({ status: 2, attributes: { 'error.type': 'cancelled' } });
  });
});

describe('two gateways of one process', () => {
  proves('choice.telemetry.one-per-gateway', 'are separate and set no globals', async () => {
    await using one = await tracedGateway({ far: fakeServer().tool('left') }, {}, [], 'one');
    await using two = await tracedGateway({ far: fakeServer().tool('right') }, {}, [], 'two');
    await Promise.all([
      one.kit.client().then((client) => client.callTool('left')),
      two.kit.client().then((client) => client.callTool('right')),
    ]);
    expect((await one.spans()).map(({ name }) => name)).toEqual(['tools/call left', 'tools/call left']);
    await (await two.kit.client()).callTool('right'); // this one still works after the other has stopped
    const spans = await two.spans();
    expect(spans).toHaveLength(4);
    expect(new Set(spans.map(({ resource }) => resource['service.name']))).toEqual(new Set(['two']));
    expect(trace.getTracer('x').startSpan('x').isRecording()).toBe(false);
    expect(Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'))?.trace).toBeUndefined();
  });
});
