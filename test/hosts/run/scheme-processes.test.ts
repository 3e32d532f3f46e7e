import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../scripts/rigs/run-tool.ts';
import type { RequirementId } from '../../requirements.ts';
import { proves } from '../../support/proves.ts';
import { uvFolder } from '../../support/uv.ts';
import { startToolmgr } from './toolmgr.ts';

const LONG = 240_000;
const LOCAL_SERVER = join(import.meta.dirname, '../../support/go-folding');
const PUBLISHED_SERVER = 'github.com/modelcontextprotocol/go-sdk/examples/server/hello@v1.8.0';

const uv = await uvFolder();
/** Under CI a missing program fails the test. */
const hasGo = ['go', '/usr/local/go/bin/go'].some((go) => isInstalled(go, 'version'));
const noGo = process.env.CI === undefined && !hasGo ? 'no go on this machine' : undefined;

let state: string;
const places = ['folder' in uv ? uv.folder : '', process.env.PATH, '/usr/local/go/bin'];
const env = { PATH: places.join(delimiter) };

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'toolmgr-schemes-'));
});
afterEach(async () => {
  await run('rm', '--force', 'it');
  await rm(state, { recursive: true, force: true });
}, LONG);

const run = (...args: string[]) => startToolmgr(state, args, state, env).ended;

/** Runs a target as the workload `it` and calls one of its tools. */
async function callThrough(target: string, tool: string, args: Record<string, unknown>, ...more: string[]) {
  const ran = await run('run', '--name', 'it', '--runtime', 'process', target, ...more);
  expect(ran, ran.err).toMatchObject({ code: 0 });
  expect(ran.out).toContain('not isolated: it has your rights');
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(/runs at (\S+)/.exec(ran.out)?.[1] ?? '')));
  try {
    return await client.callTool({ name: tool, arguments: args });
  } finally {
    await client.close();
  }
}

const runs = (missing: string | undefined, ids: readonly RequirementId[], title: string, test: () => Promise<void>) => {
  if (missing === undefined) proves([...ids], title, test, LONG);
  else it.skip(`${title} (${missing})`, test);
};

describe('a protocol scheme as a process', () => {
  runs(
    'missing' in uv ? uv.missing : undefined,
    ['run.form.uvx'],
    'runs a published Python server with its arguments',
    async () => {
      const args = { timezone: 'Asia/Tokyo' };
      const answer = await callThrough(
        'uvx://mcp-server-time',
        'get_current_time',
        args,
        '--',
        '--local-timezone',
        'UTC',
      );
      expect(JSON.stringify(answer)).toContain('Asia/Tokyo');
    },
  );

  runs(noGo, ['run.form.go'], 'runs a published Go server', async () => {
    const answer = await callThrough(`go://${PUBLISHED_SERVER}`, 'greet', { name: 'Ada' });
    expect(JSON.stringify(answer)).toContain('Ada');
  });

  runs(noGo, ['run.form.go-local-path'], 'builds and runs a Go folder, and says why a build fails', async () => {
    const link = join(state, 'server');
    await mkdir(link);
    for (const name of ['go.mod', 'go.sum', 'main.go']) {
      await writeFile(join(link, name), await readFile(join(LOCAL_SERVER, name)));
    }
    expect(JSON.stringify(await callThrough('go://./server', 'go_echo', { text: 'hello' }))).toContain('hello');
    await writeFile(join(link, 'main.go'), 'package main\nfunc main() { nothing() }\n');
    const failed = await run('run', '--name', 'other', '--runtime', 'process', 'go://./server');
    expect(failed).toMatchObject({ code: 1, err: expect.stringMatching(/go build failed:[\s\S]*undefined: nothing/) });
    const absent = await run('run', '--runtime', 'process', 'go://./nowhere');
    expect(absent).toMatchObject({ code: 1, err: expect.stringContaining('there is no such folder') });
  });
});
