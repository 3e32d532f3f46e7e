import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definePlugin, type JsonObject } from '@toolmgr/core';
import type { TestClient, TestClientOptions, TestGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { linesOf } from '../../../support/audited.ts';
import { composite, farServer } from '../../../support/composites.ts';
import { optimized } from '../../../support/optimized-gateway.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';
import { claimsFromHeader, claimsHeader } from '../../authorization/cedar/support.ts';

const LONG = 120_000;
const SCHEMA = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };

const FLOW = composite(
  [
    { id: 'a', tool: 'far.echo', arguments: { message: 'x' } },
    { id: 'b', tool: 'far.sum', arguments: { a: 1, b: 2 } },
  ],
  { description: 'Packs a parcel' },
);
const ASKS = {
  name: 'order',
  description: 'Orders a parcel of some size',
  steps: [
    { id: 'ask', type: 'elicitation', message: 'How large, {{.params.who}}?', schema: SCHEMA },
    { id: 'then', tool: 'far.echo', arguments: { message: '{{.steps.ask.output.content.size}}' }, dependsOn: ['ask'] },
  ],
};

/** The optimizer with one server, composite tools and scripts; `more` plugins come first. */
function everything(
  { far = farServer(), codeMode = {} as JsonObject, plugins = [] as ReturnType<typeof definePlugin>[] } = {},
  more: { readonly use: string; readonly with?: JsonObject }[] = [],
): Promise<TestGateway> {
  return optimized(
    {},
    { far },
    {
      plugins,
      uses: [
        ...plugins.map(({ address }) => ({ use: address })),
        ...more,
        { use: 'composite/engine', with: { compositeTools: [FLOW, ASKS] } },
        { use: 'code-mode/quickjs', with: { workers: 2, warm: 1 } },
        { use: 'code-mode/execute-script', with: { scriptTimeout: '30s', ...codeMode } },
      ],
    },
  );
}

const legacy = (kit: TestGateway, options: TestClientOptions = {}): Promise<TestClient> =>
  kit.client({ era: '2025-11-25', ...options });

/** The first text of a `call_tool` result, and whether it failed. */
async function through(client: TestClient, name: string, parameters: JsonObject = {}) {
  const { content, isError, structuredContent } = await client.callTool('call_tool', { tool_name: name, parameters });
  const [first] = content as readonly JsonObject[];
  return { text: String(first?.text), isError: isError === true, structured: structuredContent };
}

const script = (client: TestClient, text: string) => through(client, 'execute_tool_script', { script: text });

/** Answers every elicitation and records it. */
function person(size: number) {
  const asked: { readonly method: string; readonly params: JsonObject }[] = [];
  const answer = (method: string, params: JsonObject): JsonObject => {
    asked.push({ method, params });
    return { action: 'accept', content: { size } };
  };
  return { asked, options: { capabilities: { elicitation: {} }, answer } };
}

describe('a composite tool with find_tool and call_tool', () => {
  it('is listed when alwaysListed names it', async () => {
    const uses = [{ use: 'composite/engine', with: { compositeTools: [FLOW] } }];
    await using kit = await optimized({ alwaysListed: ['flow'] }, { far: farServer() }, { uses });
    const client = await legacy(kit);
    expect(await client.toolNames()).toContain('flow');
    expect(await client.callTool('flow', {})).toMatchObject({ structuredContent: { total: 3 } });
  });

  it('is found by its description, and runs', async () => {
    await using kit = await everything();
    const client = await legacy(kit);
    const { structuredContent } = await client.callTool('find_tool', { tool_description: 'pack a parcel' });
    const { tools } = structuredContent as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toContain('flow');
    expect(await through(client, 'flow')).toMatchObject({ isError: false, structured: { total: 3 } });
  });

  proves(
    'choice.optimizer.with-elicitation',
    'sends elicitation/create to a 2025-11-25 client, directly and from a script',
    async () => {
      await using kit = await everything();
      const { asked, options } = person(7);
      const client = await legacy(kit, options);
      const embedQuery = {
        method: 'elicitation/create',
        params: { mode: 'form', message: 'How large, Ada?', requestedSchema: SCHEMA },
      };
      expect(await through(client, 'order', { who: 'Ada' })).toMatchObject({
        isError: false,
        structured: { text: '7' },
      });
      expect(asked).toEqual([embedQuery]);
      expect(await script(client, 'return (await order({ who: "Ada" })).text')).toMatchObject({ text: '"7"' });
      expect(asked).toEqual([embedQuery, embedQuery]);
    },
    LONG,
  );

  it('names the missing capability to a client without elicitation', async () => {
    await using kit = await everything();
    const { text, isError } = await through(await legacy(kit), 'order', { who: 'Ada' });
    expect([isError, text]).toEqual([true, expect.stringMatching(/elicitation/)]);
  });
});

