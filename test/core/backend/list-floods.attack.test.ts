import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '@toolmgr/core';
import { type FakeServer, fakeServer, type TestGateway, testGateway } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { readMessage } from '../../../core/mcp/message.ts';
import { cpuClock } from '../../support/cpu-clock.ts';
import { type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';
import { proves } from '../../support/proves.ts';

const HELLO = { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } };

const NOTHING_NEW = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","data":1}}';

/** A backend whose list is text that a test makes; `page` is 1 first. */
async function listingServer(list: (page: number) => string): Promise<LoopbackServer> {
  let page = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const { id, method } = JSON.parse(text || '{}') as JsonObject;
    const send = (body: string): void => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    };
    const result = (value: string): void => send(`{"jsonrpc":"2.0","id":${String(id)},"result":${value}}`);
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (method === 'initialize') return result(JSON.stringify(HELLO));
    if (method === 'tools/list') return result(list(++page));
    if (method === 'tools/call') {
      const answer = `{"jsonrpc":"2.0","id":${String(id)},"result":{"content":[]}}`;
      return send(`[${`${NOTHING_NEW},`.repeat(1_000)}${answer}]`);
    }
    response.writeHead(202).end();
  };
  return loopbackServer((request, response) => void answer(request, response));
}

function gatewayBefore(server: LoopbackServer, limits: JsonObject = {}): Promise<TestGateway> {
  return testGateway({
    plan: { limits },
    backends: { far: { transport: 'streamable-http', url: server.url, era: 'legacy' } },
  });
}

describe('a backend that lists without end', () => {
  proves('choice.backend.list-bounds', 'is not read beyond the items of a list, whatever they are', async () => {
    await using server = await listingServer(() => `{"tools":[${'0,'.repeat(60_000)}0]}`);
    await using kit = await gatewayBefore(server);
    expect(kit.logged.join('\n')).toContain('an invalid list: it has more than 50000 items');
  });

  proves('choice.backend.list-bounds', 'is logged once per page for all skipped items', async () => {
    const good = '{"name":"a","inputSchema":{"type":"object"}}';
    await using server = await listingServer(
      () => `{"tools":[${'0,'.repeat(10_000)}${`${good},`.repeat(100)}${good}]}`,
    );
    await using kit = await gatewayBefore(server);
    const skipped = kit.logged.filter((line) => line.includes('skipped'));
    expect(skipped).toEqual([expect.stringContaining('"count":10000'), expect.stringContaining('"item":"a"')]);
    expect(await (await kit.client()).toolNames()).toEqual(['a']);
  });

  proves('choice.backend.list-bounds', 'is not read beyond the bytes of a result, all pages together', async () => {
    const much = 'x'.repeat(400_000);
    await using server = await listingServer(
      (page) => `{"_meta":{"x":"${much}"},"nextCursor":"${page}","tools":[{"name":"t${page}","inputSchema":{}}]}`,
    );
    await using kit = await gatewayBefore(server, { resultBytes: 1_000_000 });
    expect(kit.logged.join('\n')).toContain('an invalid list: it has more than 1000000 bytes');
    expect(server.seen.length).toBeLessThan(20);
  });

  proves('choice.backend.list-bounds', 'is not read beyond an eighth of the memory budget', async () => {
    const tool = `{"name":"t","description":"${'x'.repeat(1_500_000)}","inputSchema":{"type":"object"}}`;
    await using server = await listingServer(() => `{"tools":[${tool}]}`);
    await using kit = await gatewayBefore(server, { memoryBudgetBytes: 8_000_000 });
    expect(kit.logged.join('\n')).toContain('an invalid list: it has more than 1000000 bytes');
  });

  it('may not answer a call with more messages than the limit', async () => {
    await using server = await listingServer(() => '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}');
    await using kit = await gatewayBefore(server);
    const answer = JSON.stringify(await (await kit.client()).callTool('t'));
    expect(answer).toContain('BACKEND_PROTOCOL');
  });
});

describe("a backend that lists what is another's", () => {
  it('is logged in at most a hundred lines, with the number of further problems', async () => {
    const server = (): FakeServer => {
      const made = fakeServer();
      for (let n = 0; n < 300; n++) made.resource(`memo://${n}`, 'x');
      return made;
    };
    await using kit = await testGateway({ backends: { one: server(), other: server() } });
    const told = kit.logged.filter((line) => line.includes('the catalogue is incomplete'));
    expect(told).toHaveLength(101);
    expect(told.at(-1)).toContain('"more":200');
  });
});

describe('a client that sends an array', () => {
  it('is refused without a look at each of its elements', () => {
    const body = Buffer.from(`[${'0,'.repeat(3_000_000)}0]`);
    expect(readMessage(body)).toMatchObject({ misread: { code: -32600 } });
    const readMs = fastest(() => readMessage(body));
    expect(readMs / fastest(() => JSON.parse(body.toString()))).toBeLessThan(RATIO);
  });
});

/** One pass more than the decoder takes about twice its time, a buffer for each element more than ten times. */
const RATIO = 6;

function fastest(run: () => unknown): number {
  const times = [1, 2, 3].map(() => {
    const usedMs = cpuClock();
    run();
    return usedMs();
  });
  return Math.min(...times);
}
