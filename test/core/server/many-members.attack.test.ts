import { DEFAULT_LIMITS, type JsonObject, type JsonValue, RawObject } from '@toolmgr/core';
import { fakeServer, type TestReply, testGateway } from '@toolmgr/core/testing';
import { parsePartialJson } from '@toolmgr/plugins/kit/secrets';
import { describe, expect, it } from 'vitest';
import { TooManyMembers } from '../../../core/json/json-errors.ts';
import { readMessage } from '../../../core/mcp/message.ts';
import { cpuClock } from '../../support/cpu-clock.ts';
import { proves } from '../../support/proves.ts';

const MANY = 80_000;
const members = (count: number, prefix = 'm', value: JsonValue = 1): JsonObject =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, value]));

describe('an object of many members', () => {
  proves('choice.http.object-members', 'is refused by the scan, at any depth, before anything is decoded', async () => {
    const max = DEFAULT_LIMITS.objectMembers;
    const body = (params: JsonValue) => Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'm', params }));
    for (const count of [max, max + 1]) {
      const refused = { misread: { code: -32600, message: expect.stringContaining(`more than ${max} members`) } };
      for (const params of [members(count), { _meta: members(count) }, { a: [[{ b: members(count) }]] }]) {
        const read = readMessage(body(params));
        if (count > max) expect(read).toMatchObject(refused);
        else expect(read).toMatchObject({ kind: 'request' });
      }
    }
    // two objects side by side have members of their own, and a name that comes again counts again
    expect(readMessage(body({ a: members(max), b: { c: members(max), d: members(max) } }))).toMatchObject({
      kind: 'request',
    });
    const again = `{${Array.from({ length: 100 }, () => '"a":1').join()}}`;
    expect(() => RawObject.parse(Buffer.from(again), undefined, 99)).toThrow(TooManyMembers);
    expect(() => RawObject.parse(Buffer.from(`{"x":${again}}`), undefined, 99)).toThrow(TooManyMembers);
    expect(RawObject.parse(Buffer.from(`{"x":${again}}`), undefined, 100).size).toBe(1);
  });

  proves('choice.http.message-containers', 'may not be one of very many objects and arrays in a message', async () => {
    const max = DEFAULT_LIMITS.messageContainers;
    expect(max).toBe(100_000);
    const body = (x: string) => Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":[${x}]}}`);
    const refused = {
      misread: { code: -32600, message: expect.stringContaining(`more than ${max} objects and arrays`) },
    };
    for (const piece of ['{}', '[]', '{"a":1}', '[[]]']) {
      const each = piece === '[[]]' ? 2 : 1;
      const fits = Array.from({ length: Math.floor((max - 1) / each) }, () => piece).join();
      expect(readMessage(body(fits))).toMatchObject({ kind: 'request' });
      expect(readMessage(body(`${fits},${piece}`))).toMatchObject(refused);
    }
    expect(readMessage(Buffer.from(`[${'{},'.repeat(max)}{}]`))).toMatchObject({ misread: { code: -32600 } });
    expect(readMessage(body('1,'.repeat(3 * max).slice(0, -1)))).toMatchObject({ kind: 'request' }); // numbers are cheap

    const server = fakeServer().tool('t');
    await using kit = await testGateway({ backends: { far: server }, plan: { limits: { messageContainers: 256 } } });
    const client = await kit.client({ era: '2025-11-25' });
    const many = Array.from({ length: 257 }, () => ({}));
    expect((await client.request('tools/call', { name: 't', arguments: { many } })).error?.code).toBe(-32600);
    expect((await client.request('tools/call', { name: 't', arguments: { many: many.slice(9) } })).error).toBe(
      undefined,
    );
  });

  proves('choice.http.object-members', 'has a bound that a setting moves', async () => {
    const server = fakeServer().tool('t');
    await using kit = await testGateway({ backends: { far: server }, plan: { limits: { objectMembers: 100 } } });
    const client = await kit.client({ era: '2025-11-25' });
    const few = await client.request('tools/call', { name: 't', arguments: members(100) });
    expect(few.result).toBeDefined();
    const many = await client.request('tools/call', { name: 't', arguments: members(101) });
    expect([many.status, many.error?.code]).toEqual([400, -32600]);
  });

  proves('choice.http.object-members', 'ends the call that a backend answers with it, and no other', async () => {
    const big = { content: [], structuredContent: { a: members(101) } };
    const server = fakeServer()
      .tool('big', () => big)
      .tool('small', 'fine');
    await using kit = await testGateway({ backends: { far: server }, plan: { limits: { objectMembers: 100 } } });
    for (const era of ['2025-11-25', '2026-07-28'] as const) {
      const client = await kit.client({ era });
      const { result } = await client.request('tools/call', { name: 'big' });
      expect(JSON.stringify(result)).toContain('BACKEND_TOO_LARGE');
      expect(JSON.stringify(await client.callTool('small'))).toContain('fine');
    }
  });
});

