import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { patching, webhookServer } from '../../../support/webhook-server.ts';
import { farServer, hook, hooked } from './support.ts';

/** Sends a request through a gateway whose webhook answers with a patch. */
async function patched(patch: readonly JsonObject[], method: string, params: JsonObject) {
  await using server = await webhookServer(patching(...patch));
  const far = farServer().template('memo://t/{id}');
  await using kit = await hooked({ mutating: [hook(server)] }, { far });
  const { status, error } = await (await kit.client()).request(method, params);
  const last = far.received.findLast((request) => request.method === method);
  return { status, error, sent: last?.params, problem: kit.logged.join('\n') };
}

const CALL = { name: 'echo', arguments: { a: { b: [1, 2] }, list: [1, 2, 3] } };
const at = (path: string): string => `/mcp_request/params/${path}`;

describe('a patch', () => {
  const GOOD: readonly (readonly [string, readonly JsonObject[], JsonObject])[] = [
    ['adds', [{ op: 'add', path: at('arguments/c'), value: null }], { ...CALL.arguments, c: null }],
    [
      'adds at the end of an array',
      [{ op: 'add', path: at('arguments/list/-'), value: 4 }],
      { a: CALL.arguments.a, list: [1, 2, 3, 4] },
    ],
    ['removes', [{ op: 'remove', path: at('arguments/a') }], { list: [1, 2, 3] }],
    ['replaces', [{ op: 'replace', path: at('arguments'), value: { x: 1 } }], { x: 1 }],
    ['moves', [{ op: 'move', from: at('arguments/list'), path: at('arguments/a/b') }], { a: { b: [1, 2, 3] } }],
    ['copies', [{ op: 'copy', from: at('arguments/list/0'), path: at('arguments/n') }], { ...CALL.arguments, n: 1 }],
    ['tests', [{ op: 'test', path: at('name'), value: 'echo' }], CALL.arguments],
    [
      'takes escaped names',
      [{ op: 'add', path: at('arguments/a~1b~0c'), value: 1 }],
      { ...CALL.arguments, 'a/b~c': 1 },
    ],
    [
      'adds an argument named constructor only as data',
      [{ op: 'add', path: at('arguments/toString'), value: 1 }],
      { ...CALL.arguments, toString: 1 },
    ],
  ];
  for (const [what, patch, expected] of GOOD) {
    it(what, async () => {
      expect((await patched(patch, 'tools/call', CALL)).sent?.arguments).toEqual(expected);
    });
  }

  const op = (more: JsonObject): JsonObject[] => [{ op: 'replace', value: 1, ...more }];
  const BAD: readonly (readonly [string, readonly JsonObject[]])[] = [
    ['the method', op({ path: '/mcp_request/method', value: 'prompts/get' })],
    ['the id', op({ path: '/mcp_request/id' })],
    ['a new member of the request', [{ op: 'add', path: '/mcp_request/more', value: 1 }]],
    ['params as a whole', op({ path: '/mcp_request/params', value: { name: 'other' } })],
    ['the principal', op({ path: '/principal', value: null })],
    ['the whole document', op({ path: '' })],
    ['something outside as the source', [{ op: 'copy', from: '/principal', path: at('arguments/x') }]],
    ['arguments into a list', op({ path: at('arguments'), value: [] })],
    ['the name into a number', op({ path: at('name') })],
    ['members that the method does not have', [{ op: 'add', path: at('requestState'), value: {} }]],
    ['the length of an array', op({ path: at('arguments/list/length'), value: 1e9 })],
    ['an element beyond the array', [{ op: 'add', path: at('arguments/list/9'), value: 1 }]],
    ['inherited functions', op({ path: at('arguments/toString/call') })],
    ['prototypes', [{ op: 'add', path: at('arguments/__proto__/polluted'), value: 1 }]],
    ['constructors', [{ op: 'add', path: at('arguments/constructor/prototype/polluted'), value: 1 }]],
    [
      'a value after a failed test',
      [
        { op: 'test', path: at('name'), value: 'x' },
        { op: 'add', path: at('arguments/x'), value: 1 },
      ],
    ],
    ['with an unknown operation', op({ op: 'increment', path: at('arguments/a') })],
    ['without a value', [{ op: 'add', path: at('arguments/x') }]],
    [
      'by copies that double',
      [
        { op: 'add', path: at('arguments/x'), value: 'x'.repeat(1000) },
        ...Array.from({ length: 40 }, (_, n) => ({ op: 'copy', from: at('arguments'), path: at(`arguments/m${n}`) })),
      ],
    ],
  ];
  for (const [what, patch] of BAD) {
    proves('choice.webhooks.patch-scope', `cannot change ${what}`, async () => {
      const { status, error, sent, problem } = await patched(patch, 'tools/call', CALL);
      expect([status, error?.code, sent]).toEqual([500, -32603, undefined]);
      expect(problem).toContain('a webhook gives no valid answer');
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    });
  }

  proves('choice.webhooks.patch-scope', 'leaves what it does not name byte for byte', async () => {
    const given = '{"name":"echo","arguments":{"big":12345678901234567890,"deep":{"z":1.0},"n":1}}';
    let asked = '';
    await using server = await webhookServer(({ body, payload }) => {
      asked = body.toString();
      return patching({ op: 'replace', path: at('arguments/n'), value: 2 })(
        { body, payload, headers: {} },
        undefined as never,
      );
    });
    await using kit = await hooked({ mutating: [hook(server)] });
    const sent: string[] = [];
    kit.far.tool('echo', ({ arguments: got }) => {
      sent.push(JSON.stringify(got));
      return { content: [{ type: 'text', text: 'done' }] };
    });
    const reply = await kit.gateway.fetch(
      new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'echo',
        },
        body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${given.replace(/}$/, ',"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}')}}`,
      }),
    );
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('done')]);
    expect(asked).toContain('"big":12345678901234567890,"deep":{"z":1.0},"n":1');
    expect(sent).toEqual(['{"big":12345678901234567000,"deep":{"z":1},"n":2}']); // as the fake server decodes it
  });

  it('changes a URI, a prompt, a completion and _meta', async () => {
    const read = await patched(op({ path: at('uri'), value: 'memo://1' }), 'resources/read', { uri: 'memo://t/1' });
    expect(read.sent?.uri).toBe('memo://1');
    const prompt = await patched([{ op: 'add', path: at('arguments'), value: { x: '1' } }], 'prompts/get', {
      name: 'plan',
    });
    expect(prompt.sent?.arguments).toEqual({ x: '1' });
    const ref = { type: 'ref/prompt', name: 'plan' };
    const completion = { ref, argument: { name: 'x', value: 'a' } };
    const completed = await patched(op({ path: at('argument/value'), value: 'b' }), 'completion/complete', completion);
    expect(completed.sent?.argument).toEqual({ name: 'x', value: 'b' });
    const other = await patched(op({ path: at('ref/name'), value: 'other' }), 'completion/complete', completion);
    expect(other.status).toBe(500);
    const meta = { 'example.com/tag': 1, 'io.modelcontextprotocol/protocolVersion': 'x' };
    const tagged = await patched([{ op: 'add', path: at('_meta'), value: meta }], 'tools/call', CALL);
    expect(tagged.sent?._meta).toMatchObject({ 'example.com/tag': 1 });
    expect(JSON.stringify(tagged.sent?._meta)).not.toContain('"x"');
  });
});
