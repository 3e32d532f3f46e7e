import { cp, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../../../scripts/rigs/run-tool.ts';
import type { RequirementId } from '../../requirements.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { toolmgrSession } from './toolmgr.ts';

const LONG = 600_000; // a published Go server is compiled with all its packages where that was never done
const LOCAL_SERVER = join(import.meta.dirname, '../../support/go-small');
const PUBLISHED_SERVER = 'github.com/modelcontextprotocol/go-sdk/examples/server/hello@v1.8.0';

/** Under CI a missing program fails the test. */
const hasGo = ['go', '/usr/local/go/bin/go'].some((go) => isInstalled(go, 'version'));
const noGo = process.env.CI === undefined && !hasGo ? 'no go on this machine' : undefined;

let state: string;
const env = { PATH: [process.env.PATH, '/usr/local/go/bin'].join(delimiter) };

beforeEach(() => {
  state = temporaryFolder('schemes');
});
afterEach(() => run('rm', '--force', 'it'), LONG);

const session = toolmgrSession();
const run = (...args: string[]) => session(state, args, state, env);

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

describe('a Go scheme as a process', () => {
  runs(noGo, ['run.form.go'], 'runs a published Go server', async () => {
    const answer = await callThrough(`go://${PUBLISHED_SERVER}`, 'greet', { name: 'Ada' });
    expect(JSON.stringify(answer)).toContain('Ada');
  });

  runs(noGo, ['run.form.go-local-path'], 'builds and runs a Go folder, and says why a build fails', async () => {
    const link = join(state, 'server');
    await cp(LOCAL_SERVER, link, { recursive: true });
    expect(JSON.stringify(await callThrough('go://./server', 'go_echo', { text: 'hello' }))).toContain('hello');
    await writeFile(join(link, 'main.go'), 'package main\nfunc main() { nothing() }\n');
    const failed = await run('run', '--name', 'other', '--runtime', 'process', 'go://./server');
    expect(failed).toMatchObject({ code: 1, err: expect.stringMatching(/go build failed:[\s\S]*undefined: nothing/) });
    const absent = await run('run', '--runtime', 'process', 'go://./nowhere');
    expect(absent).toMatchObject({ code: 1, err: expect.stringContaining('there is no such folder') });
  });
});
