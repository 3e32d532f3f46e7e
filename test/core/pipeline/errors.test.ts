import { definePlugin, type Era, type JsonObject } from '@toolmgr/core';
import { fakeClock, fakeServer, type TestReply, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { proves } from '../../support/proves.ts';
import { httpBackend, httpServer, legacyAnswers, modernAnswers } from '../backend/support.ts';

const MODERN: Era = '2026-07-28';
const ERAS: readonly Era[] = ['2025-11-25', MODERN];

/** As `choice.wire.method-error-200` wants it: the request itself was fine, so HTTP says so. */
const ok = (code: number, message: unknown = expect.any(String)) => ({ status: 200, error: { code, message } });

describe.each(ERAS)('a client of %s', (era) => {
  proves(
    ['choice.error.unknown-prompt', 'choice.wire.method-error-200'],
    'gets -32602 for an unknown prompt',
    async () => {
      await using kit = await testGateway({ backends: { far: fakeServer().prompt('plan', 'x').tool('t') } });
      const client = await kit.client({ era });
      expect(await client.request('prompts/get', { name: 'gone' })).toMatchObject(
        ok(-32602, 'unknown prompt: prompt "gone" not found'),
      );
      expect(await client.request('tools/call', { name: 'plan', arguments: {} })).toMatchObject(ok(-32602));
      expect(await client.request('prompts/get', { name: 't' })).toMatchObject(ok(-32602));
    },
  );

  proves('choice.error.bad-arguments', 'gets -32602 for arguments that are not an object', async () => {
    const server = fakeServer().tool('t').prompt('p', 'x');
    await using kit = await testGateway({ backends: { far: server } });
    const client = await kit.client({ era });
    for (const given of [[1], 'text', 5, true]) {
      expect(await client.request('tools/call', { name: 't', arguments: given })).toMatchObject(ok(-32602));
      expect(await client.request('prompts/get', { name: 'p', arguments: given })).toMatchObject(ok(-32602));
    }
    expect(server.received.some(({ method }) => method === 'tools/call' || method === 'prompts/get')).toBe(false);
    expect(await client.request('tools/call', { name: 't' })).toMatchObject({ status: 200, error: undefined });
  });

  proves(['choice.error.bad-cursor', 'choice.wire.method-error-200'], 'gets -32602 for a bad cursor', async () => {
    await using kit = await testGateway({ backends: { far: fakeServer().tool('t') } });
    const client = await kit.client({ era });
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      for (const cursor of ['nonsense', '', 7, {}, 'A'.repeat(600)]) {
        expect(await client.request(method, { cursor })).toMatchObject(ok(-32602));
      }
    }
  });

  proves(
    ['choice.error.backend-unreachable-tool', 'choice.error.backend-unreachable-other'],
    'is told which backend cannot be reached, by a result for tools and by an error otherwise, and no address',
    async () => {
      const capabilities = { tools: {}, prompts: {}, resources: {} };
      const lists: Readonly<Record<string, JsonObject>> = {
        'prompts/list': { prompts: [{ name: 'plan' }] },
        'resources/list': { resources: [{ uri: 'memo://1', name: 'memo' }] },
        'resources/templates/list': { resourceTemplates: [] },
      };
      const far = await httpServer(
        legacyAnswers({
          capabilities,
          before: ({ message, response }) => {
            const result = lists[message?.method ?? ''];
            if (result === undefined) return false;
            response.writeHead(200, { 'content-type': 'application/json' });
            response.end(JSON.stringify({ jsonrpc: '2.0', id: message?.id, result }));
            return true;
          },
        }),
      );
      await using kit = await testGateway({ backends: { billing: httpBackend(far.url) } });
      const client = await kit.client({ era });
      await far.close();
      const called = await client.request('tools/call', { name: 'echo', arguments: {} });
      expect(called).toMatchObject({ status: 200, result: { isError: true } });
      expect(JSON.stringify(called.result?.content)).toMatch(/billing.*BACKEND_UNREACHABLE/);
      const others: TestReply[] = [
        await client.request('prompts/get', { name: 'plan' }),
        await client.request('resources/read', { uri: 'memo://1' }),
      ];
      for (const reply of others) expect(reply).toMatchObject(ok(-32603, expect.stringMatching(/billing/)));
      const wire = [called, ...others].map((reply) => reply.text).join('\n');
      expect(wire).not.toMatch(/127\.0\.0\.1|ECONNREFUSED|:\d{4,5}|\bat /);
    },
  );

  it('gets an error that names the backends instead of an empty list when none of them was ever there', async () => {
    const far = await httpServer(legacyAnswers());
    await far.close();
    await using kit = await testGateway({ backends: { billing: httpBackend(far.url) } });
    const reply = await (await kit.client({ era })).request('tools/list');
    expect(reply).toMatchObject(ok(-32603, expect.stringMatching(/no backend is available: billing/)));
    expect(reply.text).not.toContain('127.0.0.1');
  });

  proves('choice.error.listing-fault', 'gets -32603 with a general text when a list fails', async () => {
    const torn = definePlugin({
      address: 'torn',
      config: z.strictObject({}),
      apply: ({ hooks }) =>
        hooks.advertise.tap('torn', () => {
          throw new Error('password=hunter2');
        }),
    });
    await using kit = await testGateway({ plugins: [torn], backends: { far: fakeServer().tool('t') } });
    const client = await kit.client({ era });
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      const reply = await client.request(method);
      expect(reply).toMatchObject(ok(-32603, 'the list could not be built'));
      expect(reply.text).not.toMatch(/hunter2|torn/);
    }
    expect(kit.logged.join('\n')).toContain('torn failed in advertise');
  });
});

