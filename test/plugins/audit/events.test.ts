import { type Call, type Core, definePlugin, type Plugin, recordOf, resultFromValue } from '@toolmgr/core';
import { type FakeAnswer, fakeServer, text } from '@toolmgr/core/testing';
import {
  dataFound,
  pinChanged,
  signInChanged,
  type WorkflowAdvanced,
  workflowAdvanced,
} from '@toolmgr/plugins/kit/extension-points';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EVENT_TYPES } from '../../../plugins/audit/event-types.ts';

import { type AuditLine, audited, golden } from '../../support/audited.ts';
import { modernRequest, openSession, postModern, postStream } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const AGENT = { 'user-agent': 'golden/1' };

/** A backend with all features and simple results. */
function everything() {
  return fakeServer()
    .tool('add', () => text('3'))
    .tool('fails', () => text('no', { isError: true }))
    .tool('breaks', () => {
      throw { code: -32050, message: 'out of order' };
    })
    .prompt('greet', 'hello')
    .resource('file:///a', 'content')
    .on('completion/complete', () => ({ completion: { values: [] } }));
}

/** A tool that runs a workflow of one step and emits its events. */
const workflow: Plugin = definePlugin({
  address: 'test/workflow',
  config: z.strictObject({}),
  apply(core) {
    const definition = Buffer.from('{"name":"flow","inputSchema":{"type":"object"}}');
    core.hooks.shapeCatalog.tap('test/workflow', (draft) => ({
      ...draft,
      tools: [
        ...draft.tools,
        {
          kind: 'tool' as const,
          key: 'flow',
          backend: 'test/workflow',
          original: 'flow',
          definition,
          shapedBy: [],
          run: (call: Call) => runFlow(core, call),
        },
      ],
    }));
  },
});

async function runFlow(core: Core, call: Call) {
  const step = { id: 's1', type: 'tool', tool: 'add' };
  const tell = (change: WorkflowAdvanced['change'], more: Partial<WorkflowAdvanced> = {}): void =>
    core.hook(workflowAdvanced).call({
      change,
      call,
      workflowId: 'run-1',
      workflowName: 'flow',
      atMs: core.now(),
      ...more,
    });
  tell('started', { timeoutMs: 1000, stepCount: 1 });
  tell('step_started', { step });
  await core.perform({ parent: call, name: 'add', arguments: {} });
  tell('step_completed', { step, durationMs: 5 });
  tell('step_failed', { step, durationMs: 5, retryCount: 2 });
  tell('step_skipped', { step, condition: 'false' });
  tell('failed', { durationMs: 9 });
  tell('timed_out', { durationMs: 9 });
  tell('completed', { durationMs: 9 });
  return resultFromValue({ content: [] });
}

/** Emits the events of pins after a call. */
const pinning: Plugin = definePlugin({
  address: 'test/pinning',
  config: z.strictObject({}),
  apply: ({ hook, hooks, now }) =>
    hooks.callSettled.tap('test/pinning', ({ call }) => {
      if (call.name !== 'breaks') return;
      const pin = { backend: 'far', kind: 'tool', name: 'add', hash: `sha256:${'1'.repeat(64)}`, atMs: now() };
      hook(pinChanged).call({ ...pin, change: 'held', reason: 'its description changed since 2026-11-02' });
      hook(pinChanged).call({ ...pin, change: 'approved', by: 'ada' });
      hook(pinChanged).call({ ...pin, change: 'rejected' });
      hook(dataFound).call({
        ...{ call, direction: 'results', detector: 'card-number', action: 'block', count: 2, atMs: now() },
      });
      const done = { outcome: 'success', person: 'p-1', atMs: now() } as const;
      hook(signInChanged).call({ ...done, change: 'sign_in', outcome: 'denied', upstream: 'corp', reason: 'refused' });
      hook(signInChanged).call({ ...done, change: 'account_connected', upstream: 'corp' });
      hook(signInChanged).call({ ...done, change: 'account_disconnected', upstream: 'corp' });
      hook(signInChanged).call({ ...done, change: 'consent', client: 'c-1', scopes: ['openid', 'tools'] });
      hook(signInChanged).call({ change: 'client_registered', outcome: 'success', client: 'c-1', atMs: now() });
      hook(signInChanged).call({ ...done, change: 'session_revoked', client: 'c-1' });
    }),
});

