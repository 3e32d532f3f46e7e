import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import getPort from 'get-port';
import { beforeAll, describe, expect, it } from 'vitest';
import { hostPlatform } from '../../scripts/release/executable/platforms.ts';
import { recordingServer } from '../support/recording-server.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';
import { writeVmcpFile } from '../support/vmcp-file.ts';

const ROOT = join(import.meta.dirname, '../..');
const absent = (['release', 'packaging'] as const).map(rig).find((found) => 'missing' in found);
const host = hostPlatform();
const missing = absent && 'missing' in absent ? absent.missing : host === undefined ? 'no platform' : undefined;
const LONG = 900_000; // 60 s on a quiet machine

interface Printed {
  readonly outcomes: readonly { readonly name: string; readonly state: string; readonly detail: string }[];
  readonly files: string;
}

describe.skipIf(missing)(`npm run release -- --dry-run${missing === undefined ? '' : `, skipped: ${missing}`}`, () => {
  const folder = temporaryFolderOfFile('dry-run');
  let printed: Printed;
  let program: string;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    env = {
      ...process.env,
      HOME: folder,
      XDG_CACHE_HOME: join(folder, 'cache'),
      TOOLMGR_STATE_DIR: join(folder, 'state'),
    };
    await mkdir(join(folder, 'cache'), { mode: 0o700 });
    // the image has a test of its own; the default compression takes 20 s of CPU time
    const parts = ['--skip', 'image', '--platform', String(host), '--zstd', '3'];
    const args = ['--dry-run', ...parts, '--json', '--out', join(folder, 'out')];
    const { code, out, err } = await run(
      process.execPath,
      [join(ROOT, 'scripts/release/main.ts'), ...args],
      process.env,
    );
    expect(code, `${out}${err}`).toBe(0);
    printed = JSON.parse(out) as Printed;
    const file = printed.outcomes.find(({ detail }) => detail.startsWith('executable with'))?.name ?? '';
    program = join(printed.files, file);
  }, LONG);

  const run = (
    file: string,
    args: readonly string[],
    variables: NodeJS.ProcessEnv,
  ): Promise<{ code: number; out: string; err: string }> =>
    new Promise((resolve) => {
      execFile(file, args, { env: variables, cwd: ROOT, timeout: LONG, maxBuffer: 10_000_000 }, (failed, out, err) => {
        resolve({ code: failed === null ? 0 : Number(failed.code ?? 1), out, err });
      });
    });
  const toolmgr = (...args: readonly string[]) => run(program, args, env);

  it('makes and publishes everything, and says what it left out', { timeout: LONG }, async () => {
    const states = new Map(printed.outcomes.map(({ name, state, detail }) => [name, { state, detail }]));
    expect(states.get('publish')).toMatchObject({ state: 'made', detail: expect.stringMatching(/^3 packages/) });
    expect(states.get('image')).toMatchObject({ state: 'skipped' });
    expect(printed.outcomes.filter(({ state }) => state === 'failed')).toEqual([]);
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: printed.files });
    const statement = printed.outcomes.find(({ name }) => name.endsWith('.intoto.json'))?.name ?? '';
    const { subject } = JSON.parse(await readFile(join(printed.files, statement), 'utf8')) as {
      subject: { name: string }[];
    };
    const kinds = [
      /^toolmgr-[\d.]+\.tgz$/,
      /^toolmgr-core-.*\.tgz$/,
      /^toolmgr-plugins-.*\.tgz$/,
      /-x64$|-arm64$/,
      /\.cdx\.json$/,
    ];
    for (const kind of kinds)
      expect(
        subject.some(({ name }) => kind.test(name)),
        String(kind),
      ).toBe(true);
  });

  it('the executable serves a file with scripts, in a worker thread', { timeout: LONG }, async () => {
    await using backend = await recordingServer();
    const file = await writeVmcpFile(folder, { one: backend.url }, { codeMode: { enabled: true } });
    const port = await getPort();
    const gateway = spawn(program, ['vmcp', 'serve', '--config', file, '--port', String(port)], {
      env,
      stdio: 'ignore',
    });
    try {
      const url = `http://127.0.0.1:${port}`;
      const isReady = () =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until(isReady, 120_000);
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
      const script = `return (await one.echo({ message: 'from a script' }))`;
      const result = await client.callTool({ name: 'execute_tool_script', arguments: { script } });
      expect(JSON.stringify(result)).toContain('echo: from a script');
      await client.close();
    } finally {
      gateway.kill('SIGTERM');
      if (gateway.exitCode === null && gateway.signalCode === null) await once(gateway, 'exit');
    }
  });

  it('the executable runs a workload behind a proxy that outlives the command', { timeout: LONG }, async () => {
    const target = 'npx://@modelcontextprotocol/server-everything';
    const started = await toolmgr('run', '--runtime', 'process', '--name', 'ev', target);
    try {
      expect(started.code, started.err).toBe(0);
      const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(`${started.out}${started.err}`)?.[0] ?? '';
      const called = await toolmgr('call', 'echo', 'message=hello', '--url', url);
      expect(called.out).toContain('Echo: hello');
    } finally {
      await toolmgr('stop', 'ev');
      await toolmgr('rm', 'ev');
    }
  });
});
