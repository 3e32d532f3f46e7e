import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { changeGroup, createGroup, readGroup, readGroups, removeGroup } from '@toolmgr/plugins/kit/workloads';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

let state: string;

beforeEach(() => {
  state = temporaryFolder('groups');
});

describe('groups on disk', () => {
  it('keep their clients and skills; no change of many at once is lost', async () => {
    expect(await createGroup(state, 'team one')).toBe('created');
    expect(await createGroup(state, 'team one')).toBe('exists');
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        changeGroup(state, 'team one', ({ registered_clients: clients }) => ({
          registered_clients: [...clients, `client-${n}`],
        })),
      ),
    );
    await changeGroup(state, 'team one', () => ({ skills: ['review'] }));
    expect(await changeGroup(state, 'team one', () => undefined)).toMatchObject({ skills: ['review'] });
    const group = await readGroup(state, 'team one');
    expect(group?.registered_clients).toHaveLength(20);
    expect(group).toMatchObject({ name: 'team one', skills: ['review'] });
  });

  it('exist as default, and not under another name', async () => {
    expect(await readGroup(state, 'default')).toEqual({ name: 'default', registered_clients: [], skills: [] });
    expect(await readGroup(state, 'none')).toBeUndefined();
    expect(await changeGroup(state, 'none', () => ({ skills: [] }))).toBeUndefined();
    await changeGroup(state, 'default', () => ({ registered_clients: ['cursor'] }));
    expect(await readGroup(state, 'default')).toMatchObject({ registered_clients: ['cursor'] });
  });

  it('are read from files of earlier versions; a damaged file is named and stays as it is', async () => {
    await mkdir(join(state, 'groups'), { recursive: true });
    await writeFile(join(state, 'groups/Old.json'), '{"format": 1, "name": "Old"}');
    await writeFile(join(state, 'groups/bad.json'), '{"format": 1');
    expect(await readGroup(state, 'Old')).toEqual({ name: 'Old', registered_clients: [], skills: [] });
    await expect(readGroup(state, 'bad')).rejects.toThrow(/bad\.json is not JSON/);
    await expect(changeGroup(state, 'bad', () => ({ skills: ['one'] }))).rejects.toThrow(/bad\.json/);
    expect(await readFile(join(state, 'groups/bad.json'), 'utf8')).toBe('{"format": 1');
    expect(await readGroups(state)).toEqual(['Old', 'bad']);
    await removeGroup(state, 'Old');
    expect(await readGroup(state, 'Old')).toBeUndefined();
  });

  it('have names of lower case letters, digits, "_", "-" and single spaces', async () => {
    for (const wrong of ['', ' a', 'a ', 'a  b', 'Team', 'a.b', '../a', 'a/b', 'x'.repeat(101)]) {
      expect(await createGroup(state, wrong), wrong).toBe('invalid');
    }
    expect(await createGroup(state, 'a_b-1 c')).toBe('created');
  });
});
