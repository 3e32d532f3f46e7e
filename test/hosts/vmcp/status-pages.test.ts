import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import getPort from 'get-port';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { type RunningCli, startCli } from '../../support/cli.ts';
import { cliSession } from '../../support/cli-session.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { vmcpConfig } from '../../support/vmcp-file.ts';
import { readText } from '../../support/vmcp-text.ts';

const LONG = 120_000;
const TOKEN = 'op3n-sesame~1';
const PAGES = ['/status', '/api/backends/health', '/metrics', '/api/explain?tool=x'] as const;
const OPEN = ['/health', '/ping', '/readyz'] as const;

const cli = cliSession();
let folder: string;
let file: string;
beforeEach(() => {
  folder = temporaryFolder('status');
  file = join(folder, 'vmcp.yaml');
});

const configOf = (url: string, more: object) =>
  stringify(vmcpConfig({ docs: url }, { telemetry: { enablePrometheusMetricsPath: true }, ...more }));
const write = (url: string, more: object): Promise<void> => writeFile(file, configOf(url, more));

interface Started extends AsyncDisposable {
  readonly running: RunningCli;
  /** Origin of the endpoint. */
  readonly main: string;
}

async function started(env: Record<string, string> = {}, ...flags: string[]): Promise<Started> {
  const running = startCli(['vmcp', 'serve', '-c', file, '--port', '0', ...flags], { env });
  const [, url = ''] = await running.printed(/serves (http:\S+)/);
  await running.printed(/backend ready/);
  return { running, main: new URL(url).origin, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

const pagesOf = async (running: RunningCli): Promise<string> =>
  (await running.printed(/the status pages are at (http:[^\s,"]+)/))[1] ?? '';

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

async function statuses(origin: string, paths: readonly string[], init: RequestInit = {}): Promise<number[]> {
  const found: number[] = [];
  for (const path of paths) {
    const answer = await fetch(origin + path, init);
    await answer.text();
    found.push(answer.status);
  }
  return found;
}

const ALL = [200, 200, 200, 200];

describe('status pages of a vmcp file', () => {
  proves(
    'choice.endpoint.status-guard',
    'require the token of a variable, which is never printed; the pages for probes stay public',
    async () => {
      await using server = await recordingServer();
      await write(server.url, { statusPages: { tokenEnv: 'PAGES_TOKEN' } });
      await using at = await started({ PAGES_TOKEN: TOKEN }, '--debug');
      const { main, running } = at;
      for (const path of PAGES) {
        const bare = await fetch(main + path);
        expect([path, bare.status, bare.headers.get('www-authenticate')]).toEqual([
          path,
          401,
          'Bearer realm="status pages"',
        ]);
        expect(await bare.text()).not.toContain('docs');
        const wrong = await fetch(main + path, bearer(`${TOKEN}x`));
        expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
          401,
          'Bearer realm="status pages", error="invalid_token"',
        ]);
      }
      expect(await statuses(main, PAGES, bearer(TOKEN))).toEqual(ALL);
      const metrics = await fetch(`${main}/metrics`, bearer(TOKEN));
      expect(metrics.headers.get('content-type')).toContain('text/plain; version=0.0.4');
      expect(await metrics.text()).toMatch(/^toolmgr_vmcp_backends\{/m);
      expect(await statuses(main, OPEN)).toEqual([200, 200, 200]);
      expect((await cli(['tools', '--url', `${main}/mcp`])).out).toContain('docs_echo');
      const asked = await cli(['vmcp', 'explain', 'docs_echo', '--url', `${main}/mcp`]);
      expect([asked.code === 0, asked.err]).toEqual([false, expect.stringContaining('asks for the token')]);
      await running.printed(/status pages are at the port of the endpoint, with the token of PAGES_TOKEN/);
      running.signal('SIGTERM');
      const { out, err } = await running.finished;
      expect(out + err).not.toContain(TOKEN);
    },
    LONG,
  );

  proves(
    'choice.endpoint.status-guard-port',
    'are served by a separate listener instead, with or without a token',
    async () => {
      await using server = await recordingServer();
      await write(server.url, { statusPages: { port: 0 } });
      await using at = await started({ PAGES_TOKEN: TOKEN });
      const { main, running } = at;
      const pages = await pagesOf(running);
      expect(new URL(pages).hostname).toBe('127.0.0.1');
      expect(await statuses(main, PAGES)).toEqual([404, 404, 404, 404]);
      expect(await statuses(main, OPEN)).toEqual([200, 200, 200]);
      expect(await statuses(pages, PAGES)).toEqual(ALL);
      expect(await (await fetch(`${pages}/metrics`)).text()).toMatch(/^toolmgr_vmcp_backends\{/m);
      expect(await statuses(pages, ['/mcp', '/', '/.well-known/oauth-protected-resource'])).toEqual([404, 404, 404]);
      const page = await cli(['vmcp', 'explain', 'docs_echo', '--url', pages]);
      expect([page.code, page.out]).toEqual([0, expect.stringContaining('docs_echo')]);

      await write(server.url, { statusPages: { port: 0, tokenEnv: 'PAGES_TOKEN' } });
      await running.printed(/with the token of PAGES_TOKEN/);
      expect(await statuses(main, PAGES, bearer(TOKEN))).toEqual([404, 404, 404, 404]);
      expect(await statuses(pages, PAGES)).toEqual([401, 401, 401, 401]);
      expect(await statuses(pages, PAGES, bearer(TOKEN))).toEqual(ALL);
    },
    LONG,
  );

  proves(
    'choice.endpoint.status-guard-reload',
    'follow a changed file, and stay unchanged when the new settings are invalid',
    async () => {
      await using server = await recordingServer();
      await write(server.url, {});
      await using at = await started({ PAGES_TOKEN: TOKEN });
      const { main, running } = at;
      expect(await statuses(main, PAGES)).toEqual(ALL);
      const reloaded = async (count: number): Promise<void> =>
        until(() => (running.err().match(/configuration reloaded/g) ?? []).length === count);

      await write(server.url, { statusPages: { tokenEnv: 'PAGES_TOKEN' } });
      await reloaded(1);
      expect(await statuses(main, PAGES)).toEqual([401, 401, 401, 401]);

      await write(server.url, { statusPages: { tokenEnv: 'NOT_THERE' } });
      await running.printed(/the previous configuration stays.*NOT_THERE is not set/);
      expect(await statuses(main, PAGES, bearer(TOKEN))).toEqual(ALL);

      const taken = createServer().listen(0, '127.0.0.1');
      await new Promise((resolve) => taken.once('listening', resolve));
      await write(server.url, { statusPages: { port: (taken.address() as AddressInfo).port } });
      await running.printed(/the previous configuration stays.*is taken by another program.*statusPages\.port/);
      expect(await statuses(main, PAGES)).toEqual([401, 401, 401, 401]);
      await new Promise((resolve) => taken.close(resolve));

      const port = await getPort({ host: '127.0.0.1' });
      await write(server.url, { statusPages: { port } });
      await reloaded(2);
      const pages = `http://127.0.0.1:${port}`;
      expect(await statuses(pages, PAGES)).toEqual(ALL);
      expect(await statuses(main, PAGES)).toEqual([404, 404, 404, 404]);

      await write(server.url, { statusPages: { port }, plugins: [{ use: './missing.mjs' }] });
      await running.printed(/the previous configuration stays.*missing\.mjs/);
      await write(server.url, { statusPages: { port, host: '0.0.0.0' } });
      await running.printed(/the previous configuration stays.*at the same port while the gateway runs.*restart/);
      expect(await statuses(pages, PAGES)).toEqual(ALL);

      await write(server.url, {});
      await reloaded(3);
      expect(await statuses(main, PAGES)).toEqual(ALL);
      await until(() =>
        fetch(`${pages}/status`).then(
          () => false,
          () => true,
        ),
      );
    },
    LONG,
  );

  proves(
    'choice.endpoint.status-guard-readyz',
    'are protected, and /readyz, which is public, names no unavailable backend',
    async () => {
      await write(`http://127.0.0.1:${await getPort({ host: '127.0.0.1' })}/mcp`, {});
      await using running = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], { env: { PAGES_TOKEN: TOKEN } });
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      const readyz = async (): Promise<object> => (await (await fetch(new URL('/readyz', url))).json()) as object;
      await until(async () => 'backends' in (await readyz()));
      expect(await readyz()).toMatchObject({ backends: ['docs'] });
      await write(`http://127.0.0.1:${await getPort({ host: '127.0.0.1' })}/mcp`, {
        statusPages: { tokenEnv: 'PAGES_TOKEN' },
      });
      await running.printed(/configuration reloaded/);
      await until(async () => 'reason' in (await readyz()));
      expect(await readyz()).toEqual({ status: 'not_ready', mode: 'static', reason: 'backends_unavailable' });
    },
    LONG,
  );

  proves(
    'choice.endpoint.status-guard-start',
    'are not served without the token of their variable, and no message contains its value',
    async () => {
      await write('http://127.0.0.1:1/mcp', { statusPages: { tokenEnv: 'PAGES_TOKEN' } });
      for (const [value, why] of [
        [undefined, 'PAGES_TOKEN is not set'],
        ['', 'PAGES_TOKEN is empty'],
        ['tw0 words', 'PAGES_TOKEN holds no bearer token'],
      ] as const) {
        const { code, err } = await cli(['vmcp', 'serve', '-c', file, '--port', '0'], { env: { PAGES_TOKEN: value } });
        expect([code === 0, err]).toEqual([false, expect.stringContaining(why)]);
        expect(err).not.toContain('tw0 words');
        expect(err).not.toMatch(/serves http/);
      }
    },
    LONG,
  );

  proves(
    'choice.endpoint.status-guard-flags',
    'of a group take their port and their token from flags',
    async () => {
      const env = { HOME: folder, XDG_STATE_HOME: folder, XDG_CONFIG_HOME: folder, PAGES_TOKEN: TOKEN };
      const args = ['vmcp', 'serve', '--group', 'dev', '--port', '0', '--status-port', '0'];
      await using running = startCli([...args, '--status-token-env', 'PAGES_TOKEN'], { env });
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      const pages = await pagesOf(running);
      expect(await statuses(new URL(url).origin, ['/status', '/health'])).toEqual([404, 200]);
      expect(await statuses(pages, ['/status'])).toEqual([401]);
      expect(await statuses(pages, ['/status'], bearer(TOKEN))).toEqual([200]);
    },
    LONG,
  );

  it('are printed by plan and validate with the name of the variable', async () => {
    const statusPages = { port: 9464, tokenEnv: 'PAGES_TOKEN' };
    await write('http://127.0.0.1:1/mcp', { statusPages });
    const plan = await cli(['vmcp', 'plan', '-c', file], { env: { PAGES_TOKEN: TOKEN } });
    expect(parse(plan.out)).toMatchObject({ statusPages });
    expect(plan.out).not.toContain(TOKEN);
  });

  it.each([
    [{}, 'protects nothing, expected port, tokenEnv or both'],
    [{ host: '0.0.0.0', tokenEnv: 'X' }, 'statusPages.host: has no effect without port'],
    [{ tokenEnvv: 'X' }, 'did you mean "tokenEnv"'],
    [{ port: 70_000 }, 'statusPages.port'],
    [{ tokenEnv: '' }, 'expected the name of an environment variable'],
  ])('refuses %j', async (statusPages, why) => {
    await expect(readText(configOf('http://a.test/mcp', { statusPages }), 'f.yaml')).rejects.toThrow(why);
  });

  it('refuses an endpoint at the path of a protected page', async () => {
    for (const [endpoint, where] of [
      [{ path: '/metrics' }, 'endpoint.path'],
      [{ sse: { path: '/metrics' } }, 'endpoint.sse.path'],
      [{ sse: { messagesPath: '/status' } }, 'endpoint.sse.messagesPath'],
    ] as const) {
      const more = { statusPages: { port: 0 }, endpoint };
      await expect(readText(configOf('http://a.test/mcp', more), 'f.yaml')).rejects.toThrow(
        `${where}: is the path of a status page`,
      );
    }
  });
});
