import { once } from 'node:events';
import { chmod, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CliOptions, cli, type RunningCli, startCli } from '../../support/cli.ts';
import { ownFolders, send } from '../../support/manager.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { removeAll, smallConfig } from './workloads/small.ts';

const LONG = 120_000;
let home: string;
let state: string;

beforeEach(() => {
  home = temporaryFolder('serve');
  state = join(home, 'state', 'toolmgr');
});

const options = (env: CliOptions['env'] = {}): CliOptions => ({ env: { ...ownFolders(home), ...env } });
const serve = (...args: string[]): RunningCli => startCli(['serve', '--port', '0', ...args], options());
const file = async (name: string): Promise<string> => readFile(join(state, 'server', name), 'utf8');
const modeOf = async (...path: string[]): Promise<number> => (await stat(join(...path))).mode & 0o777;

async function urlOf(running: RunningCli): Promise<string> {
  const [, url = ''] = await running.printed(/serves (\S+) \(Ctrl-C/);
  await until(() => file('server.json').then(Boolean, () => false));
  return url;
}

describe('toolmgr serve', () => {
  it(
    'writes the token and the discovery file for this user only, and removes the latter at the end',
    async () => {
      await using running = serve();
      const url = await urlOf(running);
      const found = JSON.parse(await file('server.json'));
      expect(found).toEqual({
        url,
        pid: running.pid,
        nonce: expect.stringMatching(/^[0-9a-f]{32}$/),
        started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      });
      expect(await modeOf(state, 'server')).toBe(0o700);
      expect(await modeOf(state, 'server', 'server.json')).toBe(0o600);
      expect(await modeOf(state, 'server', 'token')).toBe(0o600);
      const health = await fetch(`${url}/health`);
      expect([health.status, health.headers.get('x-toolmgr-nonce')]).toEqual([204, found.nonce]);
      const token = (await file('token')).trim();
      expect((await send(url, token, 'GET', '/api/v1beta/version')).body.version).toMatch(/^v\d+\.\d+\.\d+/);
      running.signal('SIGTERM');
      expect((await running.finished).code).toBe(0);
      await expect(file('server.json')).rejects.toThrow('ENOENT');

      await using again = serve();
      await urlOf(again);
      expect((await file('token')).trim()).toBe(token);
    },
    LONG,
  );

  it.skipIf(process.platform !== 'linux')(
    'passes neither its client secret nor the password of the secrets to the proxies of workloads',
    async () => {
      const env = { TOOLMGR_OIDC_CLIENT_SECRET: 'very-secret', TOOLMGR_SECRETS_PASSWORD: 'very-secret' };
      await using running = startCli(['serve', '--port', '0'], options(env));
      const url = await urlOf(running);
      const token = (await file('token')).trim();
      const made = await send(url, token, 'POST', '/api/v1beta/workloads/import', smallConfig('small'));
      expect(made.status).toBe(201);
      const { proxy } = JSON.parse(await readFile(join(state, 'workloads', 'small', 'status.json'), 'utf8'));
      const environment = await readFile(`/proc/${proxy.pid}/environ`, 'utf8');
      expect(environment).toContain('TOOLMGR_STATE_DIR');
      expect(environment).not.toContain('very-secret');
      await removeAll(state);
    },
    LONG,
  );

  it(
    'refuses a second manager for the same state, and starts again after a kill',
    async () => {
      await using first = serve();
      const url = await urlOf(first);
      const second = await cli(['serve', '--port', '0'], options());
      expect(second.code).toBe(1);
      expect(second.err).toContain(`another manager serves ${state} at ${url} (process ${first.pid})`);
      first.signal('SIGKILL');
      await first.finished;
      await using third = serve();
      expect(await urlOf(third)).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(JSON.parse(await file('server.json')).pid).toBe(third.pid);
    },
    LONG,
  );

  proves(
    'choice.manager.token',
    'serves a unix socket for user and group without a token, and replaces one that no process serves',
    async () => {
      {
        await using tcp = serve();
        expect((await fetch(`${await urlOf(tcp)}/api/v1beta/operations`)).status).toBe(401);
        tcp.signal('SIGTERM');
        await tcp.finished;
      }
      const path = join(home, 'sockets', 'api.sock');
      const running = startCli(['serve', '--socket', path], options());
      expect(await urlOf(running)).toBe(`unix://${path}`);
      expect([await modeOf(path), await modeOf(home, 'sockets')]).toEqual([0o660, 0o750]);
      expect(await getOverSocket(path, '/api/v1beta/operations')).toBe(200);
      const taken = await cli(['serve', '--socket', path], options({ TOOLMGR_STATE_DIR: join(home, 'other') }));
      expect(taken.err).toContain(`another program serves ${path}`);
      running.signal('SIGKILL'); // leaves the socket behind
      await running.finished;
      await using again = startCli(['serve', '--socket', path], options());
      await urlOf(again);
      expect(await getOverSocket(path, '/api/v1beta/operations')).toBe(200);
    },
    LONG,
  );

  it(
    'explains what is wrong before it serves',
    async () => {
      const busy = createServer().listen(0, '127.0.0.1');
      await once(busy, 'listening');
      const { port } = busy.address() as { port: number };
      const taken = await cli(['serve', '--port', String(port)], options());
      expect([taken.code, taken.err]).toEqual([1, expect.stringContaining(`port ${port} on 127.0.0.1 is taken`)]);
      busy.close();
      await using early = serve();
      await urlOf(early);
      early.signal('SIGTERM');
      await early.finished;

      const token = join(state, 'server', 'token');
      const refusal = async () => (await cli(['serve', '--port', '0'], options())).err;
      await chmod(token, 0o644);
      expect(await refusal()).toContain(`${token} is open to other users: chmod go-rwx`);
      await rm(token);
      await symlink('/etc/hostname', token);
      expect(await refusal()).toContain(`${token} is a symbolic link`);
      await rm(token);
      await writeFile(token, 'short\n', { mode: 0o600 });
      expect(await refusal()).toContain('has no token of at least 32');
      await rm(token);
      await chmod(join(state, 'server'), 0o777);
      expect(await refusal()).toContain('is open to other users');
    },
    LONG,
  );

  it(
    'warns when other machines can reach it, and answers to addresses and allowed names only',
    async () => {
      await using running = serve('--host', '0.0.0.0', '--allow-host', 'manager.example');
      const url = await urlOf(running);
      await running.printed(/warning .*reachable by other machines/);
      const { port } = new URL(url);
      const statusFor = async (host: string): Promise<number> => {
        const sent = request({ host: '127.0.0.1', port, path: '/health', headers: { host } }).end();
        const [answer] = await once(sent, 'response');
        answer.resume();
        return answer.statusCode;
      };
      expect(await statusFor('manager.example')).toBe(204);
      expect(await statusFor(`10.1.2.3:${port}`)).toBe(204);
      expect(await statusFor('attacker.example')).toBe(403);
    },
    LONG,
  );
});

async function getOverSocket(socketPath: string, path: string): Promise<number> {
  const [answer] = await once(request({ socketPath, path }).end(), 'response');
  answer.resume();
  return answer.statusCode;
}
