import { DEFAULT_LIMITS, RawObject } from '@toolmgr/core';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { describe, expect } from 'vitest';
import { TooManyMembers } from '../../../core/json/json-errors.ts';
import { idAtEdge } from '../../../core/mcp/backend-message.ts';
import { readMessage } from '../../../core/mcp/message.ts';
import { cpuClock, leastCpuMs } from '../../support/cpu-clock.ts';
import { proves } from '../../support/proves.ts';
import { httpBackend, httpServer, modernAnswers } from '../backend/support.ts';

/** The longest time that one message may occupy the event loop; the machine of a test is slower than a gateway's. */
const BLOCK_MS = 500;

/** As many times as long as it takes to look at each byte once, where that is longer: for slow machines. */
const READS = 12;

function readOnceMs(bytes: Buffer): number {
  const usedMs = cpuClock();
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 1) sum ^= bytes[at] ?? 0;
  expect(sum).toBeLessThan(256);
  return usedMs();
}

const call = (elements: string) =>
  Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":[${elements}]}}}`);
const list = (piece: string, bytes: number) => `${`${piece},`.repeat(bytes / (piece.length + 1))}1`;

describe('a message of very many values', () => {
  proves('choice.http.message-values', 'is refused by the scan, before anything is decoded', async () => {
    const max = DEFAULT_LIMITS.messageValues;
    for (const piece of ['1', '"a"', 'true', '1e5']) {
      const body = call(list(piece, 7_800_000));
      const refused = { misread: { code: -32600, message: expect.stringContaining(`more than ${max} values`) } };
      expect(readMessage(body)).toMatchObject(refused);
      expect(leastCpuMs(BLOCK_MS, () => readMessage(body))).toBeLessThan(BLOCK_MS);
    }
    expect(readMessage(Buffer.from(`[${list('1', 7_800_000)}]`))).toMatchObject({ misread: { code: -32600 } });
    const others = 6; // jsonrpc, id, method, params, name, arguments; "x" is inside a value
    expect(readMessage(call(list('1', 2 * (max - others))))).toMatchObject({ kind: 'request' });
    expect(readMessage(call(list('1', 2 * (max - others + 1))))).toMatchObject({ misread: { code: -32600 } });

    const backends = { far: fakeServer().tool('t') };
    await using kit = await testGateway({ backends, plan: { limits: { messageValues: 256 } } });
    const client = await kit.client({ era: '2025-11-25' });
    const request = (count: number) =>
      client.request('tools/call', { name: 't', arguments: { x: new Array(count).fill(1) } });
    expect((await request(300)).error?.code).toBe(-32600);
    expect((await request(200)).error).toBe(undefined);
  });

  proves('choice.http.result-values', 'is refused of a backend, wherever the id of the response is', async () => {
    const server = await httpServer(
      modernAnswers({
        tools: [{ name: 'first' }, { name: 'last' }, { name: 'few' }].map((tool) => ({
          ...tool,
          inputSchema: { type: 'object' },
        })),
        before: ({ message, response }) => {
          if (message?.method !== 'tools/call') return false;
          const { name } = message.params as { readonly name: string };
          const rows = `[${list('{"a":1}', name === 'few' ? 80 : 8_000)}]`;
          const result = `"result": {"resultType":"complete","content":[],"structuredContent":{"rows":${rows}}}`;
          const id = `"id": ${JSON.stringify(message.id)}`;
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(`{"jsonrpc":"2.0", ${name === 'last' ? `${result}, ${id}` : `${id}, ${result}`}}\n`);
          return true;
        },
      }),
    );
    const limits = { resultValues: 1_000 };
    await using kit = await testGateway({ backends: { far: httpBackend(server.url) }, plan: { limits } });
    const client = await kit.client();
    for (const name of ['first', 'last']) {
      expect(JSON.stringify(await client.callTool(name))).toMatch(/more than 1000 values \(BACKEND_TOO_LARGE\)/);
    }
    expect((await client.callTool('few')).isError).not.toBe(true);
  });

  proves('choice.http.result-values', 'of 90 MB occupies the event loop for a fraction of a second', () => {
    const { objectMembers, resultValues } = DEFAULT_LIMITS;
    const pieces = ['{"a":1},', '[]', '1,', '""', ' ', '7', '\n\t'];
    for (const piece of pieces) {
      const body = Buffer.from(`{"result":{"x":[${piece.repeat(90_000_000 / piece.length)}1]},"jsonrpc":"2.0","id":7}`);
      const parse = (): void => {
        try {
          RawObject.parse(body, new Set(['result']), objectMembers, resultValues, resultValues);
        } catch (cause) {
          if (!(cause instanceof TooManyMembers)) throw cause;
          expect(idAtEdge(body)).toBe(7);
        }
      };
      const limitMs = Math.max(BLOCK_MS, READS * readOnceMs(body));
      expect(leastCpuMs(limitMs, parse), JSON.stringify(piece)).toBeLessThan(limitMs);
    }
  });

  proves('choice.http.result-values', 'fails no other request than the one that it answers', () => {
    const id = (text: string) => idAtEdge(Buffer.from(text));
    expect(id('{"jsonrpc":"2.0","id":5,"result":{"id":6}}')).toBe(5);
    expect(id('{"jsonrpc": "2.0", "id": "listen-5" , "error" : {}}')).toBe('listen-5');
    expect(id('{"result":{"id":6},"id":5}')).toBe(5);
    expect(id('{"result":{"id":6}}')).toBe(undefined);
    expect(id('{"result":{"name":"id"}}')).toBe(undefined);
    expect(id('{"result":{"text":"{\\"id\\":6}"}}')).toBe(undefined);
    expect(id('{"method":"x","params":{"id":5}}')).toBe(undefined);
  });
});
