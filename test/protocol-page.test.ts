import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Era, JsonObject } from '@toolmgr/core';
import { type FakeContext, fakeServer, type TestClientOptions, testGateway, text } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import { proves } from './support/proves.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../docs/reference/protocol.md'), 'utf8');
const LEGACY: Era = '2025-11-25';
const MODERN: Era = '2026-07-28';

/** Cells of the body rows of the first table below a heading. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const from = PAGE.indexOf(`${heading}\n`);
  const lines = PAGE.slice(from).split('\n').slice(1);
  const start = lines.findIndex((line) => line.startsWith('|'));
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  return lines.slice(start + 2, start + length).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

describe('the page of the protocol, methods', () => {
  const rows = rowsBelow('## Methods');

  it('lists every method once', () => {
    const named = rows.flatMap(([methods = '']) => [...methods.matchAll(/`([^`*]+)`/g)].map(([, method]) => method));
    expect(named).toHaveLength(new Set(named).size);
    expect(named.length).toBeGreaterThan(15);
  });

  it.each([
    [LEGACY, 1],
    [MODERN, 2],
  ] as const)('lists the methods that a gateway serves to clients of %s', async (era, column) => {
    const server = fakeServer().tool('t').prompt('p', 'words').resource('test://r', 'text');
    server.on('completion/complete', () => ({ completion: { values: [] } }));
    await using kit = await testGateway({ backends: { server } });
    const client = await kit.client({ era });
    const wrong: string[] = [];
    for (const row of rows) {
      const isRefused = row[column]?.startsWith('-32601') === true;
      for (const [, method = ''] of (row[0] ?? '').matchAll(/`([^`]+)`/g)) {
        const { status, error } = await client.request(method.replace('*', 'get'), PARAMS[method] ?? {});
        const wasRefused = error?.code === -32601 && status === (era === MODERN ? 404 : 200);
        if (wasRefused !== isRefused) wrong.push(`${method}: ${status} ${error?.code} ${error?.message}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});

/** Valid params of a served method; a listen with an invalid filter ends immediately. */
const PARAMS: Readonly<Record<string, JsonObject>> = {
  initialize: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  'logging/setLevel': { level: 'error' },
  'tools/call': { name: 't', arguments: {} },
  'prompts/get': { name: 'p' },
  'resources/read': { uri: 'test://r' },
  'resources/subscribe': { uri: 'test://r' },
  'resources/unsubscribe': { uri: 'test://r' },
  'completion/complete': { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } },
  'tasks/*': { name: 'task', taskId: 'task' },
};

const FORM = { message: 'name?', requestedSchema: { type: 'object', properties: {} } };
const ELICIT = { who: { method: 'elicitation/create', params: FORM } };
const DECLARES: TestClientOptions = { capabilities: { elicitation: {} }, answer: () => ({ action: 'decline' }) };

const asksModern = () => ({ resultType: 'input_required', inputRequests: ELICIT, requestState: 'mine' });

/** Sends a legacy elicitation and reports the outcome. */
async function asksLegacy(context: FakeContext): Promise<JsonObject> {
  try {
    await context.ask('elicitation/create', FORM);
    return text('answered');
  } catch (error) {
    return text(`refused with ${(error as { code: number }).code}`);
  }
}

/** Calls `t` of a server of one era as a client of one era. */
async function call(
  [client, backend]: readonly [Era, Era],
  answer: (context: FakeContext) => JsonObject | Promise<JsonObject>,
  options: TestClientOptions = {},
  limits: Readonly<Record<string, number>> = {},
) {
  const server = fakeServer([backend]).tool('t', answer);
  await using kit = await testGateway({ backends: { server }, plan: { limits } });
  const near = await kit.client({ era: client, ...options });
  const reply = await near.request('tools/call', { name: 't', arguments: {} });
  const again = (params: JsonObject) => near.request('tools/call', { name: 't', arguments: {}, ...params });
  const { result, error, status } = reply;
  if (result?.resultType !== 'input_required') {
    return { result, error, status, changed: undefined, elsewhere: undefined };
  }
  const inputResponses = { who: { action: 'decline' } };
  const changed = await again({ inputResponses, requestState: `${String(result.requestState)}x` });
  const elsewhere = await again({
    inputResponses,
    requestState: String(result.requestState),
    arguments: { other: true },
  });
  let last = reply;
  for (let round = 0; round < 12 && last.result?.resultType === 'input_required'; round++) {
    last = await again({ inputResponses, requestState: String(last.result.requestState) });
  }
  return { ...last, changed, elsewhere };
}

const textOf = (result: JsonObject | undefined): unknown => (result?.content as JsonObject[] | undefined)?.[0]?.text;

