import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import {
  type CatalogEntry,
  type Core,
  definePlugin,
  type Era,
  type JsonObject,
  type Plugin,
  tapDecision,
} from '@toolmgr/core';
import { fakeServer, type TestClient, testGateway } from '@toolmgr/core/testing';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { type GoProgram, goProgram } from '../../support/go-program.ts';
import { optimized } from '../../support/optimized-gateway.ts';
import { proves } from '../../support/proves.ts';

const BUILD_MS = 450_000;
const ERAS: readonly Era[] = ['2025-11-25', '2026-07-28'];
const CLOSED = { refused: true, status: 403, reason: 'closed' } as const;

/** Nothing secret or closed, and no file but /open. */
const policy: Plugin = definePlugin({
  address: 'policy',
  config: z.strictObject({}),
  apply({ hooks }: Core) {
    const isOpen = ({ key }: CatalogEntry) => !/secret|closed/.test(key);
    tapDecision(hooks, 'policy', (entry) => (isOpen(entry) ? undefined : CLOSED));
    hooks.authorize.tap('files', ({ arguments: given }) => {
      const asked = given.path;
      return asked === undefined || asked === '/open' ? undefined : CLOSED;
    });
  },
});

let program: GoProgram;
beforeAll(async () => {
  program = await goProgram('go-folding');
}, BUILD_MS);

/** Params that policy lets pass and that Go reads as something else. */
const ATTACKS: readonly (readonly [string, JsonObject])[] = [
  ['tools/call', { name: 'go_echo', Name: 'secret' }],
  ['tools/call', { name: 'go_echo', NAME: 'secret', arguments: {} }],
  ['tools/call', { name: 'go_echo', arguments: { text: 'a' }, Arguments: { text: 'b' } }],
  ['tools/call', { name: 'go_echo', arguments: { text: 'a' }, argumentſ: { text: 'b' } }],
  ['tools/call', { name: 'read_file', arguments: { path: '/open', Path: '/closed' } }],
  ['tools/call', { name: 'read_file', arguments: { PATH: '/closed' } }],
  ['tools/call', { name: 'read_file', arguments: { path: '/open', options: { task: 'look', taſK: 'spy' } } }],
  ['tools/call', { name: 'read_file', arguments: { path: '/open', options: { tas\u212a: 'spy' } } }],
  ['prompts/get', { name: 'open', Name: 'closed' }],
  ['resources/read', { uri: 'memo://open', URI: 'memo://closed' }],
  ['resources/read', { uri: 'memo://open', urı: 'memo://closed' }],
];

describe('a server that finds members without regard to case', () => {
  for (const era of ERAS) {
    proves(
      ['choice.wire.look-alike-params', 'choice.order.look-alike-arguments'],
      `gets nothing but what policy has seen, from a client of ${era}`,
      async (context) => {
        if ('missing' in program) return context.skip(program.missing);
        const command = { file: program.file, args: [] };
        await using kit = await testGateway({ plugins: [policy], backends: { go: { transport: 'stdio', command } } });
        const client = await kit.client({ era });
        expect(await client.toolNames()).toEqual(['go_echo', 'read_file']);
        for (const [method, params] of ATTACKS) {
          const { error, result } = await client.request(method, params);
          expect([method, params, error?.code, result]).toEqual([method, params, -32602, undefined]);
          expect(error?.message).toMatch(/only by case/);
        }
        const given = { path: '/open', options: { task: 'look' } };
        expect(JSON.stringify(await client.callTool('read_file', given))).toContain('read /open for look');
      },
      BUILD_MS,
    );
  }

  it('runs unauthorized calls without the check: the attacks are real', async (context) => {
    if ('missing' in program) return context.skip(program.missing);
    expect(await directly(program.file, { name: 'go_echo', Name: 'secret' })).toContain('ran secret');
    const given = { path: '/open', options: { tas\u212a: 'spy' }, Path: '/closed' };
    expect(await directly(program.file, { name: 'read_file', arguments: given })).toContain('read /closed for spy');
  });
});

/** What the program answers a tools/call on its standard input. */
async function directly(file: string, params: JsonObject): Promise<string> {
  const child = spawn(file, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const clientInfo = { name: 'x', version: '1' };
  for (const message of [
    { id: 1, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo } },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params },
  ]) {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
  for await (const line of createInterface(child.stdout)) if (line.includes('"id":2')) return line;
  throw new Error('the program ended without an answer');
}

