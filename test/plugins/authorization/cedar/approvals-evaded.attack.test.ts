import { describe, expect, it } from 'vitest';
import { cedarConfig } from '../../../../plugins/authorization/cedar/config.ts';
import { proves } from '../../../support/proves.ts';
import { bank, callsOf, ERAS, gatewayTo, PAYING, person, told } from './approval-gateway.ts';

const ENVELOPE = JSON.stringify({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
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

  proves('choice.authorization.approval-inner-calls', 'does not get a step made that a policy forbids', async () => {
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

  proves(
    'choice.authorization.approval-as-shown',
    'cannot write words of the question, or numbers that are shown as others',
    async () => {
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
    },
  );
});

describe('an annotation @approval that would have no effect', () => {
  proves('choice.authorization.approval-misplaced', 'is an error that says so', () => {
    const wrong = [
      ['@approval("x") forbid(principal, action, resource);', 'is for permit policies'],
      ['@approval("") permit(principal, action, resource);', 'needs a text for the person'],
      ['@approval(" ") permit(principal, action, resource);', 'needs a text for the person'],
      ['@Approval("x") permit(principal, action, resource);', 'did you mean @approval?'],
      ['@approvals("x") permit(principal, action, resource);', 'did you mean @approval?'],
      ['@approval permit(principal, action, resource);', 'needs a text for the person'],
    ] as const;
    for (const [policy, message] of wrong) {
      expect([policy, cedarConfig.safeParse({ policies: [policy] }).error?.message]).toEqual([
        policy,
        expect.stringContaining(message),
      ]);
    }
  });
});
