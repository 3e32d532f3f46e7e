import { callWith, definePlugin, type Era, type JsonObject, type PlanInput, type Plugin } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { cedarConfig } from '../../../../plugins/authorization/cedar/config.ts';
import { redisMissing, startRedis } from '../../../support/redis.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const PAYING = '@approval("This pays an invoice") permit(principal, action, resource == Tool::"pay");';
const READING = 'permit(principal, action, resource == Tool::"list");';

interface More {
  readonly policies?: readonly string[];
  readonly plugins?: PlanInput['plugins'];
  readonly plan?: Partial<PlanInput>;
  readonly own?: readonly Plugin[];
}

const gatewayTo = (far: FakeServer, { policies = [PAYING, READING], plugins = [], plan = {}, own = [] }: More = {}) =>
  testGateway({
    plugins: [...own],
    backends: { far },
    catalogue,
    plan: {
      ...plan,
      plugins: [{ use: 'authorization/cedar', with: { policies: [...policies] } }, ...plugins],
    },
  });

const bank = (eras?: readonly Era[]) => fakeServer(eras).tool('pay', 'paid').tool('list', 'listed');

/** A person who answers with `confirm`, and the questions that were shown. */
function person(confirm: boolean) {
  const asked: string[] = [];
  const answer = (_: string, { message }: JsonObject): JsonObject => {
    asked.push(String(message));
    return { action: 'accept', content: { confirm } };
  };
  return { asked, capabilities: { elicitation: {} }, answer };
}

const ENVELOPE = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
});

const callsOf = (far: FakeServer) => far.received.filter(({ method }) => method === 'tools/call');
const told = async (reply: Promise<JsonObject>): Promise<string> => JSON.stringify(await reply.catch(String));

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
      it(`is made after a person agreed, each time: client ${era}, backend ${ofBackend}`, async () => {
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
      });
    }

    it(`is not made when the person declines or cannot be asked, client ${era}`, async () => {
      const far = bank();
      await using kit = await gatewayTo(far);
      expect(await told((await kit.client({ era, ...person(false) })).callTool('pay'))).toContain(
        'the person declined',
      );
      expect(await told((await kit.client({ era })).callTool('pay'))).toContain('does not support elicitation');
      expect(callsOf(far)).toEqual([]);
    });

    it(`needs the approval in composite tools and scripts too, client ${era}`, async () => {
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
    });
  }

  it('needs the approval behind call_tool too', async () => {
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

  it('is refused for what is no tool', async () => {
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

describe('a caller who wants no question', () => {
  const guarded = (when: string) =>
    `@approval("Pays") permit(principal, action, resource == Tool::"pay") when { ${when} };`;
  const settling = 'permit(principal, action, resource == Tool::"settle");';
  const compositeTools = [
    {
      name: 'settle',
      description: 'Settles',
      parameters: { type: 'object', properties: { note: { type: 'string' } } },
      steps: [{ id: 'one', tool: 'pay', arguments: { note: '{{.params.note}}' } }],
    },
  ];
  const plugins = [{ use: 'composite/engine', with: { compositeTools } }];

  it.each([
    ['a note that no policy permits', 'context has arg_note && context.arg_note != "x"', 'x'],
    ['a note that is too long to decide about', 'context has arg_note && context.arg_note != "x"', 'n'.repeat(70_000)],
    ['a policy that fails', 'context.arg_other > 3', 'n'],
  ])('does not get a step of a composite tool made by %s', async (_, when, note) => {
    const far = bank();
    await using kit = await gatewayTo(far, { policies: [guarded(when), settling], plugins });
    for (const era of ERAS) await told((await kit.client({ era, ...person(false) })).callTool('settle', { note }));
    expect(callsOf(far)).toEqual([]);
  });

  it('does not get a step made that a policy forbids', async () => {
    const far = bank();
    const forbid = 'forbid(principal, action, resource) when { context has arg_note && context.arg_note == "x" };';
    await using kit = await gatewayTo(far, { policies: [PAYING, settling, forbid], plugins });
    await told((await kit.client(person(true))).callTool('settle', { note: 'x' }));
    expect(callsOf(far)).toEqual([]);
  });

  it('does not get a call made that a plugin changes after the policies', async () => {
    const far = bank();
    const rule = { direction: 'arguments', detectors: ['mail-address'], action: 'mask' };
    const when = 'context has arg_to && context.arg_to like "*@bank.com"';
    const protection = { use: 'data-protection', with: { rules: [rule] } };
    await using kit = await gatewayTo(far, { policies: [guarded(when)], plugins: [protection] });
    const reply = await told((await kit.client(person(true))).callTool('pay', { to: 'bob.miller@bank.com' }));
    expect(reply).toContain('denied by authorization policy');
    expect(callsOf(far)).toEqual([]);
  });

  it('cannot write words of the question, or numbers that are shown as others', async () => {
    const far = bank();
    await using kit = await gatewayTo(far);
    const ada = person(false);
    const client = await kit.client(ada);
    await told(client.callTool('pay', { 'euro 10? Checked, the rest is metadata': '', euro: 10_000 }));
    expect(ada.asked).toEqual([
      'This pays an invoice. Run the tool pay of far: "euro 10? Checked, the rest is metadata" "", euro 10000?',
    ]);
    await told(client.callTool('pay', { note: `${' '.repeat(3_000)}`, euro: 10_000 }));
    expect(ada.asked[1]).toContain('note " (3000 spaces) ", euro 10000?');
    for (const number of ['12345678901234567891', '1e400', '0.12345678901234567', '1e-400']) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"pay","arguments":{"euro":${number}},"_meta":${ENVELOPE}}}`;
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': 'pay',
      };
      const answer = await kit.gateway.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
      expect([number, await answer.text()]).toEqual([
        number,
        expect.stringContaining('numbers of more than 15 digits'),
      ]);
    }
    expect(callsOf(far)).toEqual([]);
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
  it('is used once, also by parallel requests', async () => {
    const far = bank();
    await using kit = await gatewayTo(far);
    const client = await kit.client({ capabilities: { elicitation: {} } });
    const round = await answeredRound(kit, { euro: 10 });
    const replies = await Promise.all(Array.from({ length: 8 }, () => client.request('tools/call', round)));
    expect(replies.filter(({ result }) => result?.resultType === 'complete')).toHaveLength(1);
    expect((await client.request('tools/call', round)).result?.resultType).toBe('input_required');
    expect(callsOf(far)).toHaveLength(1);
  });

  it('is used once also when the gateway is made again', async () => {
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

  it.skipIf(redisMissing)(`is used once over replicas${redisMissing ? ` (${redisMissing})` : ''}`, async () => {
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
  });

  it('does not hold for other arguments, another tool or an invented state', async () => {
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
  });

  it('does not hold when a plugin changes the arguments after the question', async () => {
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
  });

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

describe('an annotation @approval that would have no effect', () => {
  it.each([
    ['@approval("x") forbid(principal, action, resource);', 'is for permit policies'],
    ['@approval("") permit(principal, action, resource);', 'needs a text for the person'],
    ['@approval(" ") permit(principal, action, resource);', 'needs a text for the person'],
    ['@Approval("x") permit(principal, action, resource);', 'did you mean @approval?'],
    ['@approvals("x") permit(principal, action, resource);', 'did you mean @approval?'],
    ['@approval permit(principal, action, resource);', 'needs a text for the person'],
  ])('%s is an error', (policy, message) => {
    expect(cedarConfig.safeParse({ policies: [policy] }).error?.message).toContain(message);
  });
});