/** A test for each row of the page: the start of its situation, the text its answer must contain, and the test. */
const TRIALS: readonly (readonly [situation: string, answer: readonly string[], trial: () => Promise<void>])[] = [
  [
    'a backend asks for something that the client did not declare, 2026-07-28 client',
    ['-32021', '400', '-32601 before'],
    async () => {
      for (const [backend, asks] of [
        [LEGACY, asksLegacy],
        [MODERN, asksModern],
      ] as const) {
        const { error, status } = await call([MODERN, backend], asks);
        expect(error, backend).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: {} } } });
        expect(status, backend).toBe(400);
      }
    },
  ],
  [
    'the same, 2025-11-25 client and backend',
    ['the backend gets -32601'],
    async () => {
      const { result } = await call([LEGACY, LEGACY], asksLegacy);
      expect(textOf(result)).toBe('refused with -32601');
    },
  ],
  [
    'a 2026-07-28 backend asks, and the 2025-11-25 client cannot be asked',
    ['tool failure', '-32603'],
    async () => {
      const { result } = await call([LEGACY, MODERN], asksModern);
      expect(result?.isError).toBe(true);
      const server = fakeServer([MODERN]).prompt('p', asksModern);
      await using kit = await testGateway({ backends: { server } });
      const { error } = await (await kit.client({ era: LEGACY })).request('prompts/get', { name: 'p' });
      expect(error?.code).toBe(-32603);
    },
  ],
  [
    'more rounds than `limits.rounds`',
    ['-32603'],
    async () => {
      const { error } = await call([MODERN, MODERN], asksModern, DECLARES, { rounds: 3 });
      expect(error?.code).toBe(-32603);
      const { result } = await call([LEGACY, MODERN], asksModern, DECLARES, { rounds: 3 });
      expect(result?.isError).toBe(true);
    },
  ],
  [
    'no place to park one more call',
    ['-32603'],
    async () => {
      const { result } = await call([MODERN, LEGACY], asksLegacy, DECLARES, { parkedCalls: 0 });
      expect(textOf(result)).toBe('refused with -32603');
    },
  ],
  [
    'a `requestState` that was changed',
    ['-32602', 'one text'],
    async () => {
      const { changed, elsewhere } = await call([MODERN, MODERN], asksModern, DECLARES, { rounds: 3 });
      expect(changed?.error?.code).toBe(-32602);
      expect(elsewhere?.error).toEqual(changed?.error);
    },
  ],
  [
    'a question of a backend outside any call, 2026-07-28 client',
    ['the backend gets -32601'],
    async () => {
      let kept: FakeContext | undefined;
      const server = fakeServer([LEGACY]).tool('t', (context) => {
        kept = context;
        return text('done');
      });
      await using kit = await testGateway({ backends: { server } });
      await (await kit.client(DECLARES)).callTool('t');
      await expect(kept?.ask('elicitation/create', FORM)).rejects.toMatchObject({ code: -32601 });
    },
  ],
  [
    'a result of a type that an extension defines',
    ['-32603'],
    async () => {
      const { error } = await call([MODERN, MODERN], () => ({ resultType: 'vendor/later', ticket: 1 }));
      expect(error?.code).toBe(-32603);
    },
  ],
  [
    'the extensions tasks and skills',
    ['hidden', '-32601'],
    async () => {
      const server = fakeServer([MODERN]).tool('t');
      server.capabilities.extensions = {
        'io.modelcontextprotocol/tasks': {},
        'io.modelcontextprotocol/skills': {},
        'io.modelcontextprotocol/ui': {},
      };
      await using kit = await testGateway({ backends: { server } });
      const client = await kit.client();
      const { result } = await client.request('server/discover');
      expect(result?.capabilities).toMatchObject({ extensions: { 'io.modelcontextprotocol/ui': {} } });
      expect(JSON.stringify(result)).not.toMatch(/tasks|skills/);
      expect((await client.request('skills/list')).error?.code).toBe(-32601);
    },
  ],
];

describe('the page of the protocol, what cannot be bridged', () => {
  const rows = rowsBelow('### What cannot be bridged');

  it('has a test for every row, and a row for every test', () => {
    const untried = rows.filter(([situation = '']) => !TRIALS.some(([start]) => situation.startsWith(start)));
    const unwritten = TRIALS.filter(([start]) => !rows.some(([situation = '']) => situation.startsWith(start)));
    expect([untried, unwritten.map(([start]) => start)]).toEqual([[], []]);
  });

  for (const [start, words, trial] of TRIALS) {
    proves(
      ['ask.backend.unbridgeable', 'choice.bridge.not-bridgeable-listed'],
      `says what happens: ${start}`,
      async () => {
        const [, answer = ''] = rows.find(([situation = '']) => situation.startsWith(start)) ?? [];
        for (const word of words) expect(answer).toContain(word);
        await trial();
      },
    );
  }
});
