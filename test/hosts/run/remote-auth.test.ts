import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  changeConfig,
  type RunConfig,
  readWorkload,
  readWorkloadSecrets,
  workloadDir,
} from '@toolmgr/plugins/kit/workloads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { removeWorkload } from '../../../hosts/workloads/planning/remove.ts';
import { loginProvider } from '../../support/login-provider.ts';
import { followLogin, type OauthRemote, oauthRemote } from '../../support/oauth-remote.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { type Ran, type Running, startToolmgr, toolmgrSession } from './toolmgr.ts';

const LONG = 120_000;
const session = toolmgrSession();
const command = (...args: readonly string[]) => session(state, args);
let state: string;

beforeEach(() => {
  state = temporaryFolder('login');
});

afterEach(() => removeWorkload(state, 'far', { force: true }));

/** The URL that a command asks the user to open. */
async function shownUrl(running: Running): Promise<string> {
  const find = () => /^ {2}(http\S+)$/m.exec(running.err())?.[1];
  await until(() => find() !== undefined || running.child.exitCode !== null);
  return find() ?? '';
}

/** Runs a command, and logs in at the URL that it shows. */
async function withLogin(args: readonly string[]): Promise<Ran> {
  const running = startToolmgr(state, args);
  await followLogin(await shownUrl(running));
  return running.ended;
}

const statusOf = async () => (await readWorkload(state, 'far'))?.status;
const echo = async () =>
  postModern((await statusOf())?.url ?? '', 'tools/call', { name: 'echo', arguments: { message: 'hi' } });

const SKIP = ['--remote-auth-skip-browser', '--remote-auth-timeout', '20s'] as const;
const tokensSentTo = ({ seen }: OauthRemote) =>
  new Set(seen.flatMap(({ authorization }) => (authorization === undefined ? [] : [authorization])));

const withTimeout =
  (timeout: string) =>
  (config: RunConfig): RunConfig => ({ ...config, remote_auth_config: { ...config.remote_auth_config, timeout } });

