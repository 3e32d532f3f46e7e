import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readWorkload, readWorkloads, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { configFromFile } from '../../../hosts/workloads/config/from-config.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { startToolmgr, toolmgrSession } from './toolmgr.ts';

const LONG = 180_000;
const TELLS = join(import.meta.dirname, 'servers/tells.mjs');
const session = toolmgrSession();
const toolmgr = (...args: readonly string[]) => session(state, args);
let state: string;
let folder: string;

beforeEach(() => {
  state = temporaryFolder('export');
  folder = temporaryFolder('exported');
});

afterEach(async () => {
  const names = (await readWorkloads(state)).map(({ name }) => name);
  if (names.length > 0) await toolmgr('rm', '--force', ...names);
}, LONG);

const configOf = async (name: string) => {
  const { created_at: _, ...config } = (await readWorkload(state, name))?.config ?? { created_at: '' };
  return config;
};

describe('toolmgr export and run --from-config', () => {
  proves(
    ['run.option.from-config', 'run.form.from-config', 'run.option.debug'],
    'run the same workload again from its file',
    async () => {
      const flags = ['--debug', '--group', 'dev', '-e', 'A=1', '--tools', 'tell', '--session-ttl', '10m'];
      const ran = await toolmgr('run', '--name', 'one', ...flags, process.execPath, '--', TELLS, '--name', 'x y');
      expect(ran).toMatchObject({ code: 0 });
      expect(await readFile(join(workloadDir(state, 'one'), 'proxy.log'), 'utf8')).toContain('"level":"debug"');

      const file = join(folder, 'one.json');
      expect(await toolmgr('export', 'one', file)).toMatchObject({
        code: 0,
        out: `one is exported to ${file}\n`,
      });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      for (const words of [['one'], ['one', '-']]) {
        expect((await toolmgr('export', ...words)).out).toBe(await readFile(file, 'utf8'));
      }
      const before = await configOf('one');
      expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(before);
      expect(before).toMatchObject({
        debug: true,
        group: 'dev',
        env_vars: { A: '1' },
        cmd_args: [TELLS, '--name', 'x y'],
      });

      await toolmgr('rm', '--force', 'one');
      const again = await toolmgr('run', '--from-config', file);
      expect(again).toMatchObject({ code: 0, err: '' });
      expect(await configOf('one')).toEqual(before);
      const url = (await readWorkload(state, 'one'))?.status.url ?? '';
      const { text } = await postModern(url, 'tools/call', { name: 'tell', arguments: {} });
      expect(text).toContain('x y');
    },
    LONG,
  );

  proves(
    'run.form.url-tool-filter-import-export',
    'keep the tools of a URL workload, and take its secrets from variables',
    async () => {
      await using far = await recordingServer();
      const flags = ['--tools', 'echo', '--remote-auth-bearer-token', 's3cret'];
      expect(await toolmgr('run', '--name', 'far', ...flags, far.url)).toMatchObject({ code: 0 });
      const exported = await toolmgr('export', 'far');
      expect(exported.out + exported.err).not.toContain('s3cret');
      expect(exported.err).toContain('not exported: the secrets REMOTE_AUTH_BEARER_TOKEN');
      const file = join(folder, 'far.json');
      await writeFile(file, exported.out);

      const missing = await toolmgr('run', '--from-config', file);
      expect(missing.err).toContain('set TOOLMGR_SECRET_REMOTE_AUTH_BEARER_TOKEN');
      const at = { debug: false, cwd: '/', nowMs: 0 };
      const given = { TOOLMGR_SECRET_REMOTE_AUTH_BEARER_TOKEN: 'again' };
      const { config, secrets } = await configFromFile(file, at, given);
      expect(secrets).toEqual({ REMOTE_AUTH_BEARER_TOKEN: 'again' });
      expect(config).toMatchObject({ tools_filter: ['echo'], remote_url: far.url });
    },
    LONG,
  );

  it(
    'take only --foreground, --supervised, --log-format and --debug beside --from-config, and name the other flags',
    async () => {
      const file = join(folder, 'none.json');
      const wrong = await toolmgr('run', '--from-config', file, '--name', 'x', '-e', 'A=s3cret', 'npx://x');
      expect(wrong).toMatchObject({ code: 1 });
      expect(wrong.err).toContain(
        '--from-config takes only --foreground, --supervised, --log-format and --debug beside it, not TARGET, --name, --env',
      );
      expect(wrong.err).not.toContain('s3cret');
      expect((await toolmgr('run', '--from-config', file)).err).toContain('cannot be read');
      await writeFile(file, '{');
      expect((await toolmgr('run', '--from-config', file)).err).toContain('is not JSON');
      await writeFile(file, JSON.stringify({ schema_version: 'v0.1.0', grop: 'x' }));
      expect((await toolmgr('run', '--from-config', file)).err).toContain('unknown key "grop", did you mean "group"?');
      expect((await toolmgr('export', 'none')).err).toContain('there is no workload none');
      expect(await readWorkloads(state)).toEqual([]);
    },
    LONG,
  );

  it(
    'work in the foreground',
    async () => {
      const config = { schema_version: 'v0.1.0', name: 'fore', transport: 'stdio', cmd_args: [TELLS] };
      const file = join(folder, 'fore.json');
      await writeFile(
        file,
        JSON.stringify({ ...config, process: { target: 'node', file: process.execPath, cwd: '/' } }),
      );
      const fore = startToolmgr(state, ['run', '--from-config', file, '--foreground', '--debug']);
      await until(() => fore.out().includes('fore runs at'), 30_000);
      expect((await readWorkload(state, 'fore'))?.config?.debug).toBe(true);
      fore.child.kill('SIGINT');
      expect(await fore.ended).toMatchObject({ code: 0 });
    },
    LONG,
  );
});
