import { readWorkload } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { startCli } from '../../../support/cli.ts';
import { ownFolders, type StartedManager, startManager } from '../../../support/manager.ts';
import { type PackageRegistry, startPackageRegistry } from '../../../support/package-registry.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';
import { LONG, removeAll } from '../workloads/small.ts';

const PACKAGE = 'upgraded-pack';
const SAY = { name: 'say', inputSchema: { type: 'object' } };

describe('an upgrade of a package that runs as a process', () => {
  const home = temporaryFolderOfFile('package-upgrades');
  let registry: PackageRegistry;
  let manager: StartedManager;
  const settings = () => ({
    npm_config_registry: registry.url,
    npm_config_cache: `${home}/npm`,
    npm_config_userconfig: `${home}/no-npmrc`,
  });

  beforeAll(async () => {
    registry = await startPackageRegistry(home);
    registry.publish(PACKAGE, '1.0.0', [SAY, { ...SAY, name: 'whisper' }]);
    manager = await startManager({ home, env: { TOOLMGR_RUNTIME: 'process', ...settings() } });
  }, LONG);
  afterAll(async () => {
    await removeAll(manager.state);
    await manager.stop();
    await registry[Symbol.asyncDispose]();
  }, LONG);

  const at = (version: string) => `npx://${PACKAGE}@${version}`;
  const check = async () => (await manager.request('GET', '/api/v1beta/workloads/pack/upgrade-check')).body.result;
  const apply = (options?: object) => manager.request('POST', '/api/v1beta/workloads/pack/upgrade', options);
  const runs = async (version: string) => {
    const record = await readWorkload(manager.state, 'pack');
    expect(record?.alive).toBe(true);
    expect(record?.config?.process).toMatchObject({ target: at(version), args: ['-y', `${PACKAGE}@${version}`] });
    expect(record?.config?.env_vars).toMatchObject({ KEPT: 'yes' });
  };

  proves(
    [
      'choice.manager.package-upgrades',
      'choice.manager.package-upgrade-tools',
      'choice.manager.package-upgrade-back',
      'choice.manager.upgrade-to',
    ],
    'finds the newer release, applies it with the diff of its tools, and goes back when it does not start',
    async () => {
      const made = { name: 'pack', image: at('1.0.0'), env_vars: { KEPT: 'yes' } };
      expect(await manager.request('POST', '/api/v1beta/workloads', made)).toMatchObject({ status: 201 });
      expect(await check()).toEqual({
        ...{ workload_name: 'pack', status: 'up-to-date', current_image: at('1.0.0'), candidate_image: at('1.0.0') },
      });
      registry.publish(PACKAGE, '1.1.0', [
        { ...SAY, description: 'louder' },
        { ...SAY, name: 'shout' },
      ]);
      expect(await check()).toMatchObject({ status: 'upgrade-available', candidate_image: at('1.1.0') });
      const applied = await apply();
      expect(applied, applied.text).toMatchObject({
        status: 200,
        body: {
          result: {
            ...{ status: 'up-to-date', current_image: at('1.1.0') },
            tools_drift: { added: ['shout'], removed: ['whisper'], changed: ['say'] },
          },
        },
      });
      await runs('1.1.0');

      registry.publish(PACKAGE, '1.2.0', 'broken');
      const failed = await apply();
      expect(failed, failed.text).toMatchObject({ status: 500 });
      expect(failed.body.detail).toContain('the old one is restored and runs again');
      await runs('1.1.0');

      registry.publish(PACKAGE, '1.3.0', [SAY]);
      const env = { ...ownFolders(home), ...settings() };
      const listed = await startCli(['upgrade', 'check', 'pack'], { env, cwd: '/' }).finished;
      expect(listed.out).toContain(`${at('1.1.0')} -> ${at('1.3.0')}`);
      const byCommand = await startCli(['upgrade', 'apply', 'pack'], { env, cwd: '/' }).finished;
      expect(byCommand, byCommand.err).toMatchObject({
        code: 0,
        out: expect.stringContaining('tools removed: shout\ntools changed: say\n'),
      });
      await runs('1.3.0');

      const back = await startCli(['upgrade', 'apply', 'pack', '--to', '1.1.0'], { env, cwd: '/' }).finished;
      expect(back, back.err).toMatchObject({
        code: 0,
        out: expect.stringContaining(`from ${at('1.3.0')} to ${at('1.1.0')}`),
      });
      await runs('1.1.0');
      for (const [version, reason] of [
        ['1.1.0', 'runs npx://upgraded-pack@1.1.0 already'],
        ['latest', 'has no version latest'],
        ['../x', 'has no version ../x'],
      ] as const) {
        const refused = await apply({ version });
        expect(refused).toMatchObject({ status: 422, body: { detail: expect.stringContaining(reason) } });
      }
    },
    LONG,
  );
});