const routes: Plugin = definePlugin({
  address: 'test/routes',
  config: z.strictObject({}),
  apply({ hooks }) {
    hooks.mount.tap('test/routes', (table) =>
      table.add('GET', '/about', (_inbound, _body, responder) => responder.send(200, {}, 'hello')),
    );
  },
});

describe('the audit trail', () => {
  proves(
    ['choice.audit.every-type', 'vmcp.audit.event-types', 'choice.audit.one-id'],
    'has an event of every type, from both eras',
    async () => {
      await using here = await audited({ far: everything() }, { plugins: [workflow, pinning, routes] });
      const session = await openSession(here.url, { headers: AGENT, capabilities: { roots: { listChanged: true } } });
      await session.request('ping');
      await session.request('tools/list');
      await session.request('prompts/list');
      await session.request('resources/list');
      await session.request('tools/call', { name: 'add', arguments: {} });
      await session.request('prompts/get', { name: 'greet' });
      await session.request('resources/read', { uri: 'file:///a' });
      await session.request('completion/complete', { ref: { type: 'ref/prompt', name: 'greet' }, argument: {} });
      await session.request('logging/setLevel', { level: 'info' });
      await session.request('resources/subscribe', { uri: 'file:///a' });
      await session.send({ method: 'notifications/roots/list_changed' });
      const stream = await session.get();
      await until(async () => (await here.lines()).some(({ type }) => type === 'sse_connection'));
      await stream.close();
      const options = { headers: AGENT };
      await postModern(here.url, 'tools/list', {}, options);
      await postModern(here.url, 'resources/templates/list', {}, options);
      await postModern(here.url, 'server/discover', {}, options);
      await postModern(here.url, 'tools/call', { name: 'fails', arguments: {} }, options);
      await postModern(here.url, 'tools/call', { name: 'breaks', arguments: {} }, options);
      await postModern(here.url, 'tools/call', { name: 'flow', arguments: {} }, options);
      await fetch(new URL('/about?token=s3cret', here.url), options);
      await here.kit.gateway.stop();
      const lines = await here.lines();
      expect([...new Set(lines.map(({ type }) => type))].sort()).toEqual([...EVENT_TYPES].sort());
      await expect(golden(lines)).toMatchFileSnapshot('../../golden/audit/lines.ndjson');
    },
  );

  it('records subscriptions/listen once, at its start', async () => {
    await using here = await audited({ far: everything() });
    const { body, headers } = modernRequest('subscriptions/listen', { notifications: { toolsListChanged: true } });
    const listening = await postStream(here.url, body, headers);
    const [line] = await here.lines();
    expect(line).toMatchObject({
      type: 'sse_connection',
      outcome: 'success',
      target: { method: 'subscriptions/listen' },
      metadata: { extra: { transport: 'sse' } },
    });
    await here.kit.gateway.stop();
    await listening.text();
    expect(await here.lines()).toHaveLength(1);
  });

  it('records a call of several rounds once, and an abandoned call when the gateway stops', async () => {
    const ask: FakeAnswer = async ({ ask }) => {
      await ask('elicitation/create', { mode: 'form', message: '?', requestedSchema: { type: 'object' } });
      return text('thanks');
    };
    await using here = await audited({ far: fakeServer(['2025-11-25']).tool('asks', ask) });
    const client = await here.kit.client({ capabilities: { elicitation: {} }, answer: () => ({ action: 'accept' }) });
    await client.callTool('asks');
    const left = await client.request('tools/call', { name: 'asks', arguments: {} });
    expect(left.result?.resultType).toBe('input_required');
    await here.kit.gateway.stop();
    const lines = await here.lines(2);
    expect(lines).toMatchObject([
      { type: 'mcp_tool_call', outcome: 'success', metadata: { extra: { rounds: 2 } } },
      { type: 'mcp_tool_call', outcome: 'failure', metadata: { extra: { abandoned: true } } },
    ]);
    expect(lines).toHaveLength(2);
  });

  it('records calls of an embedder as local', async () => {
    await using here = await audited({ far: everything() });
    await here.kit.gateway.perform({ name: 'add' });
    expect(await here.lines()).toMatchObject([{ type: 'mcp_tool_call', source: { type: 'local' } }]);
  });

  proves('choice.audit.one-id', 'gives a request, its workflow and its inner calls the same id', async () => {
    await using here = await audited({ far: everything() }, { plugins: [workflow] });
    await postModern(here.url, 'tools/call', { name: 'flow', arguments: {} });
    const lines = await here.lines(10);
    expect(lines).toHaveLength(10);
    expect(new Set(lines.map(({ source }) => source.extra.request_id)).size).toBe(1);
    const inner = lines.find(({ target }) => target.name === 'add');
    expect(inner).toMatchObject({ source: { type: 'local' }, metadata: { extra: { parent_name: 'flow' } } });
  });

  it("has the client's trace id, from the header or the message", async () => {
    await using here = await audited({ far: everything() });
    const trace = (digit: string): string => `00-${digit.repeat(32)}-00f067aa0ba902b7-01`;
    await postModern(here.url, 'tools/call', { name: 'add' }, { headers: { traceparent: trace('a') } });
    await postModern(here.url, 'tools/list', {}, { meta: { traceparent: trace('b') } });
    await postModern(here.url, 'tools/list', {}, { headers: { traceparent: 'nonsense' } });
    const ids = (await here.lines(3)).map(({ metadata }) => metadata.extra.trace_id);
    expect(ids).toEqual(['a'.repeat(32), 'b'.repeat(32), undefined]);
  });

  it("has the gateway's trace id when a plugin traces", async () => {
    const tracer: Plugin = definePlugin({
      address: 'test/tracer',
      config: z.strictObject({}),
      apply({ hooks }) {
        hooks.rewriteCall.tap('test/tracer', (call) => {
          const record = recordOf(call);
          if (record !== undefined) record.traceId = 'c'.repeat(32);
          return call;
        });
        hooks.requestSettled.tap('test/tracer', (record) => {
          record.traceId ??= 'd'.repeat(32);
        });
      },
    });
    await using here = await audited({ far: everything() }, { plugins: [tracer] });
    await postModern(here.url, 'tools/call', { name: 'add' });
    await postModern(here.url, 'tools/list');
    const ids = (await here.lines(2)).map(({ metadata }) => metadata.extra.trace_id);
    expect(ids).toEqual(['c'.repeat(32), 'd'.repeat(32)]);
  });

  proves(
    ['vmcp.audit.event-types', 'vmcp.audit.exclude-event-types', 'vmcp.audit.component'],
    'writes only included and not excluded types, with the name of its component',
    async () => {
      const config = {
        component: 'dev',
        eventTypes: ['mcp_tool_call', 'mcp_tools_list'],
        excludeEventTypes: ['mcp_tools_list'],
      };
      await using here = await audited({ far: everything() }, { config });
      await postModern(here.url, 'tools/list');
      await postModern(here.url, 'prompts/list');
      await postModern(here.url, 'tools/call', { name: 'add' });
      await here.kit.gateway.stop();
      expect(await here.lines()).toMatchObject([{ type: 'mcp_tool_call', component: 'dev' }]);
      expect(await here.lines()).toHaveLength(1);
    },
  );

  proves(
    ['vmcp.audit.detect-application-errors', 'vmcp.audit.detect-application-errors-prefix'],
    'records a JSON-RPC error with status 200 as an application error, unless detection is off',
    async () => {
      const outcomes = async (config: object): Promise<Pick<AuditLine, 'outcome' | 'metadata'>[]> => {
        await using here = await audited({ far: everything() }, { config });
        await postModern(here.url, 'tools/call', { name: 'breaks' });
        await postModern(here.url, 'tools/list', { cursor: 'nonsense' });
        return here.lines(2);
      };
      expect(await outcomes({})).toMatchObject([
        {
          outcome: 'application_error',
          metadata: { extra: { jsonrpc_error_code: -32050, jsonrpc_error_message: 'out of order' } },
        },
        { outcome: 'application_error', metadata: { extra: { jsonrpc_error_code: -32602 } } },
      ]);
      expect(await outcomes({ detectApplicationErrors: false })).toMatchObject([
        { outcome: 'success' },
        { outcome: 'success' },
      ]);
    },
  );
});