describe('a modern client', () => {
  proves(
    ['choice.error.request-state-invalid', 'choice.wire.method-error-200'],
    'gets one and the same -32602 for every requestState that does not hold',
    async () => {
      const clock = fakeClock();
      const server = fakeServer([MODERN])
        .tool('ask', ({ params }) =>
          params.inputResponses === undefined
            ? { resultType: 'input_required', inputRequests: {}, requestState: 's' }
            : text('fine'),
        )
        .tool('other', () => text('other'));
      await using kit = await testGateway({ backends: { far: server }, now: clock.now });
      const client = await kit.client();
      const { result } = await client.request('tools/call', { name: 'ask', arguments: {} });
      const sealed = String(result?.requestState);
      const retry = (requestState: unknown, name = 'ask'): Promise<TestReply> =>
        client.request('tools/call', {
          ...{ name, arguments: {}, inputResponses: {} },
          requestState: requestState as string,
        });
      const flipped = `${sealed.slice(0, -1)}${sealed.endsWith('A') ? 'B' : 'A'}`;
      const constant = ok(-32602, 'requestState is invalid or expired');
      for (const state of [flipped, 'nonsense', '', 7, null, 'A'.repeat(70_000)]) {
        expect(await retry(state)).toMatchObject(constant);
      }
      expect(await retry(sealed, 'other')).toMatchObject(constant);
      expect((await retry(sealed)).result?.content).toEqual([{ type: 'text', text: 'fine' }]);
      clock.advance(11 * 60_000);
      expect(await retry(sealed)).toMatchObject(constant);
    },
  );

  proves('choice.wire.retired-codes', 'never sees -32002 and -32042, whatever a backend answers', async () => {
    for (const backend of ERAS) {
      for (const code of [-32002, -32042]) {
        for (const data of [undefined, { elicitations: [] }, { uri: 'memo://1' }]) {
          const fail = (): never => {
            throw { code, message: 'old', ...(data === undefined ? {} : { data }) };
          };
          const server = fakeServer([backend]).tool('t', fail).prompt('p', fail).resource('memo://1', fail);
          server.capabilities.completions = {};
          server.on('completion/complete', fail);
          await using kit = await testGateway({ backends: { far: server } });
          const client = await kit.client();
          const ref = { type: 'ref/prompt', name: 'p' };
          const codes = [
            await client.request('tools/call', { name: 't', arguments: {} }),
            await client.request('prompts/get', { name: 'p' }),
            await client.request('resources/read', { uri: 'memo://1' }),
            await client.request('resources/read', { uri: 'memo://gone' }),
            await client.request('completion/complete', { ref, argument: { name: 'a', value: '' } }),
          ].map(({ error }) => error?.code);
          for (const seen of codes) expect([-32602, -32603, -32021]).toContain(seen);
        }
      }
    }
  });

  proves('choice.modern.cache-scope-merge', 'gets no public list, whatever backends say of theirs', async () => {
    const hints = { resultType: 'complete', ttlMs: 60_000, cacheScope: 'public' };
    const server = (name: string) =>
      fakeServer([MODERN])
        .tool(name)
        .on('tools/list', () => ({ tools: [{ name, inputSchema: { type: 'object' } }], ...hints }));
    await using kit = await testGateway({ backends: { a: server('a'), b: server('b') } });
    const { result } = await (await kit.client()).request('tools/list');
    expect(result).toMatchObject({ tools: [{ name: 'a' }, { name: 'b' }], cacheScope: 'private' });
  });

  proves(
    'choice.modern.cache-ttl-merge',
    'gets lists that are valid for limits.listTtlMs at most, since any backend may change',
    async () => {
      const far = await httpServer(
        modernAnswers({
          before: (got) => {
            if (got.message?.method !== 'tools/list') return false;
            const tools = [{ name: 't', inputSchema: { type: 'object' } }];
            const result = { tools, resultType: 'complete', ttlMs: 3_600_000, cacheScope: 'public' };
            got.response.writeHead(200, { 'content-type': 'application/json' });
            got.response.end(JSON.stringify({ jsonrpc: '2.0', id: got.message.id, result }));
            return true;
          },
        }),
      );
      await using kit = await testGateway({ backends: { far: httpBackend(far.url) } });
      const client = await kit.client();
      for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
        expect((await client.request(method)).result).toMatchObject({ ttlMs: 5_000, cacheScope: 'private' });
      }
      expect((await client.request('tools/list')).result?.tools).toHaveLength(1);
    },
  );
});
