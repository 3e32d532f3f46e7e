import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { operation, problem } from '@toolmgr/plugins/kit/operations';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { UsageError } from '../../../hosts/shared/usage-error.ts';
import { type StartedManager, startManager } from '../../support/manager.ts';
import { proves } from '../../support/proves.ts';

const removed: string[] = [];

const list = operation({
  id: 'listThings',
  method: 'GET',
  path: '/api/v1beta/things',
  tag: 'test',
  summary: 'List things',
  query: z.strictObject({ limit: z.coerce.number().int().max(10).default(5) }),
  answers: { 200: { description: 'things', schema: z.strictObject({ limit: z.int() }) } },
  problems: [],
  tool: { name: 'list_things', readOnly: true, idempotent: true },
  async run({ query }) {
    return { status: 200, body: { limit: query.limit } };
  },
});

const remove = operation({
  id: 'removeThing',
  method: 'DELETE',
  path: '/api/v1beta/things/{name}',
  tag: 'test',
  summary: 'Remove a thing',
  params: z.strictObject({ name: z.string() }),
  answers: { 204: { description: 'removed' } },
  problems: ['not_found'],
  tool: { name: 'remove_thing', destructive: true },
  async run({ path }) {
    if (path.name === 'mistaken') throw new UsageError('config.yaml is not YAML');
    if (path.name === 'unknown') return problem('not_found', 'there is no thing "unknown"');
    removed.push(path.name);
    return { status: 204 };
  },
});

const add = operation({
  id: 'addThing',
  method: 'POST',
  path: '/api/v1beta/things/{name}',
  tag: 'test',
  summary: 'Add a thing',
  params: z.strictObject({ name: z.string() }),
  body: z.strictObject({ name: z.string(), size: z.int() }),
  answers: { 202: { description: 'accepted', schema: z.string() } },
  problems: [],
  tool: { name: 'add_thing' },
  async run({ context, body }) {
    const id = context.jobs.start('add 1 thing', [
      { name: body.name, run: async () => ({ status: 'done', detail: String(body.size) }) },
    ]);
    return { status: 202, body: '', headers: { location: `/api/v1beta/operations/${id}` } };
  },
});

const put = operation({
  id: 'putThing',
  method: 'PUT',
  path: '/api/v1beta/things',
  tag: 'test',
  summary: 'Put a thing',
  body: z.looseObject({ note: z.string().optional(), force: z.boolean().optional() }),
  answers: { 204: { description: 'put' } },
  problems: [],
  tool: { name: 'put_thing', destructive: { when: ['force'] } },
  async run({ body }) {
    removed.push(JSON.stringify(body));
    return { status: 204 };
  },
});

const OPERATIONS = [list, remove, add, put];

