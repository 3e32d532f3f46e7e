import { fakeServer, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const MIB = 1_048_576;
const FORM = { message: 'sure?', requestedSchema: { type: 'object', properties: {} } };

describe('bytes in flight that a request leaves behind', () => {
  proves(
    'choice.limits.memory-kept',
    'a call that waits for its client counts its body and its result, until it ends',
    async () => {
      const server = fakeServer(['2025-11-25']).tool('ask', async (context) => {
        context.ask('elicitation/create', FORM).catch(() => {}); // cancelled by the result
        await until(() => at.gateway.counts().parked === 1);
        return text('x'.repeat(4 * MIB)); // without waiting for the answer
      });
      await using at = await testGateway({ backends: { far: server }, plan: { limits: { requestStateTtlMs: 1_000 } } });
      const client = await at.client({ capabilities: { elicitation: {} } });
      const call = { name: 'ask', arguments: { x: 'y'.repeat(2 * MIB) } };
      const { result } = await client.request('tools/call', call);
      await until(() => at.gateway.counts().bytes > 6 * MIB);
      const requestState = String(result?.requestState);
      const [key = ''] = Object.keys(result?.inputRequests as object);
      const inputResponses = { [key]: { action: 'accept', content: {} } };
      const end = await client.request('tools/call', { ...call, inputResponses, requestState });
      expect(JSON.stringify(end.result).length).toBeGreaterThan(4 * MIB);
      await until(() => at.gateway.counts().bytes === 0);
    },
  );

  proves('choice.limits.memory-kept', 'an open listen counts its body until its stream ends', async () => {
    await using at = await testGateway({ backends: { far: fakeServer() } });
    const gone = new AbortController();
    const answer = await at.gateway.fetch(listenWith(' '.repeat(MIB), gone.signal));
    expect(answer.status).toBe(200);
    await answer.body?.getReader().read();
    await (await at.client()).request('tools/list'); // meanwhile the first request was handled
    expect(at.gateway.counts()).toMatchObject({ streams: 1 });
    expect(at.gateway.counts().bytes).toBeGreaterThan(MIB);
    gone.abort();
    await until(() => at.gateway.counts().bytes === 0);
  });
});

/** A request that opens a stream; its body is longer by `space`. */
function listenWith(space: string, signal: AbortSignal): Request {
  const envelope = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'eve', version: '1' },
  };
  const params = { notifications: { toolsListChanged: true }, _meta: envelope };
  return new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'subscriptions/listen',
    },
    body: `{"jsonrpc":"2.0","id":1,${space}"method":"subscriptions/listen","params":${JSON.stringify(params)}}`,
    signal,
  });
}