describe('params of a request', () => {
  const asked = async (method: string, params: JsonObject, era: Era = '2025-11-25') => {
    const server = fakeServer(['2025-11-25'])
      .tool('t', undefined, { inputSchema: { type: 'object', properties: { n: {}, N: {}, path: {} } } })
      .prompt('p', 'x', { arguments: [{ name: 'topic' }] })
      .resource('memo://a', 'x');
    server.capabilities.completions = {};
    server.on('completion/complete', () => ({ completion: { values: [] } }));
    await using kit = await testGateway({ backends: { far: server } });
    const client = await kit.client({ era });
    const before = server.received.length;
    const reply = await client.request(method, params);
    return { ...reply, sent: server.received.slice(before).filter((got) => got.method === method) };
  };

  proves(
    'choice.wire.look-alike-params',
    'are refused with a member that differs from a known one only by case',
    async () => {
      const refused: readonly (readonly [string, JsonObject])[] = [
        ['tools/call', { name: 't', _Meta: {} }],
        ['tools/call', { name: 't', RequestState: 'x' }],
        ['tools/call', { name: 't', Task: {} }],
        ['tools/list', { Cursor: 'x' }],
        ['resources/subscribe', { uri: 'memo://a', Uri: 'memo://b' }],
        ['logging/setLevel', { level: 'debug', Level: 'error' }],
        [
          'completion/complete',
          { ref: { type: 'ref/prompt', name: 'p', Name: 'q' }, argument: { name: 'a', value: '' } },
        ],
        [
          'completion/complete',
          { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', Name: 'b', value: '' } },
        ],
      ];
      for (const [method, params] of refused) {
        const { status, error, sent } = await asked(method, params);
        expect([method, params, status, error?.code, sent]).toEqual([method, params, 400, -32602, []]);
      }
    },
  );

  proves('choice.wire.forwarded-params', 'reach a backend only as far as policy knows them', async () => {
    const call = await asked('tools/call', { name: 't', arguments: { a: 1 }, task: { ttl: 1 }, other: 1 });
    expect(call.sent).toEqual([{ method: 'tools/call', params: { name: 't', arguments: { a: 1 } } }]);
    const ref = { type: 'ref/prompt', name: 'p', uri: 'memo://closed', title: 'x' };
    const argument = { name: 'topic', value: 'a' };
    const complete = await asked('completion/complete', { ref, argument, other: 1 });
    expect(complete.sent).toMatchObject([{ params: { ref: { type: 'ref/prompt', name: 'p' }, argument } }]);
    expect(Object.keys(complete.sent[0]?.params.ref as object)).toEqual(['type', 'name']);
    const odd = await asked('completion/complete', { ref: { type: 'ref/other', name: 'p' }, argument });
    expect(odd.error?.code).toBe(-32602);
  });

  proves(
    'choice.order.look-alike-arguments',
    'keep arguments that the tool itself declares in two spellings',
    async () => {
      const both = await asked('tools/call', { name: 't', arguments: { n: 1, N: 2, camelCase: 3 } });
      expect(both.sent).toEqual([
        { method: 'tools/call', params: { name: 't', arguments: { n: 1, N: 2, camelCase: 3 } } },
      ]);
      const prompt = await asked('prompts/get', { name: 'p', arguments: { Topic: 'x' } });
      expect([prompt.error?.code, prompt.sent]).toEqual([-32602, []]);
    },
  );

  proves(
    'choice.fidelity.reserved-meta-request',
    'leave reserved _meta behind in whatever case it is spelled',
    async () => {
      const own = { 'example.com/Kept': 1 };
      const reserved = { ProgressToken: 7, 'IO.ModelContextProtocol/logLevel': 'debug', 'x.mCP/y': 1 };
      const { sent } = await asked('tools/call', { name: 't', _meta: { ...own, ...reserved } });
      expect(sent[0]?.params._meta).toEqual(own);
    },
  );
});

describe('an inner call', () => {
  const throughCallTool = async (client: TestClient, parameters: unknown) =>
    JSON.stringify(await client.callTool('call_tool', { tool_name: 't', parameters: parameters as JsonObject }));

  proves(
    ['choice.order.look-alike-arguments', 'choice.wire.repeated-members'],
    'is refused for what a call of the client would be refused for, JSON text included',
    async () => {
      const server = fakeServer().tool('t', undefined, { inputSchema: { type: 'object', properties: { path: {} } } });
      await using kit = await optimized({}, { far: server });
      const client = await kit.client({ era: '2025-11-25' });
      const before = server.received.length;
      expect(await throughCallTool(client, '{"path":"/open","path":"/closed"}')).toContain('duplicate');
      expect(await throughCallTool(client, '{"a":[{"b":1,"\\u0062":2}]}')).toContain('duplicate');
      expect(await throughCallTool(client, '{"Path":"/closed"}')).toContain('only by case');
      expect(await throughCallTool(client, { Path: '/closed' })).toContain('only by case');
      expect(server.received.slice(before)).toEqual([]);
      expect(await throughCallTool(client, '{"path":"/open"}')).toContain('/open');
    },
  );

  proves(
    'choice.order.look-alike-arguments',
    'reveals declared names only to callers that may use the tool',
    async () => {
      const server = fakeServer().tool('secret', 'x', { inputSchema: { type: 'object', properties: { path: {} } } });
      await using kit = await testGateway({ plugins: [policy], backends: { far: server } });
      const client = await kit.client();
      const ask = (name: string) => client.request('tools/call', { name, arguments: { Path: 'x' } });
      const { error } = await ask('secret');
      expect(error).toMatchObject({ code: 403 });
      expect(JSON.stringify(error)).not.toContain('path');
    },
  );
});
