import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import {
  changeConfig,
  createRecord,
  readWorkload,
  readWorkloadSecrets,
  WORKLOAD_FILES,
  workloadDir,
  workloadSecretStore,
} from '@toolmgr/plugins/kit/workloads';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';
import { workloadConfigOf } from '../../../../support/workload-config.ts';

let state: string;

beforeEach(async () => {
  state = temporaryFolder('secrets');
  await createRecord(state, workloadConfigOf('one'));
});

describe('the secrets of a workload', () => {
  it('are written, read and removed in a file that only its owner can read', async () => {
    const store = workloadSecretStore(state, 'one');
    expect(await store.read('TOKEN')).toBeUndefined();
    await store.write('TOKEN', 'first');
    await store.write('OTHER', 'x');
    await store.write('TOKEN', 'second');
    expect(await store.read('TOKEN')).toBe('second');
    expect(await store.read('toString')).toBeUndefined();
    const file = join(workloadDir(state, 'one'), WORKLOAD_FILES.secrets);
    expect(((await stat(file)).mode & 0o777).toString(8)).toBe('600');
    await store.remove('TOKEN');
    await store.remove('NONE');
    expect(await readWorkloadSecrets(state, 'one')).toEqual({ OTHER: 'x' });
    expect((await readdir(workloadDir(state, 'one'))).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('are all kept when many are written at once', async () => {
    const names = Array.from({ length: 10 }, (_, n) => `NAME_${n}`);
    await Promise.all(names.map((name) => workloadSecretStore(state, 'one').write(name, name)));
    expect(Object.keys(await readWorkloadSecrets(state, 'one')).sort()).toEqual(names);
  });

  it('cannot be written for a workload that was removed', async () => {
    await expect(workloadSecretStore(state, 'two').write('TOKEN', 'x')).rejects.toThrow(/ENOENT/);
    expect(await readWorkload(state, 'two')).toBeUndefined();
  });
});

describe('the configuration of a workload', () => {
  it('is changed atomically, and only where it exists', async () => {
    expect(await changeConfig(state, 'one', (now) => ({ ...now, group: 'changed' }))).toBe(true);
    expect((await readWorkload(state, 'one'))?.config?.group).toBe('changed');
    expect(await changeConfig(state, 'two', (now) => now)).toBe(false);
  });
});