describe('a workload whose server asks for a login', () => {
  for (const era of ['2026-07-28', '2025-11-25'] as const) {
    it(
      `logs in before it is detached, and uses its tokens from then on (${era})`,
      async () => {
        await using idp = await loginProvider();
        await using remote = await oauthRemote(idp, { era });
        const ran = await withLogin(['run', '--name', 'far', ...SKIP, remote.url]);
        expect(ran).toMatchObject({ code: 0 });
        expect((await echo()).text).toContain('echo: hi');
        const files = await readdir(workloadDir(state, 'far'));
        const secrets = Object.values(await readWorkloadSecrets(state, 'far'));
        expect(secrets.length).toBeGreaterThan(1);
        for (const file of files.filter((name) => name !== 'secrets.json')) {
          const text = await readFile(join(workloadDir(state, 'far'), file), 'utf8');
          for (const secret of secrets) expect(text).not.toContain(secret);
        }
        const { pid } = (await statusOf())?.proxy ?? {};
        const commandLine = await readFile(`/proc/${pid}/cmdline`, 'utf8');
        for (const secret of secrets) expect(ran.out + ran.err + commandLine).not.toContain(secret);
        const exported = await command('export', 'far');
        for (const secret of secrets) expect(exported.out + exported.err).not.toContain(secret);
        if (era === '2025-11-25') return;
        // refused before its end: renewed, and the call is sent once more
        remote.refuse((await readWorkloadSecrets(state, 'far')).OAUTH_ACCESS_TOKEN ?? '');
        expect((await echo()).text).toContain('echo: hi');
        await command('stop', 'far');
        const again = await command('start', 'far');
        expect(again).toMatchObject({ code: 0 });
        expect(again.err).not.toContain('log in');
        expect((await echo()).text).toContain('echo: hi');
        expect(idp.seen.filter((line) => line === 'POST /reg')).toHaveLength(1);
      },
      LONG,
    );
  }

  it(
    'gets new tokens while it runs, and asks for a login when the grant was revoked',
    async () => {
      await using idp = await loginProvider({ accessTokenSeconds: 3 });
      await using remote = await oauthRemote(idp, { era: '2026-07-28' });
      expect(await withLogin(['run', '--name', 'far', ...SKIP, remote.url])).toMatchObject({ code: 0 });
      const first = (await readWorkloadSecrets(state, 'far')).OAUTH_REFRESH_TOKEN;
      await until(async () => (await echo()).text.includes('echo') && tokensSentTo(remote).size > 2);
      const { OAUTH_REFRESH_TOKEN: rotated, OAUTH_ACCESS_TOKEN: token } = await readWorkloadSecrets(state, 'far');
      expect(rotated).not.toBe(first);
      expect(tokensSentTo(remote)).toContain(`Bearer ${token}`);
      idp.revokeAll();
      await until(async () => (await statusOf())?.status === 'unauthenticated');
      expect((await statusOf())?.message).toBe('a new login is needed: toolmgr start far');
      expect((await echo()).text).toMatch(/a new login is needed: toolmgr start far/);
      const listed = await command('list');
      expect(listed.out).toContain('unauthenticated');
      expect(listed.err).toContain('toolmgr start far');
      expect(await readWorkloadSecrets(state, 'far')).not.toHaveProperty('OAUTH_REFRESH_TOKEN');
      expect(await withLogin(['start', 'far'])).toMatchObject({ code: 0 });
      expect((await echo()).text).toContain('echo: hi');
    },
    LONG,
  );

  proves(
    'choice.run.step-up',
    'is told which command logs in with the scope that a tool needs, and requests it besides those of the last login',
    async () => {
      await using idp = await loginProvider({ resourceScopes: 'tools email' });
      await using remote = await oauthRemote(idp, { era: '2026-07-28', callScope: 'email' });
      expect(await withLogin(['run', '--name', 'far', ...SKIP, remote.url])).toMatchObject({ code: 0 });
      const advice = 'a login with the scope email is needed: toolmgr restart far';
      for (let calls = 0; calls < 2; calls++) expect((await echo()).text).toContain(advice);
      const told = 'a tool needs a login with further scopes: toolmgr restart far';
      await until(async () => (await statusOf())?.message === told);
      expect((await statusOf())?.status).toBe('running');
      // a login that ends without an answer leaves the last one
      const last = (await readWorkloadSecrets(state, 'far')).OAUTH_ACCESS_TOKEN;
      await changeConfig(state, 'far', withTimeout('1ms'));
      expect(await command('restart', 'far')).toMatchObject({
        code: 0,
        err: expect.stringContaining('the scopes of the last login are kept'),
      });
      expect((await readWorkloadSecrets(state, 'far')).OAUTH_ACCESS_TOKEN).toBe(last);
      await changeConfig(state, 'far', withTimeout('20s'));
      expect((await echo()).text).toContain(advice);
      const running = startToolmgr(state, ['restart', 'far']);
      const url = await shownUrl(running);
      expect(new URL(url).searchParams.get('scope')?.split(' ').toSorted()).toEqual([
        'email',
        'offline_access',
        'tools',
      ]);
      await followLogin(url);
      expect(await running.ended).toMatchObject({ code: 0 });
      expect((await echo()).text).toContain('echo: hi');
      expect((await statusOf())?.message).toBeUndefined();
      expect((await readWorkload(state, 'far'))?.config?.remote_auth_config).not.toHaveProperty(
        'cached_lacking_scopes',
      );
    },
    LONG,
  );

  it(
    'keeps its proxy while the token endpoint is away',
    async () => {
      await using idp = await loginProvider({ accessTokenSeconds: 3 });
      await using remote = await oauthRemote(idp, { era: '2026-07-28' });
      expect(await withLogin(['run', '--name', 'far', ...SKIP, remote.url])).toMatchObject({ code: 0 });
      await idp.pause();
      await until(async () => (await statusOf())?.status === 'auth_retrying');
      expect((await echo()).text).toMatch(/the access token cannot be refreshed now/);
      await command('stop', 'far');
      const started = await command('start', 'far');
      expect(started).toMatchObject({ code: 0 });
      expect((await statusOf())?.status).toBe('auth_retrying');
      await idp.resume();
      await until(async () => (await statusOf())?.status === 'running', 45_000);
      expect((await echo()).text).toContain('echo: hi');
    },
    LONG,
  );

  it(
    'is not there when the login is interrupted or late, in the background and in the foreground',
    async () => {
      await using idp = await loginProvider();
      await using remote = await oauthRemote(idp, { era: '2026-07-28' });
      for (const mode of [[], ['--foreground']]) {
        const stopped = startToolmgr(state, ['run', '--name', 'far', ...mode, ...SKIP, remote.url]);
        const port = Number(new URL(new URL(await shownUrl(stopped)).searchParams.get('redirect_uri') ?? '').port);
        stopped.child.kill('SIGINT');
        expect((await stopped.ended).err).toContain('far was not started');
        expect(stopped.child.exitCode).toBe(130);
        await expect(fetch(`http://127.0.0.1:${port}/callback`)).rejects.toThrow();
        expect(await readWorkload(state, 'far')).toBeUndefined();
        const brief = ['--remote-auth-skip-browser', '--remote-auth-timeout', '200ms'];
        const late = await command('run', '--name', 'far', ...mode, ...brief, remote.url);
        expect(late.err).toMatch(/far could not be started: the login was not finished within 0\.2 s/);
        expect(late.code).toBe(1);
        expect(await readWorkload(state, 'far')).toBeUndefined();
      }
      expect(tokensSentTo(remote)).toEqual(new Set());
    },
    LONG,
  );

  it(
    'serves in the foreground after the login; its export starts with a new login',
    async () => {
      await using idp = await loginProvider();
      await using remote = await oauthRemote(idp, { era: '2026-07-28' });
      const running = startToolmgr(state, ['run', '--name', 'far', '--foreground', ...SKIP, remote.url]);
      await followLogin(await shownUrl(running));
      await until(() => running.out().includes('far runs at'));
      expect((await echo()).text).toContain('echo: hi');
      const file = join(state, 'far.json');
      expect(await command('export', 'far', file)).toMatchObject({ code: 0 });
      expect(await readFile(file, 'utf8')).toContain('"cached_refresh_token_ref": "OAUTH_REFRESH_TOKEN,target=');
      running.child.kill('SIGINT');
      await running.ended;
      expect(await readWorkload(state, 'far')).toBeUndefined();
      expect(await withLogin(['run', '--from-config', file])).toMatchObject({ code: 0 });
      expect((await echo()).text).toContain('echo: hi');
      expect(idp.seen.filter((line) => line === 'POST /reg')).toHaveLength(2);
    },
    LONG,
  );
});
