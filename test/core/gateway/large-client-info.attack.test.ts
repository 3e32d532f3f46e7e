import { expect, test } from 'vitest';
import { fakeServer, testGateway } from '../../../core/testing/index.ts';

test('a session keeps neither capabilities nor a clientInfo of many kilobytes', async () => {
  await using kit = await testGateway({ backends: { a: fakeServer(['2025-11-25']) } });
  const open = async (more: object): Promise<number> => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'c', version: '1' },
      ...more,
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const request = new Request('http://localhost/mcp', { method: 'POST', headers, body });
    return (await kit.gateway.fetch(request)).status;
  };
  const text = 'x'.repeat(40_000);
  expect(await open({ clientInfo: { name: text, version: '1' } })).toBe(413);
  expect(await open({ capabilities: { experimental: { text } } })).toBe(413);
  expect(kit.gateway.counts().sessions).toBe(0);
  expect(await open({ clientInfo: { name: text.slice(0, 30_000), version: '1' } })).toBe(200);
});
