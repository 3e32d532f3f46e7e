import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { thisInstallation } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import { removeContainers } from '../../../../plugins/workloads/container/containers.ts';
import { connectEngine, type Engine } from '../../../../plugins/workloads/container/engine.ts';
import { createContainerRuntime } from '../../../../plugins/workloads/container/start.ts';
import { engineCall, SERVER_IMAGE } from '../../../support/container-engine.ts';
import { LONG, onEngines } from '../../../support/on-engines.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const RESTART = { firstDelayMs: 100, maxDelayMs: 1_000, resetAfterMs: 30_000, maxRestarts: 10 };
const SETTINGS = { firstStartTimeoutMs: 60_000, startTimeoutMs: 60_000, restart: RESTART };
const NOW = (): AbortSignal => AbortSignal.timeout(60_000);

/** An isolated workload, which has a container from its start on: the network sidecar. */
const spec = (name: string): WorkloadSpec => ({
  ...{ name, group: 'default', transport: 'stdio', env: {} },
  container: { image: SERVER_IMAGE, args: ['stdio'], isolation: { allowGateway: false } },
});

interface Listed {
  readonly Id: string;
  readonly Names: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
}

onEngines('two installations on one', (on) => {
  const { name, runs, proves } = on;
  const folder = temporaryFolderOfFile('owners');

  const connect = (installation: string): Promise<Engine> =>
    connectEngine({
      ...on.env,
      TOOLMGR_STATE_DIR: join(folder, installation),
    });
  const runtimeOf = (installation: string) => createContainerRuntime(() => connect(installation), SETTINGS).runtime;
  const get = async (path: string) => JSON.parse((await engineCall(on.engine.socket, 'GET', `/v1.41${path}`)).text);
  const containers = (): Promise<readonly Listed[]> => get('/containers/json?all=true');
  const create = async (container: string, labels: Record<string, string>, isStarted: boolean): Promise<void> => {
    const body = { Image: SERVER_IMAGE, Entrypoint: ['/bin/sleep', '600'], Labels: labels };
    await engineCall(on.engine.socket, 'POST', `/v1.41/containers/create?name=${container}`, body);
    if (isStarted) await engineCall(on.engine.socket, 'POST', `/v1.41/containers/${container}/start`);
  };
  const remove = (container: string) =>
    engineCall(on.engine.socket, 'DELETE', `/v1.41/containers/${container}?force=true`);

  proves(
    'choice.run.containers-owner',
    `leave each other's workloads of the same name alone, on ${name}`,
    async () => {
      const first = await runtimeOf('one').start(spec('same'), NOW());
      const before = await containers();
      expect(before.map(({ Labels }) => Labels['dev.toolmgr.name'])).toEqual(['same']);
      const refused = runtimeOf('two').start(spec('same'), NOW());
      await expect(refused).rejects.toThrow(
        new RegExp(`another installation of toolmgr .*@.*:${join(folder, 'one')}\\) has a workload of this name`),
      );
      // stop, rm and clean-up of the second
      expect(await removeContainers(await connect('two'), 'same', {})).toBe(0);
      expect((await containers()).map(({ Id }) => Id)).toEqual(before.map(({ Id }) => Id));
      await first.stop(1_000);
      expect(await containers()).toEqual([]);
      await using _ = { [Symbol.asyncDispose]: () => second.stop(1_000) };
      const second = await runtimeOf('two').start(spec('same'), NOW());
      // nor does the second remove the image from which the first makes its sidecars
      const images: readonly { readonly RepoTags?: readonly string[] | null }[] = await get('/images/json');
      const tags = images.flatMap(({ RepoTags }) => RepoTags ?? []);
      expect(tags.filter((tag) => tag.startsWith('localhost/toolmgr/network:'))).toHaveLength(2);
    },
    LONG,
  );

  runs(
    'name the other when a container with the name comes in between',
    async () => {
      const labels = { 'dev.toolmgr': 'true', 'dev.toolmgr.owner': 'x', 'dev.toolmgr.owner-place': 'ada@host:/state' };
      await create('between', { ...labels, 'dev.toolmgr.name': 'another' }, false);
      const web = { ...spec('between'), transport: 'streamable-http' as const, targetPort: 3001 };
      await expect(runtimeOf('one').start(web, NOW())).rejects.toThrow(/installation of toolmgr \(ada@host:\/state\)/);
      expect((await containers()).map(({ Names }) => Names[0])).toEqual(['/between']);
      await remove('between');
    },
    LONG,
  );

  runs(
    'take containers without an owner when they are known or have ended, and refuse others',
    async () => {
      const old = (run: string) => ({ 'dev.toolmgr': 'true', 'dev.toolmgr.name': 'old', 'dev.toolmgr.run': run });
      await create('running', old('unknown'), true);
      await expect(runtimeOf('one').start(spec('old'), NOW())).rejects.toThrow(
        /the container running runs and was created by an earlier version of toolmgr/,
      );
      expect(await removeContainers(await connect('one'), 'old', {})).toBe(0);
      expect(await removeContainers(await connect('one'), 'old', { only: 'unknown' })).toBe(1);
      await create('ended', old('unknown'), false);
      await using _ = { [Symbol.asyncDispose]: () => started.stop(1_000) };
      const started = await runtimeOf('one').start(spec('old'), NOW());
      expect((await containers()).flatMap(({ Names }) => Names)).not.toContain('/ended');
    },
    LONG,
  );
});

describe('the id of an installation', () => {
  it('is written once, also by processes at the same time, and may be given', async () => {
    const folder = temporaryFolder('owner');
    const env = { TOOLMGR_STATE_DIR: folder };
    const all = await Promise.all(Array.from({ length: 20 }, () => thisInstallation(env)));
    expect(new Set(all.map(({ id }) => id)).size).toBe(1);
    expect((await readFile(join(folder, 'installation'), 'utf8')).trim()).toBe(all[0]?.id);
    expect((await thisInstallation({ ...env, TOOLMGR_INSTALLATION: 'gateway-1' })).id).toBe('gateway-1');
    await expect(thisInstallation({ ...env, TOOLMGR_INSTALLATION: 'a b' })).rejects.toThrow('is not an id');
    await writeFile(join(folder, 'file'), '');
    await expect(thisInstallation({ TOOLMGR_STATE_DIR: join(folder, 'file') })).rejects.toThrow('cannot be written');
  });
});
