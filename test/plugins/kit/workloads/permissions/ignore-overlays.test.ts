import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { globalIgnoreFile, guardedIgnoreFiles, resolveOverlays } from '@toolmgr/plugins/kit/workloads/permissions';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../support/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('overlays');
});

async function write(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}
const hidden = async (mounted = 'data', globalFile?: string, readOnly = false): Promise<readonly string[]> => {
  const mounts = [{ source: join(folder, mounted), target: '/in', readOnly }];
  const found = await resolveOverlays(mounts, globalFile === undefined ? undefined : join(folder, globalFile));
  return found.map(({ target, kind }) => `${target} ${kind}`).sort();
};

describe('what ignore files hide', () => {
  it('follows the rules of gitignore', async () => {
    await write({
      'data/.toolmgrignore': '# comment\n\n.env\n/top\nlogs/**/*.log\nbuild/\n*.pem\n!keep.pem\n',
      ...{ 'data/.env': '', 'data/deep/er/.env': '', 'data/top': '', 'data/deep/top': '', 'data/logs/a/b/x.log': '' },
      ...{ 'data/build/x': '', 'data/deep/build/y': '', 'data/a.pem': '', 'data/keep.pem': '', 'data/logs/x.txt': '' },
    });
    expect(await hidden()).toEqual([
      ...['/in/.env file', '/in/a.pem file', '/in/build directory', '/in/deep/build directory'],
      ...['/in/deep/er/.env file', '/in/logs/a/b/x.log file', '/in/top file'],
    ]);
  });

  it('reads the global file first, so that a read-only mount may take patterns back', async () => {
    await write({ global: '*.key', 'data/a.key': '', 'data/b.key': '', 'data/.toolmgrignore': '!b.key\n' });
    expect(await hidden('data', 'global', true)).toEqual(['/in/a.key file']);
    expect(await hidden('data', 'global', false)).toEqual(['/in/a.key file', '/in/b.key file']);
    expect(await hidden('data')).toEqual([]);
    expect(await hidden('data', 'absent')).toEqual([]);
  });

  it('is decided by files that the container cannot change', async () => {
    await write({ 'data/.toolmgrignore': '.env\n', 'plain/x': '' });
    const at = (name: string, readOnly: boolean) => ({ source: join(folder, name), target: `/${name}/in`, readOnly });
    expect(await guardedIgnoreFiles([at('data', false), at('plain', false)])).toEqual([
      { source: join(folder, 'data/.toolmgrignore'), target: '/data/in/.toolmgrignore', readOnly: true },
    ]);
    expect(await guardedIgnoreFiles([at('data', true)])).toEqual([]);
    await symlink('../data/.toolmgrignore', join(folder, 'plain/.toolmgrignore'));
    await expect(guardedIgnoreFiles([at('plain', false)])).rejects.toThrow('the container could replace it');
  });

  it('leaves mounted files and links to the outside alone', async () => {
    await write({ global: '*\n', 'one.key': '', 'data/real': '' });
    await symlink('/etc/passwd', join(folder, 'data/link'));
    await symlink('absent', join(folder, 'data/broken'));
    await symlink('.', join(folder, 'data/self'));
    expect(await hidden('one.key', 'global')).toEqual([]);
    expect(await hidden('data', 'global')).toEqual(['/in/real file']);
  });

  it('holds for what a symbolic link of the name leads to', async () => {
    await write({
      'data/.toolmgrignore': '.env\nkeys/\n',
      'data/config/real': '',
      'data/store/a': '',
      'data/up/x/y': '',
    });
    await symlink('config/real', join(folder, 'data/.env'));
    await symlink('../store', join(folder, 'data/config/keys'));
    await symlink('..', join(folder, 'data/up/x/keys')); // above itself
    expect(await hidden()).toEqual(['/in/config/real file', '/in/store directory']);
  });

  it('touches nothing below another mount, and hides what is around it', async () => {
    await write({
      'data/.toolmgrignore': 'secret\n.env\n',
      'data/sub/.env': '',
      'data/secret/in/x': '',
      'data/secret/y': '',
    });
    await write({ 'other/.env': '', 'other/.toolmgrignore': '.env\n' });
    const at = (mounted: string, target: string) => ({ source: join(folder, mounted), target, readOnly: false });
    const found = await resolveOverlays(
      [at('data', '/in'), at('other', '/in/sub'), at('other', '/in/secret/in')],
      undefined,
    );
    expect(found.map(({ target }) => target).sort()).toEqual(['/in/secret/in/.env', '/in/secret/y', '/in/sub/.env']);
  });

  it('refuses names that an engine would read as parts of a mount', async () => {
    for (const name of ['a:b', 'x,src=/etc', 'a\nb', 'q"']) {
      await rm(join(folder, 'data'), { recursive: true, force: true });
      await write({ 'data/.toolmgrignore': '*\n', [`data/${name}`]: '' });
      await expect(hidden(), name).rejects.toThrow(/cannot be hidden: its name contains/);
    }
  });

  it('has a bound', async () => {
    await write({ 'data/.toolmgrignore': '*.x\n' });
    await Promise.all(Array.from({ length: 1_001 }, (_, n) => writeFile(join(folder, `data/${n}.x`), '')));
    await expect(hidden()).rejects.toThrow('hides more than 1000 files and directories of /in');
  });

  it('has its global file in the configuration folder of the user', () => {
    expect(globalIgnoreFile({ XDG_CONFIG_HOME: '/x' })).toBe('/x/toolmgr/.toolmgrignore');
    expect(globalIgnoreFile({ XDG_CONFIG_HOME: 'x', HOME: '/home/ada' })).toBe(
      '/home/ada/.config/toolmgr/.toolmgrignore',
    );
  });
});