describe('80,000 members, where a setting lets them pass', () => {
  const QUICK_MS = 2_000; // each took 4 to 80 s where a loop looked through all of them for each of them

  /** What one request takes, in milliseconds of CPU. */
  const timed = async (params: JsonObject, method = 'tools/call', answer: JsonObject = { content: [] }) => {
    const server = fakeServer()
      .tool('t', () => answer)
      .prompt('p', () => ({ messages: [] }));
    const limits = { objectMembers: 200_000 };
    await using kit = await testGateway({ backends: { far: server }, plan: { limits } });
    const took: [string, number, TestReply['status']][] = [];
    for (const era of ['2025-11-25', '2026-07-28'] as const) {
      const client = await kit.client({ era });
      await client.request('tools/call', { name: 't' });
      const before = process.cpuUsage(); // the time of this process, not of what else the machine does
      const { status } = await client.request(method, params);
      const { user, system } = process.cpuUsage(before);
      took.push([era, (user + system) / 1000, status]);
    }
    return took;
  };

  const PARAMS: readonly (readonly [string, JsonObject, string?])[] = [
    ['params', { name: 't', ...members(MANY) }],
    ['_meta', { name: 't', _meta: members(MANY) }],
    ['reserved _meta', { name: 't', _meta: members(MANY, 'x.mcp/') }],
    ['arguments', { name: 't', arguments: members(MANY) }],
    ['arguments in two cases', { name: 't', arguments: members(MANY, 'aB') }],
    ['inputResponses', { name: 't', inputResponses: members(MANY, 'r', {}) }],
    ['arguments of a prompt', { name: 'p', arguments: members(MANY, 'aB', 'x') }, 'prompts/get'],
    ['a reference', { ref: { type: 'ref/prompt', name: 'p', ...members(MANY) }, argument: {} }, 'completion/complete'],
  ];
  for (const [what, params, method] of PARAMS) {
    proves('choice.http.linear-in-members', `in ${what} take time in proportion`, async () => {
      for (const [era, took] of await timed(params, method))
        expect([era, took < QUICK_MS, took]).toEqual([era, true, took]);
    });
  }

  const question = { method: 'elicitation/create', params: { mode: 'form', message: 'x', requestedSchema: {} } };
  const ANSWERS: readonly (readonly [string, JsonObject])[] = [
    ['a result', { content: [], ...members(MANY) }],
    ['structured content', { content: [], structuredContent: members(MANY) }],
    ['_meta', { content: [], _meta: members(MANY) }],
    ['reserved _meta', { content: [], _meta: members(MANY, 'x.mcp/') }],
    ['questions', { resultType: 'input_required', inputRequests: members(MANY / 8, 'q', question) }],
  ];
  for (const [what, answer] of ANSWERS) {
    proves('choice.http.linear-in-members', `in ${what} of a backend take time in proportion`, async () => {
      for (const [era, took] of await timed({ name: 't' }, 'tools/call', answer)) {
        expect([era, took < QUICK_MS, took]).toEqual([era, true, took]);
      }
    });
  }

  it('are found, left out and put together at once', () => {
    const text = Buffer.from(JSON.stringify(members(MANY)));
    const usedMs = cpuClock();
    const object = RawObject.parse(text);
    for (const key of object.keys()) if (object.get(key) === undefined) throw new Error(key);
    expect(object.without(...object.keys().slice(0, 60_000)).size).toBe(MANY - 60_000);
    const copy = RawObject.of(object.keys().map((key) => [key, object.get(key) as Buffer]));
    expect(copy.toBytes()).toEqual(text);
    expect(usedMs()).toBeLessThan(QUICK_MS);
  });

  it('a torn text that opens as many lists is closed at once', () => {
    const usedMs = cpuClock();
    expect(parsePartialJson(`${'['.repeat(1_000)}"a`)).toBeDefined();
    parsePartialJson('['.repeat(100_000));
    expect(usedMs()).toBeLessThan(QUICK_MS);
  });
});
