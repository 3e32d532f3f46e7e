import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readWorkload, workloadDir } from '../../../plugins/workloads/state/workload-record.ts';
import { readWorkloadSecrets } from '../../../plugins/workloads/state/workload-secret-store.ts';
import { loginProvider } from '../../support/login-provider.ts';
import { followLogin, oauthRemote } from '../../support/oauth-remote.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import { type Ran, type Running, startToolmgr, toolmgr } from './toolmgr.ts';

const LONG = 60_000;
let state: string;

beforeEach(async () => {
  state = await mkdtemp(join(tmpdir(), 'toolmgr-login-'));
});

afterEach(async () => {
  await toolmgr(state, 'rm', '--force', 'far');
  await rm(state, { recursive: true, force: true });
});

/** The URL that a command asks the user to open. */
async function shownUrl(running: Running): Promise<string> {
  const find = () => /^ {2}(http\S+)$/m.exec(running.err())?.[1];
  await until(() => find() !== undefined || running.child.exitCode !== null, 20_000);
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

describe('a workload whose server asks for a login', () => {
  for (const era of ['2026-07-28', '2025-11-25'] as const) {
    it(
      `logs in before it is detached (${era})`,
      async () => {
        await using idp = await loginProvider();
        await using remote = await oauthRemote(idp, { era });
        const ran = await withLogin(['run', '--name', 'far', '--remote-auth-skip-browser', remote.url]);
        expect(ran).toMatchObject({ code: 0 });
        expect((await echo()).text).toContain('echo: hi');
        const files = await readdir(workloadDir(state, 'far'));
        const secrets = Object.values(await readWorkloadSecrets(state, 'far'));
        expect(secrets.length).toBeGreaterThan(1);
        for (const file of files.filter((name) => name !== 'secrets.json')) {
          const text = await readFile(join(workloadDir(state, 'far'), file), 'utf8');
          for (const secret of secrets) expect(text).not.toContain(secret);
        }
        for (const secret of secrets) expect(ran.out + ran.err).not.toContain(secret);
      },
      LONG,
    );
  }
});
