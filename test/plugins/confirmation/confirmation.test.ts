import type { Era, JsonObject, PlanInput } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';

const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const DESTRUCTIVE = { annotations: { destructiveHint: true } };

const gatewayTo = (far: FakeServer, more: PlanInput['plugins'] = [], options: JsonObject = {}): Promise<TestGateway> =>
  testGateway({
    backends: { far },
    catalogue,
    plan: { limits: { coalesceMs: 1 }, plugins: [{ use: 'confirmation', with: options }, ...more] },
  });

/** A person who answers with `confirm`, and the questions that were shown. */
function person(confirm: boolean | 'cancel') {
  const asked: JsonObject[] = [];
  return {
    asked,
    capabilities: { elicitation: {} },
    answer: (_: string, params: JsonObject): JsonObject => {
      asked.push(params);
      return confirm === 'cancel' ? { action: 'cancel' } : { action: 'accept', content: { confirm } };
    },
  };
}

const callsOf = (far: FakeServer) => far.received.filter(({ method }) => method === 'tools/call');

describe('confirmation', () => {
  for (const era of ERAS) {
    for (const ofBackend of ERAS) {
      proves(
        'choice.authorization.destructive-once',
        `asks once per tool and session: client ${era}, backend ${ofBackend}`,
        async () => {
          const far = fakeServer([ofBackend]).tool('remove', 'removed', DESTRUCTIVE).tool('read', 'text');
          await using kit = await gatewayTo(far);
          const ada = person(true);
          const client = await kit.client({ era, ...ada });
          expect(await client.callTool('read')).toMatchObject({ content: [{ text: 'text' }] });
          expect(ada.asked).toEqual([]);
          expect(await client.callTool('remove', { path: '/tmp/a' })).toMatchObject({ content: [{ text: 'removed' }] });
          expect(ada.asked).toMatchObject([
            { message: expect.stringMatching(/^Run the tool remove of far, .*: path "\/tmp\/a"\?$/) },
          ]);
          await client.callTool('remove', { path: '/tmp/b' });
          expect(ada.asked).toHaveLength(1);
          // the backend gets neither the state of the question nor the answer
          expect(JSON.stringify(callsOf(far))).not.toMatch(/toolmgr\.confirm|inputResponses|requestState/);
          expect(callsOf(far)).toHaveLength(3);
        },
      );
    }

    it.each([[false], ['cancel'] as const])(
      `does not call what a person declines (%s), client ${era}`,
      async (said) => {
        const far = fakeServer().tool('remove', 'removed', DESTRUCTIVE);
        await using kit = await gatewayTo(far);
        const ada = person(said);
        const client = await kit.client({ era, ...ada });
        for (const _ of [1, 2]) {
          expect(JSON.stringify(await client.callTool('remove').catch(String))).toContain('the person declined');
        }
        expect(ada.asked).toHaveLength(2);
        expect(callsOf(far)).toEqual([]);
      },
    );

    it(`refuses a client ${era} that cannot be asked, or calls unasked`, async () => {
      const far = fakeServer().tool('remove', 'removed', DESTRUCTIVE);
      await using strict = await gatewayTo(far);
      const refused = await (await strict.client({ era })).callTool('remove').catch(String);
      expect(JSON.stringify(refused)).toContain('the client does not support elicitation');
      expect(callsOf(far)).toEqual([]);
      await using open = await gatewayTo(far, [], { cannotAsk: 'allow' });
      await (await open.client({ era })).callTool('remove');
      expect(callsOf(far)).toHaveLength(1);
    });
  }

  it('asks again for another session, and when the definition of the tool has changed', async () => {
    const far = fakeServer().tool('remove', 'removed', DESTRUCTIVE);
    await using kit = await gatewayTo(far);
    const ada = person(true);
    const first = await kit.client({ era: '2025-11-25', ...ada });
    await first.callTool('remove');
    await (await kit.client({ era: '2025-11-25', ...ada })).callTool('remove');
    expect(ada.asked).toHaveLength(2);
    far.tool('remove', 'removed', { ...DESTRUCTIVE, description: 'Removes all files' });
    far.notify('notifications/tools/list_changed');
    await expect.poll(async () => JSON.stringify(await first.request('tools/list'))).toContain('all files');
    await first.callTool('remove');
    expect(ada.asked).toHaveLength(3);
  });

  it('does not ask about a tool that its server calls read-only', async () => {
    const far = fakeServer().tool('list', 'listed', { annotations: { destructiveHint: true, readOnlyHint: true } });
    await using kit = await gatewayTo(far);
    const ada = person(false);
    await (await kit.client(ada)).callTool('list');
    expect(ada.asked).toEqual([]);
  });

  it('lets the backend ask its own question after the confirmation', async () => {
    const far = fakeServer(['2026-07-28']).tool(
      'remove',
      ({ params }) =>
        params.requestState === 'theirs'
          ? { content: [{ type: 'text', text: JSON.stringify(params.inputResponses) }] }
          : {
              resultType: 'input_required',
              inputRequests: {
                why: {
                  method: 'elicitation/create',
                  params: { mode: 'form', message: 'Why?', requestedSchema: { type: 'object', properties: {} } },
                },
              },
              requestState: 'theirs',
            },
      DESTRUCTIVE,
    );
    await using kit = await gatewayTo(far);
    const ada = person(true);
    const result = await (await kit.client(ada)).callTool('remove');
    expect(ada.asked.map(({ message }) => message)).toEqual([expect.stringContaining('remove of far'), 'Why?']);
    expect(JSON.stringify(result)).toContain('why');
  });

  it('asks about the tool that a step of a composite tool calls', async () => {
    const far = fakeServer().tool('remove', 'removed', DESTRUCTIVE);
    const compositeTools = [
      { name: 'tidy', description: 'Tidies', steps: [{ id: 'one', type: 'tool', tool: 'far.remove' }] },
    ];
    const composite = { use: 'composite/engine', with: { compositeTools } };
    for (const era of ERAS) {
      await using kit = await gatewayTo(far, [composite]);
      const bob = person(false);
      const result = await (await kit.client({ era, ...bob })).callTool('tidy').catch(String);
      expect(bob.asked).toMatchObject([{ message: expect.stringContaining('remove of far') }]);
      expect(JSON.stringify(result)).toContain('declined');
    }
    expect(callsOf(far)).toEqual([]);
  });
});
