import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { testClient } from '@toolmgr/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { startCli } from '../../support/cli.ts';
import { per } from '../../support/limited-gateway.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { idOf, textsOf } from '../../support/result-limited-gateway.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { apiKeys, vmcpConfig, writeVmcpFile } from '../../support/vmcp-file.ts';
import { readText } from '../../support/vmcp-text.ts';

const LONG = 120_000;
const folder = temporaryFolderOfFile('result-limits');
const far = await recordingServer();
afterAll(() => far[Symbol.asyncDispose]());

const program = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const files = { transport: 'stdio', command: { file: process.execPath, args: [program, folder] } };
const resultLimits = { default: { bytes: 4_096 } };

async function started(file: string) {
  const running = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
  const [, url = ''] = await running.printed(/serves (http:\S+)/);
  const status = async () => (await (await fetch(new URL('/status', url))).json()) as { healthy: boolean };
  await until(async () => (await status()).healthy);
  return { url, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

describe('toolmgr vmcp serve with resultLimits', () => {
  it(
    'keeps a file of the published filesystem server, whose clients of both SDKs check output schemas',
    async () => {
      const path = join(folder, 'long.txt');
      const text = Array.from({ length: 2_000 }, (_, line) => `line ${line}`).join('\n');
      await writeFile(path, text);
      const rateLimiting = { shared: per(1_000) }; // needs a store too
      await using gateway = await started(await writeVmcpFile(folder, { files }, { resultLimits, rateLimiting }));
      const modern = new Client({ name: 'modern', version: '1' });
      await modern.connect(new StreamableHTTPClientTransport(new URL(gateway.url)));
      const legacy = new LegacyClient({ name: 'legacy', version: '1' });
      await legacy.connect(new LegacyTransport(new URL(gateway.url)) as Parameters<typeof legacy.connect>[0]);
      for (const client of [modern, legacy]) {
        const { tools } = await client.listTools(); // the SDK compiles the output schemas here
        expect(tools.map(({ name }) => name)).toContain('read_result');
        const answer = await client.callTool({ name: 'files_read_text_file', arguments: { path } });
        expect(answer.structuredContent).toBeUndefined();
        const id = idOf(answer as never);
        const page = await client.callTool({
          name: 'read_result',
          arguments: { id, unit: 'lines', offset: 1_998, part: 'text' },
        });
        expect(textsOf(page as never)[1]).toBe('line 1998\nline 1999');
        const [, link] = answer.content as { uri?: string }[];
        const { contents } = await client.readResource({ uri: String(link?.uri) });
        const [whole] = contents as { text: string }[];
        expect(JSON.parse(whole?.text ?? '').structuredContent).toEqual({ content: text });
        await client.close();
      }
    },
    LONG,
  );

  proves.skipIf(redisMissing, redisMissing ?? '')(
    'choice.result-limits.replicas',
    'two processes with one Redis read what the other keeps, for its caller only',
    async () => {
      await using redis = await startRedis();
      const sessionStorage = { provider: 'redis', address: redis.address };
      const more = { incomingAuth: undefined, plugins: [apiKeys('ada', 'bob')], resultLimits, sessionStorage };
      const file = await writeVmcpFile(folder, { far: far.url }, more);
      await using one = await started(file);
      await using two = await started(file);
      const clientOf = (url: string, user: string) =>
        testClient((request) => fetch(request), url, { headers: { 'x-api-key': `key-of-${user}` } });
      const ada = await clientOf(one.url, 'ada');
      const id = idOf(await ada.callTool('far_echo', { message: 'said '.repeat(2_000) }));
      const given = { id, limit: 10 };
      expect(textsOf(await (await clientOf(two.url, 'ada')).callTool('read_result', given))[1]).toBe('echo: said');
      expect((await (await clientOf(two.url, 'bob')).callTool('read_result', given)).isError).toBe(true);
    },
    LONG,
  );
});

describe('resultLimits of a vmcp file', () => {
  const problems = async (section: object) =>
    (await readText(JSON.stringify(vmcpConfig({ far: far.url }, { resultLimits: section })), 'x.yaml')).plan.plugins;

  it('uses the store of the file, and one of this process with other sections that need one', async () => {
    const shared = { rateLimiting: { shared: per(5) }, resultLimits };
    const uses = async (more: object) =>
      (await readText(JSON.stringify(vmcpConfig({ far: far.url }, more)), 'x.yaml')).plan.plugins
        .filter(({ use }) => /stores|limit/.test(use))
        .map(({ use, with: given }) => `${use} ${(given as { store?: string } | undefined)?.store ?? ''}`.trim());
    const inProcess = ['stores/memory', 'rate-limit memory', 'result-limits memory'];
    expect((await uses(shared)).sort()).toEqual(inProcess.sort());
    const redis = { ...shared, sessionStorage: { provider: 'redis', address: 'localhost:1' } };
    expect(await uses(redis)).toContain('result-limits redis');
  });

  it('refuses budgets that no answer fits, names given twice, and a default without a number', async () => {
    await expect(problems({ default: { bytes: 100 } })).rejects.toThrow(/default\.bytes/);
    await expect(problems({ default: {} })).rejects.toThrow(/bytes or estimatedTokens/);
    await expect(problems({ tools: [{ name: 'a' }, { name: 'a' }] })).rejects.toThrow(/duplicate name a/);
    await expect(problems({ keepFor: '0s' })).rejects.toThrow(/above zero/);
  });
});
