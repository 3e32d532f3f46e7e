import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testClient } from '@toolmgr/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { startCli } from '../../support/cli.ts';
import { cliSession } from '../../support/cli-session.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { apiKeys, writeVmcpFile } from '../../support/vmcp-file.ts';

const MEMORY = join(import.meta.dirname, '../../../node_modules/@modelcontextprotocol/server-memory/dist/index.js');
const OPS = 'principal has claim_groups && principal.claim_groups.contains("ops")';

const cli = cliSession();
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('decide');
});

const memoryFile = (): string => join(folder, 'memory.json');

/** A file with a real server and these policies. */
function write(policies: readonly string[], more: object = {}): Promise<string> {
  const env = { MEMORY_FILE_PATH: memoryFile() };
  const memory = { transport: 'stdio', command: { file: process.execPath, args: [MEMORY], env } };
  return writeVmcpFile(
    folder,
    { memory },
    { incomingAuth: { type: 'anonymous', authz: { type: 'cedar', policies } }, ...more },
  );
}

/** A JSON file in the folder. */
async function json(name: string, value: unknown): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, JSON.stringify(value));
  return file;
}

const ENTITY = { entities: [{ name: 'Ada', entityType: 'person', observations: [] }] };

describe('vmcp explain call', () => {
  proves('ask.vmcp.explain-call', 'decides one call of a person, names the policy, and sends nothing', async () => {
    const file = await write([`@id("ops-write") permit(principal, action, resource) when { ${OPS} };`]);
    const call = ['call', 'memory_create_entities', JSON.stringify(ENTITY)];
    const ada = await json('ada.json', { sub: 'ada', groups: ['ops'] });
    const permitted = await cli(['vmcp', 'explain', '-c', file, '--as', ada, ...call]);
    expect(permitted).toMatchObject({ code: 0, err: '' });
    expect(permitted.out).toMatch(/^call by +ada\ndecision +permitted\npolicies +allowed by policy: ops-write$/m);
    expect(permitted.out).toMatch(/^would be sent +create_entities \{"entities".* to memory; nothing was sent$/m);
    await expect(readFile(memoryFile())).rejects.toThrow(/ENOENT/);

    const refused = await cli(['vmcp', 'explain', '-c', file, '--json', ...call]);
    expect(refused.code).toBe(5);
    expect(JSON.parse(refused.out)).toMatchObject({
      found: true,
      mayRewrite: {},
      call: { caller: 'anonymous', decision: 'refused', status: 403, told: [{ fields: { policies: [] } }] },
    });
    expect(JSON.parse(refused.out).call).not.toHaveProperty('sent');
  });

  it('says that a person must agree first', async () => {
    const file = await write(['@id("asks") @approval("This reads all") permit(principal, action, resource);']);
    const told = await cli(['vmcp', 'explain', '-c', file, 'call', 'memory_read_graph']);
    expect(told.code).toBe(0);
    expect(told.out).toMatch(/^decision +permitted: when a person agrees\npolicies +allowed by policy: asks$/m);
  });

  it('shows a definition that is held, and the arguments as other plugins rewrite them', async () => {
    const aggregation = {
      conflictResolution: 'prefix',
      tools: [{ workload: 'memory', overrides: { read_graph: { name: 'graph' } } }],
    };
    const pins = join(folder, 'pins.json');
    const file = await write(['permit(principal, action, resource);'], { aggregation });
    const renamed = await cli(['vmcp', 'explain', '-c', file, 'call', 'memory_graph']);
    expect(renamed.out).toMatch(/^would be sent +read_graph \{\} to memory/m);
    const held = await write(['permit(principal, action, resource);'], {
      toolPinning: { mode: 'approve', file: pins },
    });
    const told = await cli(['vmcp', 'explain', '-c', held, 'call', 'memory_read_graph']);
    expect(told.code).toBe(5);
    expect(told.out).toMatch(/^decision +refused \(403\): this tool is held until a person approves it/m);
  });

  it('refuses what it cannot decide, and says how to ask', async () => {
    const file = await write(['permit(principal, action, resource);']);
    const oidc = { issuer: 'https://idp.test', audience: 'toolmgr', clientId: 'toolmgr' };
    const apart = await mkdtemp(join(folder, 'sign-in-'));
    const signIn = await writeVmcpFile(apart, {}, { incomingAuth: { type: 'oidc', oidc } });
    const cases: readonly [readonly string[], RegExp][] = [
      [['call', 'memory_read_graph'], /a call is decided by a file: -c FILE/],
      [['-c', file, 'call', 'memory_read_graph', '[1]'], /not a JSON object: \[1\]/],
      [['-c', file, 'call', 'memory_read_graph', '{}', '{}'], /as one JSON object, in quotes/],
      [['-c', file, 'memory_read_graph', '{}'], /"call" before it takes arguments/],
      [['-c', file, '--as', await json('no.json', { name: 'Ada' }), 'call', 'x'], /no\.json: expected .* "sub"/],
      [['-c', file, '--as', await json('two.json', [{ sub: 'a' }, { sub: 'b' }]), 'call', 'x'], /has 2 people/],
      [['-c', file, '--as', join(folder, 'absent.json'), 'call', 'x'], /absent\.json cannot be read \(ENOENT\)/],
      [['-c', signIn, 'call', 'x'], /sign in: give the claims of one with --as/],
    ];
    for (const [words, error] of cases) {
      expect(await cli(['vmcp', 'explain', ...words])).toMatchObject({ code: 1, err: expect.stringMatching(error) });
    }
  });
});

describe('vmcp simulate', () => {
  proves(
    'ask.vmcp.simulate',
    'names the calls of an audit file that another file would decide differently, for each caller',
    async () => {
      const audit = join(folder, 'audit.log');
      const more = {
        audit: { enabled: true, logFile: audit, includeRequestData: true },
        plugins: [apiKeys('ada', 'eve')],
      };
      const before = await write(
        ['permit(principal, action, resource);', 'forbid(principal, action, resource == Tool::"memory_open_nodes");'],
        more,
      );
      {
        await using serving = startCli(['vmcp', 'serve', '-c', before, '--port', '0']);
        const [, url = ''] = await serving.printed(/serves (http:\S+)/);
        for (const name of ['ada', 'eve']) {
          const headers = { 'x-api-key': `key-of-${name}` };
          const client = await testClient((request) => {
            for (const [header, value] of Object.entries(headers)) request.headers.set(header, value);
            return fetch(request);
          }, url);
          await until(async () => (await client.toolNames()).includes('memory_read_graph'));
          await client.callTool('memory_read_graph', {});
          await client.callTool('memory_create_entities', ENTITY);
          await client.callTool('memory_open_nodes', { names: ['Ada'] }).catch(() => {});
        }
        await until(async () => (await readFile(audit, 'utf8')).split('memory_open_nodes').length > 2);
      }
      const graph = await readFile(memoryFile(), 'utf8');
      const after = await write(
        [
          `@id("ops") permit(principal, action, resource) when { ${OPS} };`,
          '@id("all-read") permit(principal, action, resource == Tool::"memory_read_graph");',
        ],
        { audit: more.audit },
      );
      const lines = await readFile(audit, 'utf8');
      const people = await json('people.json', [{ sub: 'ada', groups: ['ops'] }, { sub: 'eve' }]);
      const told = await cli([
        'vmcp',
        'simulate',
        '-c',
        after,
        '--people',
        people,
        '--json',
        '--fail-on-changes',
        audit,
      ]);
      expect(told).toMatchObject({ code: 2, err: '' });
      const { changes, ...counts } = JSON.parse(told.out);
      expect(changes).toMatchObject([
        { change: 'now permitted', caller: 'ada', tool: 'memory_open_nodes', policies: ['ops'], count: 1 },
        { change: 'now refused', caller: 'eve', tool: 'memory_create_entities', policies: [], count: 1 },
      ]);
      expect(changes[1].reason).toMatch(/denied by authorization policy/);
      expect(counts).toMatchObject({ decided: 6, inner: 0, withoutArguments: 0, unknownCallers: [] });
      // nothing was called, and nothing was audited
      expect(await readFile(memoryFile(), 'utf8')).toBe(graph);
      expect(await readFile(audit, 'utf8')).toBe(lines);

      const text = await cli(['vmcp', 'simulate', '-c', after, audit]);
      expect(text.code).toBe(0);
      expect(text.out).toMatch(/^now refused +1 {2}ada {2}memory_create_entities {2}\(call denied/m);
      expect(text.err).toMatch(/6 calls decided, 2 would end in another way/);
      expect(text.err).toMatch(/decided without their claims, which --people gives: ada, eve/);
    },
  );

  it('decides calls of anonymous callers without asking for their claims', async () => {
    const file = await write(['forbid(principal, action, resource);']);
    const audit = await json('audit.log', {
      ...{ msg: 'audit_event', type: 'mcp_tool_call', outcome: 'success' },
      ...{ subjects: { user: 'anonymous', user_id: 'anonymous' }, target: { name: 'memory_read_graph' } },
    });
    const { out } = await cli(['vmcp', 'simulate', '-c', file, '--json', audit]);
    expect(JSON.parse(out)).toMatchObject({ changes: [{ caller: 'anonymous' }], decided: 1, unknownCallers: [] });
  });

  it('refuses files that it cannot read as an audit', async () => {
    const file = await write(['permit(principal, action, resource);']);
    const other = join(folder, 'other.log');
    await writeFile(other, 'hello\n{"msg":"x"}\n');
    expect(await cli(['vmcp', 'simulate', '-c', file, other])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/other\.log is no audit file/),
    });
    expect(await cli(['vmcp', 'simulate', '-c', file, join(folder, 'none.log')])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/none\.log cannot be read \(ENOENT\)/),
    });
  });
});