describe.each(['legacy', '2026-07-28'] as const)('operations as tools of MCP, revision %s', (revision) => {
  const connect = async ({ url, token }: StartedManager, answer?: 'accept' | 'decline'): Promise<Client> => {
    const client = new Client(
      { name: 'test', version: '1' },
      {
        capabilities: answer === undefined ? {} : { elicitation: {} },
        versionNegotiation: { mode: revision === 'legacy' ? 'legacy' : { pin: revision } },
      },
    );
    if (answer !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        asked.push(params.message);
        return answer === 'accept' ? { action: 'accept', content: { confirm: true } } : { action: 'decline' };
      });
    }
    const authorization = `Bearer ${token}`;
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp/manager`), { requestInit: { headers: { authorization } } }),
    );
    return client;
  };
  const asked: string[] = [];

  it('lists operations with their schemas and annotations, and runs them', async () => {
    await using manager = await startManager({ operations: OPERATIONS });
    await using client = disposable(await connect(manager));
    const { tools } = await client.listTools();
    const found = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
    expect(found.list_things).toMatchObject({
      inputSchema: { properties: { limit: { type: 'integer' } }, additionalProperties: false },
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    });
    expect(found.remove_thing?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(found.add_thing?.inputSchema.required).toEqual(['name', 'body']);
    const answer = await client.callTool({ name: 'list_things', arguments: { limit: 7 } });
    expect(answer.structuredContent).toEqual({ limit: 7 });
    const refused = await client.callTool({ name: 'list_things', arguments: { limit: 70, limt: 1 } });
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toContain('did you mean');
    const added = await client.callTool({ name: 'add_thing', arguments: { name: 'a', body: { name: 'b', size: 3 } } });
    const { operation: id } = added.structuredContent as { operation: string };
    const job = await client.callTool({ name: 'get_operation', arguments: { id } });
    expect(job.structuredContent).toMatchObject({ status: 'succeeded', items: [{ name: 'b', detail: '3' }] });
  });

  it('asks a person before it destroys something', async () => {
    await using manager = await startManager({ operations: OPERATIONS });
    removed.length = 0;
    await using accepting = disposable(await connect(manager, 'accept'));
    const done = await accepting.callTool({ name: 'remove_thing', arguments: { name: 'one' } });
    expect([done.isError ?? false, removed]).toEqual([false, ['one']]);
    expect(asked.at(-1)).toBe('Remove a thing: name "one"?');
    const unknown = await accepting.callTool({ name: 'remove_thing', arguments: { name: 'unknown' } });
    expect(unknown).toMatchObject({ isError: true, structuredContent: { code: 'not_found' } });
    const mistaken = await accepting.callTool({ name: 'remove_thing', arguments: { name: 'mistaken' } });
    expect(mistaken.structuredContent).toEqual({ code: 'bad_request', detail: 'config.yaml is not YAML' });

    await using declining = disposable(await connect(manager, 'decline'));
    const declined = await declining.callTool({ name: 'remove_thing', arguments: { name: 'two' } });
    expect(JSON.stringify(declined.content)).toContain('declined');

    await using silent = disposable(await connect(manager));
    const cannot = await silent.callTool({ name: 'remove_thing', arguments: { name: 'three' } });
    expect(JSON.stringify(cannot.content)).toContain('--mcp-without-confirmation');
    expect(removed).toEqual(['one']);
  });

  proves(
    'choice.manager.mcp-asks',
    `asks before a call that may overwrite, and shows all its arguments (${revision})`,
    async () => {
      await using manager = await startManager({ operations: OPERATIONS });
      removed.length = 0;
      await using silent = disposable(await connect(manager));
      const put = (client: Client, body: object) => client.callTool({ name: 'put_thing', arguments: { body } });
      expect((await put(silent, { force: false })).isError ?? false).toBe(false);
      expect(JSON.stringify((await put(silent, { force: true })).content)).toContain('does not support elicitation');
      expect(removed).toEqual(['{"force":false}']);

      await using accepting = disposable(await connect(manager, 'accept'));
      const hidden = `${'x'.repeat(3_000)}\u202e\u2028\u3164`;
      await put(accepting, { note: hidden, force: true, 'a\nb': '' });
      const shown = '\\u{202e}\\u{2028}\\u{3164}", force true, "a\\nb" ""?';
      expect(asked.at(-1)).toBe(`Put a thing: note "${'x'.repeat(3_000)}${shown}`);
      expect(removed).toHaveLength(2);
      const questions = asked.length;
      const long = await put(accepting, { note: 'x'.repeat(5_000), force: true });
      expect(JSON.stringify(long.content)).toContain('longer than the 4000 characters');
      expect([asked.length, removed.length]).toEqual([questions, 2]);
    },
  );

  proves('choice.manager.mcp-asks', `has no tool that overwrites unasked (${revision})`, async () => {
    await using manager = await startManager();
    await using client = disposable(await connect(manager));
    const { tools } = await client.listTools();
    const quiet = tools.filter(
      ({ annotations }) => annotations?.readOnlyHint !== true && annotations?.destructiveHint !== true,
    );
    // an operation that is cancelled and a restart keep what they have
    expect(quiet.map(({ name }) => name).sort()).toEqual(['cancel_operation', 'restart_servers']);
    const unasked: readonly (readonly [string, object])[] = [
      ['register_client', { name: 'cursor', endpoint: { name: 'x', url: 'http://127.0.0.1:9/mcp' }, force: true }],
      ['register_client', { name: 'cursor', force: true }],
      ['install_skill', { name: 'code-review', force: true }],
      ['install_skill', { name: 'code-review' }],
      ['build_skill', { path: '/tmp/evil', tag: 'ghcr.io/example/skills/code-review:1.2.0' }],
    ];
    for (const [name, given] of unasked) {
      const answer = await client.callTool({ name, arguments: { ...given } });
      expect(JSON.stringify(answer.content), name).toContain('does not support elicitation');
    }
  });

  it('runs destructive tools at once when the manager was started so', async () => {
    await using manager = await startManager({ operations: OPERATIONS, mcpWithoutConfirmation: true });
    removed.length = 0;
    await using client = disposable(await connect(manager));
    await client.callTool({ name: 'remove_thing', arguments: { name: 'four' } });
    expect(removed).toEqual(['four']);
  });

  it('needs the token', async () => {
    await using manager = await startManager({ operations: OPERATIONS });
    await expect(connect({ ...manager, token: 'wrong' })).rejects.toThrow();
  });
});

function disposable(client: Client): Client & AsyncDisposable {
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
