import { definePlugin, encode, toolFailure } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { proves } from '../../support/proves.ts';

/** A tool `outer` that calls `ask` of the backend and answers with what that answered. */
const outer = definePlugin({
  address: 'test/outer',
  config: z.strictObject({}),
  apply(core) {
    core.hooks.shapeCatalog.tap('test/outer', (draft) => ({
      ...draft,
      tools: [
        ...draft.tools,
        {
          kind: 'tool',
          key: 'outer',
          backend: 'test/outer',
          original: 'outer',
          definition: encode({ name: 'outer', inputSchema: { type: 'object' } }),
          shapedBy: [],
          async run(call) {
            const reply = await core.perform({ parent: call, name: 'ask', arguments: {} });
            return 'result' in reply ? reply.result : toolFailure(JSON.stringify(reply));
          },
        },
      ],
    }));
  },
});

/** A server of the stateless revision whose tool needs an answer before it can end. */
function asking() {
  return fakeServer(['2026-07-28']).tool('ask', ({ params }) => {
    if (params.inputResponses === undefined) {
      const question = {
        method: 'elicitation/create',
        params: { message: 'sure?', requestedSchema: { type: 'object' } },
      };
      return { resultType: 'input_required', inputRequests: { q: question }, requestState: 'kept by the server' };
    }
    const said = { responses: params.inputResponses, state: params.requestState ?? null };
    return { content: [{ type: 'text', text: JSON.stringify(said) }] };
  });
}

describe('an inner call to a server that answers with a question', () => {
  for (const era of ['2025-11-25', '2026-07-28'] as const) {
    proves(
      'choice.inner-calls.questions',
      `puts it to a ${era} client through the outer call, and continues with the answer`,
      async () => {
        await using kit = await testGateway({ plugins: [outer], backends: { far: asking() } });
        const answer = () => ({ action: 'accept', content: { yes: true } });
        const client = await kit.client({ era, capabilities: { elicitation: {} }, answer });
        const { content } = await client.callTool('outer');
        const [{ text }] = content as [{ text: string }];
        expect(JSON.parse(text)).toEqual({
          responses: { q: { action: 'accept', content: { yes: true } } },
          state: 'kept by the server',
        });
      },
    );
  }

  proves(
    'choice.inner-calls.natural',
    'and one that answers a list gives its maker the list, whatever the client is',
    async () => {
      const far = fakeServer(['2026-07-28']).tool('ask', () => ({ content: [], structuredContent: [1, 2] as never }));
      const seen: unknown[] = [];
      const watching = definePlugin({
        address: 'test/watching',
        config: z.strictObject({}),
        apply(core) {
          core.hooks.callSettled.tap('test/watching', ({ call, result }) => {
            if (call.parent !== undefined) seen.push(result?.value.structuredContent);
          });
        },
      });
      await using kit = await testGateway({ plugins: [outer, watching], backends: { far } });
      for (const era of ['2025-11-25', '2026-07-28'] as const) {
        const client = await kit.client({ era });
        const { structuredContent } = await client.callTool('outer');
        expect(structuredContent).toEqual(era === '2025-11-25' ? { result: [1, 2] } : [1, 2]);
      }
      expect(seen).toEqual([
        [1, 2],
        [1, 2],
      ]);
    },
  );
});
