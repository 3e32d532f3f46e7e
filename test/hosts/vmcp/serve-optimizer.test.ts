import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { planFromConfig } from '../../../hosts/vmcp/plan.ts';
import { sourceOf } from '../../../hosts/vmcp/serve/config-source.ts';
import { startCli } from '../../support/cli.ts';
import { cliSession } from '../../support/cli-session.ts';
import { embeddingServer } from '../../support/embedding-server.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { readText } from '../../support/vmcp-text.ts';

const LONG = 120_000;
const cli = cliSession();
const CONFIG = {
  name: 'found',
  groupRef: 'dev',
  incomingAuth: { type: 'anonymous' },
  outgoingAuth: { source: 'inline' },
  aggregation: {},
};

async function fileOf(config: object): Promise<string> {
  const file = join(temporaryFolder('optimizer'), 'vmcp.yaml');
  await writeFile(file, stringify(config));
  return file;
}

const uses = async (optimizer: object): Promise<string[]> => {
  return (await readText(stringify({ ...CONFIG, optimizer }), 'x.yaml')).plan.plugins
    .map(({ use }) => use)
    .filter((use) => use.startsWith('optimizer/'));
};

describe('toolmgr vmcp serve with the optimizer', () => {
  proves(
    ['vmcp.optimizer.exposes-two-tools', 'vmcp.optimizer.embedding-service', 'vmcp.surface.find-and-call-tool'],
    'serves two tools, through which an SDK client finds and calls the others, and all tools at the direct path',
    async () => {
      await using far = await recordingServer();
      await using vectors = await embeddingServer();
      const file = await fileOf({
        ...CONFIG,
        backends: [{ name: 'far', url: far.url, transport: 'streamable-http' }],
        optimizer: { embeddingService: vectors.url, directPath: '/mcp/direct' },
      });
      const TOOLMGR_STATE_DIR = temporaryFolder('state');
      await using running = await startCli(['vmcp', 'serve', '-c', file, '--port', '0'], {
        env: { TOOLMGR_STATE_DIR },
      });
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      const connect = async (path: string) => {
        const client = new Client({ name: 'sdk', version: '1' });
        await client.connect(new StreamableHTTPClientTransport(new URL(path, url)));
        return client;
      };
      const client = await connect('/mcp');
      const direct = await connect('/mcp/direct');
      const listed = async (of: Client) => (await of.listTools()).tools.map(({ name }) => name);
      await until(async () => (await listed(direct)).includes('far_add'));
      expect(await listed(client)).toEqual(['call_tool', 'find_tool']);
      const found = async () => {
        const answer = await client.callTool({ name: 'find_tool', arguments: { tool_description: 'add two numbers' } });
        return answer.structuredContent as { tools: { name: string }[]; notice?: string };
      };
      await until(async () => (await found()).notice === undefined);
      expect((await found()).tools.map(({ name }) => name)).toContain('far_add');
      const sum = { name: 'call_tool', arguments: { tool_name: 'far_add', parameters: { a: 2, b: 3 } } };
      expect(await client.callTool(sum)).toEqual(await direct.callTool({ name: 'far_add', arguments: { a: 2, b: 3 } }));
      expect(vectors.requests.length).toBeGreaterThan(0);
      await Promise.all([client.close(), direct.close()]);
      const explained = await cli(['vmcp', 'explain', 'far_add', '-c', file]);
      expect(explained.out).toMatch(/clients see it through dispatcher tools, and in the list of the direct path/);
    },
    LONG,
  );

  proves(
    'ask.vmcp.serve-optimizer',
    'serves two tools for --optimizer, for a file without the section and for a group, and as the file says where it has one',
    async () => {
      await using far = await recordingServer();
      const backends = [{ name: 'far', url: far.url, transport: 'streamable-http' }];
      const file = await fileOf({ ...CONFIG, backends });
      const env = { TOOLMGR_STATE_DIR: temporaryFolder('state') };
      await using running = startCli(['vmcp', 'serve', '-c', file, '--optimizer', '--port', '0'], { env });
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      const found = ['call', 'find_tool', 'tool_description=add two numbers', '--url', url];
      await until(async () => (await cli(found)).out.includes('far_add'));
      expect((await cli(['tools', '--url', url, '--format', 'json'])).out).not.toContain('far_add');
      const planOf = async (options: object) => {
        const source = await sourceOf({ host: '127.0.0.1', port: 0, optimizer: true, ...options });
        return planFromConfig(source).plugins.find(({ use }) => use === 'optimizer/tools');
      };
      expect(await planOf({ group: 'dev' })).toEqual({ use: 'optimizer/tools', with: {} });
      const own = await fileOf({ ...CONFIG, backends, optimizer: { maxToolsToReturn: 3 } });
      expect(await planOf({ config: own })).toEqual({ use: 'optimizer/tools', with: { maxToolsToReturn: 3 } });
      expect(await planOf({ config: file, optimizer: false })).toBeUndefined();
    },
    LONG,
  );

  proves('vmcp.optimizer.embedding-provider', 'loads only the packages of the provider', async () => {
    expect(await uses({})).toEqual(['optimizer/search', 'optimizer/tools']);
    const embeddingService = 'http://vectors.test';
    expect(await uses({ embeddingService })).toContain('optimizer/embed-tei');
    expect(await uses({ embeddingProvider: 'openai', embeddingService, embeddingModel: 'm' })).toContain(
      'optimizer/embed-openai',
    );
    expect(await uses({ embeddingProvider: 'local', embeddingModel: '/m' })).toContain('optimizer/embed-local');
  });

  proves('vmcp.optimizer.embedding-headers-forbidden', 'reports problems of the section with their lines', async () => {
    const file = await fileOf({
      ...CONFIG,
      optimizer: {
        embeddingProvider: 'openai',
        embeddingService: 'http://vectors.test',
        embeddingHeaders: { Authorization: 'Bearer x' },
        maxToolToReturn: 3,
      },
    });
    const { code, out, err } = await cli(['vmcp', 'validate', '-c', file]);
    expect(code).toBe(1);
    const said = `${out}${err}`;
    expect(said).toMatch(/vmcp\.yaml:\d+: optimizer\.embeddingHeaders.*EMBEDDING_API_KEY/);
    expect(said).toMatch(/vmcp\.yaml:\d+: optimizer.*did you mean "maxToolsToReturn"/);
  });

  it('accepts a complete section', async () => {
    expect(
      await cli(['vmcp', 'validate', '-c', join(import.meta.dirname, '../../golden/plan/optimizer.yaml')]),
    ).toMatchObject({ code: 0 });
  });
});
