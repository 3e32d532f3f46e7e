import { type Caller, definePlugin, tapDecision } from '@toolmgr/core';
import { testGateway, text } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { proves } from '../../../support/proves.ts';
import { allow, patching, type WebhookServer, webhookServer } from '../../../support/webhook-server.ts';
import { farServer, hook, hooked, toolCalls } from './support.ts';

const ADA: Caller = {
  issuer: 'https://id.example.com',
  subject: 'ada',
  key: 'https://id.example.com\0ada',
  name: 'Ada',
  claims: { sub: 'ada', email: 'ada@example.com', groups: ['dev'], tier: 3 },
  token: secretOf('the-token'),
};

const callers = definePlugin({
  address: 'test/callers',
  config: z.strictObject({}),
  apply({ hooks }) {
    hooks.authenticate.tap('test/callers', () => ADA);
  },
});

const policy = definePlugin({
  address: 'test/policy',
  config: z.strictObject({}),
  apply({ hooks }) {
    tapDecision(hooks, 'test/policy', ({ key }) =>
      key === 'other' ? { refused: true, status: 403, reason: 'not for you' } : undefined,
    );
  },
});

const FORM = { type: 'object', properties: { name: { type: 'string' } } };

const seen = ({ requests }: WebhookServer): string[] =>
  requests.map(({ payload: { mcp_request: request } }) => {
    const { method, params } = request as { method?: string; params: { name?: string; uri?: string } };
    return `${method} ${params.name ?? params.uri ?? ''}`.trim();
  });

describe('a payload', () => {
  proves(
    'choice.webhooks.payload',
    'has the identity of the caller, the place of the call and the request',
    async () => {
      await using server = await webhookServer(allow);
      await using kit = await hooked({ validating: [hook(server)], transport: 'stdio' }, { plugins: [callers] });
      const client = await kit.client({ headers: { authorization: 'Bearer the-token' } });
      await client.callTool('echo', { n: 1 }, { 'example.com/tag': 'x' });
      const [request] = server.requests;
      expect(request?.headers).toMatchObject({ 'content-type': 'application/json' });
      expect(request?.headers['x-toolmgr-signature']).toBeUndefined();
      expect(request?.payload).toEqual({
        version: 'v0.1.0',
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        principal: { sub: 'ada', name: 'Ada', email: 'ada@example.com', groups: ['dev'], claims: ADA.claims },
        context: { server_name: 'hooked', backend_server: 'far', transport: 'stdio' },
        mcp_request: {
          jsonrpc: '2.0',
          id: expect.any(String),
          method: 'tools/call',
          params: { name: 'echo', arguments: { n: 1 }, _meta: { 'example.com/tag': 'x' } },
        },
      });
      expect(request?.body.toString()).not.toContain('the-token');
    },
  );

  proves('choice.webhooks.payload', 'has no principal for an anonymous caller', async () => {
    await using server = await webhookServer(allow);
    await using kit = await hooked({ mutating: [hook(server)] });
    await (await kit.client({ era: '2025-11-25' })).callTool('echo', {});
    expect(server.requests[0]?.payload.principal).toBeNull();
  });
});

