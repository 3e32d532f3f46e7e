import { callWith, definePlugin, type Era, type JsonObject } from '@toolmgr/core';
import { fakeServer, type TestGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { proves } from '../../../support/proves.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';
import { bank, callsOf, ERAS, gatewayTo, type More, PAYING, person, told } from './approval-gateway.ts';

/** A call that leads to one call of `pay`, for a person who declines, without a person, and for one who agrees. */
async function needsApproval(era: Era, more: More, name: string, given: JsonObject): Promise<void> {
  const far = bank();
  await using kit = await gatewayTo(far, more);
  const [bob, ada] = [person(false), person(true)];
  await told((await kit.client({ era, ...bob })).callTool(name, given));
  await told((await kit.client({ era })).callTool(name, given));
  expect([bob.asked, callsOf(far)]).toEqual([[expect.stringContaining('This pays an invoice')], []]);
  expect(await told((await kit.client({ era, ...ada })).callTool(name, given))).toContain('paid');
  expect([ada.asked.length, callsOf(far).length]).toEqual([1, 1]);
}

describe('a call that only a policy with @approval permits', () => {
  for (const era of ERAS) {
    for (const ofBackend of ERAS) {
      proves(
        'choice.authorization.approval-each-call',
        `is made after a person agreed, each time: client ${era}, backend ${ofBackend}`,
        async () => {
          const far = bank([ofBackend]);
          await using kit = await gatewayTo(far);
          const ada = person(true);
          const client = await kit.client({ era, ...ada });
          expect(await client.toolNames()).toEqual(['list', 'pay']);
          expect(await told(client.callTool('list'))).toContain('listed');
          expect(ada.asked).toEqual([]);
          for (const euro of [10, 20]) expect(await told(client.callTool('pay', { euro }))).toContain('paid');
          expect(ada.asked).toEqual(
            [10, 20].map((euro) => `This pays an invoice. Run the tool pay of far: euro ${euro}?`),
          );
          expect(JSON.stringify(callsOf(far))).not.toMatch(/toolmgr\.confirm|inputResponses|requestState/);
        },
      );
    }

    proves(
      'choice.authorization.approval-denied',
      `is not made when the person declines or cannot be asked, client ${era}`,
      async () => {
        const far = bank();
        await using kit = await gatewayTo(far);
        expect(await told((await kit.client({ era, ...person(false) })).callTool('pay'))).toContain(
          'the person declined',
        );
        expect(await told((await kit.client({ era })).callTool('pay'))).toContain('does not support elicitation');
        expect(callsOf(far)).toEqual([]);
      },
    );

    proves(
      'choice.authorization.approval-inner-calls',
      `needs the approval in composite tools and scripts too, client ${era}`,
      async () => {
        const compositeTools = [{ name: 'settle', description: 'Settles', steps: [{ id: 'one', tool: 'pay' }] }];
        const plugins = [
          { use: 'code-mode/quickjs' },
          { use: 'code-mode/execute-script', with: { scriptTimeout: '30s', toolCallTimeout: '20s' } },
          { use: 'composite/engine', with: { compositeTools } },
        ];
        const settling = 'permit(principal, action, resource == Tool::"settle");';
        await needsApproval(era, { policies: [PAYING, settling], plugins }, 'settle', {});
        const script = 'return await callTool("pay", {});';
        await needsApproval(era, { policies: [PAYING, settling], plugins }, 'execute_tool_script', { script });
      },
    );
  }

  proves('choice.authorization.approval-inner-calls', 'needs the approval behind call_tool too', async () => {
    const plugins = [{ use: 'optimizer/search' }, { use: 'optimizer/tools' }];
    await needsApproval('2025-11-25', { plugins }, 'call_tool', { tool_name: 'pay', parameters: {} });
  });

  it('needs none when another policy permits it, and is denied when one forbids it', async () => {
    const far = bank();
    const open =
      'permit(principal, action, resource == Tool::"pay") when { context has arg_euro && context.arg_euro < 5 };';
    const closed = 'forbid(principal, action, resource) when { context has arg_euro && context.arg_euro > 50 };';
    await using kit = await gatewayTo(far, { policies: [PAYING, open, closed] });
    const ada = person(true);
    const client = await kit.client(ada);
    expect(await told(client.callTool('pay', { euro: 4 }))).toContain('paid');
    expect(await told(client.callTool('pay', { euro: 51 }))).toContain('denied by authorization policy');
    expect(ada.asked).toEqual([]);
    expect(await told(client.callTool('pay', { euro: 5 }))).toContain('paid');
    expect(ada.asked).toHaveLength(1);
  });

  proves('choice.authorization.approval-denied', 'is refused for what is no tool', async () => {
    const far = fakeServer().prompt('pay', 'words').resource('test://pay', 'text');
    await using kit = await gatewayTo(far, { policies: ['@approval("Read") permit(principal, action, resource);'] });
    const client = await kit.client(person(true));
    for (const [method, params] of [
      ['prompts/get', { name: 'pay' }],
      ['resources/read', { uri: 'test://pay' }],
    ] as const) {
      expect((await client.request(method, params)).text).toContain('possible only for tools');
    }
  });
});

/** The answered second round of a call, to send again. */
async function answeredRound(kit: TestGateway, given: JsonObject): Promise<JsonObject> {
  const client = await kit.client({ capabilities: { elicitation: {} } });
  const { result } = await client.request('tools/call', { name: 'pay', arguments: given });
  expect(result?.resultType).toBe('input_required');
  const inputResponses = { 'toolmgr.confirm': { action: 'accept', content: { confirm: true } } };
  return { name: 'pay', arguments: given, inputResponses, requestState: result?.requestState ?? null };
}

describe('an approval', () => {
  proves('choice.authorization.approval-once', 'is used once, also by parallel requests', async () => {
    const far = bank();
    await using kit = await gatewayTo(far);
    const client = await kit.client({ capabilities: { elicitation: {} } });
    const round = await answeredRound(kit, { euro: 10 });
    const replies = await Promise.all(Array.from({ length: 8 }, () => client.request('tools/call', round)));
    expect(replies.filter(({ result }) => result?.resultType === 'complete')).toHaveLength(1);
    expect((await client.request('tools/call', round)).result?.resultType).toBe('input_required');
    expect(callsOf(far)).toHaveLength(1);
  });

  proves('choice.authorization.approval-once', 'is used once also when the gateway is made again', async () => {
    const far = bank();
    const more: More = { plan: { stateKey: 'the same in both gateways, 32 letters' } };
    await using one = await gatewayTo(far, more);
    const round = await answeredRound(one, { euro: 10 });
    const capabilities = { elicitation: {} };
    const made = await (await one.client({ capabilities })).request('tools/call', round);
    await using next = await gatewayTo(far, more);
    const again = await (await next.client({ capabilities })).request('tools/call', round);
    expect([made, again].map(({ result }) => result?.resultType)).toEqual(['complete', 'input_required']);
    expect(callsOf(far)).toHaveLength(1);
  });

  proves.skipIf(redisMissing, redisMissing ?? '')(
    'choice.authorization.approval-once',
    'is used once over replicas',
    async () => {
      await using redis = await startRedis();
      const far = bank();
      const more: More = {
        plugins: [{ use: 'stores/redis', with: { address: redis.address } }],
        plan: { stateKey: 'the same on all replicas, 32 letters' },
      };
      await using one = await gatewayTo(far, more);
      await using other = await gatewayTo(far, more);
      const round = await answeredRound(one, { euro: 10 });
      const capabilities = { elicitation: {} };
      const clients = await Promise.all([one, other, one, other].map((kit) => kit.client({ capabilities })));
      const replies = await Promise.all(clients.map((client) => client.request('tools/call', round)));
      expect(replies.filter(({ result }) => result?.resultType === 'complete')).toHaveLength(1);
      expect(callsOf(far)).toHaveLength(1);
    },
  );

  proves(
    'choice.authorization.approval-as-shown',
    'does not hold for other arguments, another tool or an invented state',
    async () => {
      const far = bank().tool('transfer', 'moved');
      const policies = ['@approval("This moves money") permit(principal, action, resource);'];
      await using kit = await gatewayTo(far, { policies });
      const client = await kit.client({ capabilities: { elicitation: {} } });
      const round = await answeredRound(kit, { euro: 10 });
      for (const changed of [
        { arguments: { euro: 10_000 } },
        { name: 'transfer' },
        { requestState: 'toolmgr.confirm x' },
      ]) {
        expect((await client.request('tools/call', { ...round, ...changed })).error?.code).toBe(-32602);
      }
      expect(callsOf(far)).toEqual([]);
    },
  );

  proves(
    'choice.authorization.approval-as-shown',
    'does not hold when a plugin changes the arguments after the question',
    async () => {
      const far = bank();
      let euro = 10;
      const changes = definePlugin({
        address: 'test/changes',
        config: z.strictObject({}),
        apply: (core) => core.hooks.rewriteCall.tap('test/changes', (call) => callWith(call, { arguments: { euro } })),
      });
      await using kit = await gatewayTo(far, { plugins: [{ use: 'test/changes' }], own: [changes] });
      const client = await kit.client({ capabilities: { elicitation: {} } });
      const round = await answeredRound(kit, {});
      euro = 10_000;
      expect((await client.request('tools/call', round)).result?.resultType).toBe('input_required');
      expect(callsOf(far)).toEqual([]);
    },
  );

  it('does not become two calls by a tool that asks for input', async () => {
    const inputRequests = { why: { method: 'elicitation/create', params: { mode: 'form', message: 'Why?' } } };
    const far = fakeServer(['2026-07-28']).tool('pay', () => ({
      resultType: 'input_required',
      inputRequests,
      requestState: 'theirs',
    }));
    await using kit = await gatewayTo(far);
    expect(await told((await kit.client(person(true))).callTool('pay'))).toContain('cannot ask for further input');
    expect(callsOf(far)).toHaveLength(1);
  });
});
