import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { expect, test } from 'vitest';

test('what many sessions of one caller keep of their capabilities takes a bounded part of the memory budget', async () => {
  const plan = { limits: { memoryBudgetBytes: 64 * 1024 * 1024 } };
  await using kit = await testGateway({ backends: { a: fakeServer(['2025-11-25']) }, plan });
  const open = async (experimental: object) => {
    const params = {
      protocolVersion: '2025-11-25',
      capabilities: { experimental },
      clientInfo: { name: 'c', version: '1' },
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const response = await kit.gateway.fetch(new Request('http://localhost/mcp', { method: 'POST', headers, body }));
    return { status: response.status, id: response.headers.get('mcp-session-id') ?? '' };
  };
  const crowded = { a: Array.from({ length: 10_000 }, () => ({})) };
  const opened: string[] = [];
  let refused = 0;
  for (let n = 0; n < 30; n++) {
    const { status, id } = await open(crowded);
    if (status === 200) opened.push(id);
    else refused = status;
  }
  expect([opened.length, refused]).toEqual([5, 503]);
  expect((await open({})).status).toBe(200); // an ordinary client of the same caller
  const headers = { 'mcp-session-id': opened[0] ?? '', 'mcp-protocol-version': '2025-11-25' };
  await kit.gateway.fetch(new Request('http://localhost/mcp', { method: 'DELETE', headers }));
  expect((await open(crowded)).status).toBe(200);
});

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