describe('webhooks see', () => {
  proves('choice.webhooks.every-call', 'calls of both revisions, unknown names and subscriptions', async () => {
    for (const era of ['2025-11-25', '2026-07-28'] as const) {
      await using server = await webhookServer(allow);
      await using kit = await hooked({ validating: [hook(server)] });
      const client = await kit.client({ era });
      await client.toolNames();
      await client.callTool('echo', {});
      await client.request('prompts/get', { name: 'plan' });
      await client.request('resources/read', { uri: 'memo://1' });
      await client.request('completion/complete', {
        ref: { type: 'ref/prompt', name: 'plan' },
        argument: { name: 'a', value: '' },
      });
      await client.request('tools/call', { name: 'unknown' });
      if (era === '2025-11-25') await client.request('resources/subscribe', { uri: 'memo://1' });
      expect(seen(server)).toEqual([
        ...[
          'tools/call echo',
          'prompts/get plan',
          'resources/read memo://1',
          'completion/complete',
          'tools/call unknown',
        ],
        ...(era === '2025-11-25' ? ['resources/subscribe memo://1'] : []),
      ]);
    }
  });

  proves(
    'choice.webhooks.every-call',
    'the steps of composite tools, each once, with the arguments that are sent',
    async () => {
      await using mutating = await webhookServer(
        ({
          payload: {
            mcp_request: { params },
          },
        }) =>
          params.name === 'far_echo' || params.name === 'echo'
            ? {
                allowed: true,
                patch_type: 'json_patch',
                patch: [{ op: 'add', path: '/mcp_request/params/arguments/by', value: 'hook' }],
              }
            : { allowed: true },
      );
      await using validating = await webhookServer(
        ({
          payload: {
            mcp_request: { params },
          },
        }) => ({
          allowed: (params.arguments as { n?: unknown }).n !== 'bad',
        }),
      );
      const far = farServer();
      await using kit = await testGateway({
        catalogue,
        plan: {
          plugins: [
            { use: 'interception/webhooks', with: { mutating: [hook(mutating)], validating: [hook(validating)] } },
            {
              use: 'composite/engine',
              with: {
                compositeTools: [
                  {
                    name: 'twice',
                    description: 'd',
                    parameters: { type: 'object', properties: { n: { type: 'string' }, m: { type: 'string' } } },
                    steps: [{ id: 'a', tool: 'far.echo', arguments: { n: '{{.params.m}}' } }],
                  },
                ],
              },
            },
          ],
        },
        backends: { far },
      });
      const client = await kit.client();
      await client.callTool('twice', { n: 'x', m: 'good' });
      expect(seen(validating)).toEqual(['tools/call twice', 'tools/call echo']);
      expect(seen(mutating)).toEqual(['tools/call twice', 'tools/call echo']);
      expect(validating.requests[1]?.payload.mcp_request.params.arguments).toEqual({ n: 'good', by: 'hook' });
      expect(toolCalls(far).map((params) => params.arguments)).toEqual([{ n: 'good', by: 'hook' }]);
      const denied = await client.callTool('twice', { n: 'x', m: 'bad' });
      expect(denied.isError).toBe(true);
      expect(toolCalls(far)).toHaveLength(1);
    },
  );
});

describe('a call that a webhook renames', () => {
  const renaming = (to: string) => patching({ op: 'replace', path: '/mcp_request/params/name', value: to });

  proves(
    'choice.webhooks.rename-decided-again',
    'is looked up, validated and authorized under its new name',
    async () => {
      await using validating = await webhookServer(allow);
      const outcome = async (to: string, plugins = [policy]) => {
        await using mutating = await webhookServer(renaming(to));
        const config = { mutating: [hook(mutating)], validating: [hook(validating)] };
        await using kit = await hooked(config, { plugins, far: farServer().tool('hidden') });
        const reply = await (await kit.client()).request('tools/call', { name: 'echo', arguments: {} });
        return [reply.status, reply.error?.code, toolCalls(kit.far).map(({ name }) => name)];
      };
      expect(await outcome('other')).toEqual([403, 403, []]);
      expect(await outcome('missing')).toEqual([200, -32602, []]);
      expect(await outcome('other', [])).toEqual([200, undefined, ['other']]);
      // a refused call that is not listed is decided once more as one of an unknown name
      expect(seen(validating)).toEqual(['tools/call other', 'tools/call other', 'tools/call other']);
    },
  );

  proves(
    'choice.webhooks.rename-decided-again',
    'or whose arguments it changes still gets the answers to its input requests',
    async () => {
      await using mutating = await webhookServer(
        patching({ op: 'add', path: '/mcp_request/params/arguments/by', value: 'hook' }),
      );
      const far = farServer(['2026-07-28']).tool('asks', ({ params, arguments: given }) => {
        if (params.inputResponses !== undefined) return text(JSON.stringify([given, params.inputResponses]));
        const who = { method: 'elicitation/create', params: { mode: 'form', message: 'who?', requestedSchema: FORM } };
        return { resultType: 'input_required', inputRequests: { who }, requestState: 'state' };
      });
      await using kit = await hooked({ mutating: [hook(mutating)] }, { far });
      for (const era of ['2025-11-25', '2026-07-28'] as const) {
        const client = await kit.client({
          era,
          capabilities: { elicitation: { form: {} } },
          answer: () => ({ action: 'accept', content: {} }),
        });
        const result = await client.callTool('asks', { n: 1 });
        expect(JSON.stringify(result.content)).toContain('accept');
        expect(JSON.stringify(result.content)).toContain('hook');
      }
    },
  );
});