describe('a script called with call_tool', () => {
  proves(
    'choice.optimizer.with-scripts',
    'has declarations for its caller, and obeys its limits',
    async () => {
      const far = farServer().tool(
        'hangs',
        ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('gone')))),
      );
      const codeMode = { stepLimit: 50_000, maxToolCalls: 3, toolCallTimeout: '300ms', resultBytes: 1_000 };
      await using kit = await everything({ far, codeMode });
      const client = await legacy(kit);
      const { structuredContent } = await client.callTool('find_tool', {
        tool_description: 'run a script that calls several tools',
      });
      const { tools } = structuredContent as { tools: { name: string; description: string }[] };
      const { description } = tools.find(({ name }) => name === 'execute_tool_script') ?? {};
      expect(description).toContain('declare const far: {');
      expect(description).toContain('flow(');
      for (const [text, said] of [
        ['for (;;);', /more than 50000 steps/],
        ['for (;;) await far.echo({ message: "x" })', /a script may make 3 tool calls/],
        ['await far.hangs()', /TimeoutError: tool "hangs" did not answer within 300 ms/],
        ['return "x".repeat(2000)', /the result is larger than 1000 bytes/],
      ] as const) {
        const { text: answer, isError } = await script(client, text);
        expect([text, isError, said.test(answer)]).toEqual([text, true, true]);
      }
      expect(await script(client, 'return (await far.sum({ a: 1, b: 2 })).total')).toMatchObject({ text: '3' });
    },
    LONG,
  );

  it('stops with the session of its client', async () => {
    let aborted = 0;
    const far = farServer().tool(
      'hangs',
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted++;
            reject(new Error('gone'));
          });
        }),
    );
    await using kit = await everything({ far });
    const client = await legacy(kit);
    const asked = script(client, 'await far.hangs()').catch(() => undefined);
    await until(() => far.received.some(({ params }) => params.name === 'hangs'));
    await client.close();
    await until(() => aborted === 1);
    await asked;
  });
});

describe('policies, limits and audit with call_tool', () => {
  /** Counts authorization and rate limit checks. */
  const counting = () => {
    const seen = { decided: [] as string[], limited: [] as string[] };
    const plugin = definePlugin({
      address: 'test/counting',
      config: z.strictObject({}),
      apply({ hooks }) {
        hooks.authorize.tap('test/counting', ({ name }) => void seen.decided.push(name));
        hooks.limit.tap('test/counting', ({ name }) => void seen.limited.push(name));
      },
    });
    return { seen, plugin };
  };
  const NESTED = 'await far.echo({ message: "1" }); await far.echo({ message: "2" }); return await flow()';

  proves(
    ['choice.optimizer.limits', 'choice.composite.policy-once'],
    'check each call once, however it is nested; the steps of a composite together with it',
    async () => {
      const { seen, plugin } = counting();
      await using kit = await everything({ plugins: [plugin] }, [
        { use: 'stores/memory' },
        { use: 'rate-limit', with: { shared: { maxTokens: 7, refillPeriod: '10h' } } },
      ]);
      const client = await legacy(kit);
      expect(await script(client, NESTED)).toMatchObject({ isError: false });
      const calls = ['call_tool', 'execute_tool_script', 'echo', 'echo', 'flow'];
      expect(seen).toEqual({ decided: calls, limited: calls });
      // call_tool and the script take one token together, echo, echo and flow one each
      expect(await through(client, 'flow')).toMatchObject({ isError: false });
      expect(await through(client, 'echo', { message: '6' })).toMatchObject({ isError: false, text: '6' });
      expect(await script(client, NESTED)).toMatchObject({
        isError: true,
        text: expect.stringMatching(/ToolError: rate limit exceeded/),
      });
      expect(await through(client, 'echo', { message: '8' })).toMatchObject({
        isError: true,
        text: expect.stringMatching(/^Rate limit exceeded/),
      });
    },
    LONG,
  );

  proves(
    ['choice.optimizer.with-policy', 'choice.composite.policy-once'],
    'allow a composite whose steps the caller may not call, on every path to it',
    async () => {
      const policies = [
        'permit(principal == Client::"ada", action == Action::"call_tool", resource == Tool::"flow");',
        'permit(principal == Client::"ada", action == Action::"call_tool", resource == Tool::"echo") when { context has arg_message && context.arg_message == "1" };',
      ];
      await using kit = await everything({ plugins: [claimsFromHeader] }, [
        { use: 'authorization/cedar', with: { policies } },
      ]);
      const ada = await legacy(kit, { headers: claimsHeader({ sub: 'ada' }) });
      expect(await through(ada, 'flow')).toMatchObject({ isError: false, structured: { total: 3 } });
      expect(await through(ada, 'sum', { a: 1, b: 2 })).toMatchObject({ isError: true });
      expect(await through(ada, 'echo', { message: '2' })).toMatchObject({ isError: true });
      expect(await script(ada, 'return [await far.echo({ message: "1" }), (await flow()).total]')).toMatchObject({
        text: '[1,3]',
      });
      expect(await script(ada, NESTED)).toMatchObject({ isError: true });
      expect(await script(ada, 'return await far.sum({ a: 1, b: 2 })')).toMatchObject({ isError: true });
      const eve = await legacy(kit, { headers: claimsHeader({ sub: 'eve' }) });
      expect(await through(eve, 'flow')).toMatchObject({ isError: true });
      expect(await script(eve, 'return await flow()')).toMatchObject({ isError: true });
    },
    LONG,
  );

  proves(
    'choice.optimizer.audit-chain',
    'write one audit event per call, with the name of its parent and one id for all',
    async () => {
      const folder = temporaryFolder('chain');
      const logFile = join(folder, 'audit.log');
      await using kit = await everything({}, [{ use: 'audit', with: { logFile, eventTypes: ['mcp_tool_call'] } }]);
      await script(await legacy(kit), NESTED);
      const lines = async () => linesOf(await readFile(logFile, 'utf8').catch(() => ''));
      await until(async () => (await lines()).length >= 7);
      const told = (await lines()).map(
        ({ target, metadata }) => `${metadata.extra.parent_name ?? '-'} > ${target.name}`,
      );
      expect(told.at(-1)).toBe('- > call_tool');
      expect(told.sort()).toEqual([
        '- > call_tool',
        'call_tool > execute_tool_script',
        'execute_tool_script > echo',
        'execute_tool_script > echo',
        'execute_tool_script > flow',
        'flow > echo',
        'flow > sum',
      ]);
      const ids = (await lines()).map(({ source }) => source.extra.request_id);
      expect([typeof ids[0], new Set(ids).size]).toEqual(['string', 1]);
    },
    LONG,
  );
});
