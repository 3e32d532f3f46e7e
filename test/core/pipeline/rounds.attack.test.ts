import { callWith, definePlugin } from '@toolmgr/core';
import { fakeServer, testGateway, text } from '@toolmgr/core/testing';
import { expect, it } from 'vitest';
import { z } from 'zod';

const form = { message: 'name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };

it.each([5, null, 'q1', [], true])(
  'answers that are %j are refused; the call waits on and ends with good ones',
  async (bad) => {
    const server = fakeServer(['2025-11-25']).tool('ask', async (context) => {
      return text(JSON.stringify(await context.ask('elicitation/create', form)));
    });
    await using at = await testGateway({ backends: { far: server } });
    const client = await at.client({ capabilities: { elicitation: {} } });
    const asked = { name: 'ask', arguments: {} };
    const { result } = await client.request('tools/call', asked);
    const requestState = String(result?.requestState);
    expect(at.gateway.counts().parked).toBe(1);
    for (let n = 0; n < 3; n++) {
      const reply = await client.request('tools/call', { ...asked, inputResponses: bad, requestState });
      expect([reply.status, reply.error?.code]).toEqual([200, -32602]);
    }
    const [key = ''] = Object.keys(result?.inputRequests as object);
    const inputResponses = { [key]: { action: 'decline' } };
    const end = await client.request('tools/call', { ...asked, inputResponses, requestState });
    expect(end.result?.content).toEqual([{ type: 'text', text: '{"action":"decline"}' }]);
    expect(at.gateway.counts()).toMatchObject({ parked: 0, callsInFlight: 0 });
  },
);

it('a plugin that changes the arguments does not make a call run again in its next round', async () => {
  const changing = definePlugin({
    address: 'test/changing',
    config: z.strictObject({}),
    apply: ({ hooks }) => hooks.rewriteCall.tap('test/changing', (call) => callWith(call, { arguments: { a: 1 } })),
  });
  const server = fakeServer(['2025-11-25']).tool('ask', async (context) => {
    return text(JSON.stringify([context.arguments, await context.ask('elicitation/create', form)]));
  });
  await using at = await testGateway({ backends: { far: server }, plugins: [changing] });
  const client = await at.client({ capabilities: { elicitation: {} } });
  const asked = { name: 'ask', arguments: {} };
  const { result } = await client.request('tools/call', asked);
  const [key = ''] = Object.keys(result?.inputRequests as object);
  const inputResponses = { [key]: { action: 'decline' } };
  const requestState = String(result?.requestState);
  const end = await client.request('tools/call', { ...asked, inputResponses, requestState });
  expect(end.result?.content).toEqual([{ type: 'text', text: '[{"a":1},{"action":"decline"}]' }]);
  expect(server.received.filter(({ method }) => method === 'tools/call')).toHaveLength(1);
});
