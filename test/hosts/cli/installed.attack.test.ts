import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { compileCacheDir } from '../../../hosts/shared/compile-cache.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;
/** The installed package with an empty product. */
let bin: string;
beforeEach(async () => {
  folder = temporaryFolder('installed-attack');
  const root = join(folder, 'project', 'node_modules', 'toolmgr');
  bin = join(root, 'bin');
  await cp(join(import.meta.dirname, '../../../hosts/bin'), bin, { recursive: true });
  await writeFile(join(root, 'package.json'), '{"type":"module"}');
  for (const [path, text] of [
    ['dist/cli/main.js', "export const main = () => (console.log('started'), 0);"],
    ['dist/shared/engine.js', 'export const prepareEngine = () => {};'],
  ] as const) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
});

const node = (args: readonly string[], env: NodeJS.ProcessEnv = {}): string =>
  execFileSync(process.execPath, [...args], { env: { HOME: folder, PATH: '', ...env }, encoding: 'utf8' }).trim();

it('compiled code is neither read from nor written to a folder that others may write', async () => {
  const env = { XDG_CACHE_HOME: join(folder, 'cache') };
  const cache = join(env.XDG_CACHE_HOME, 'toolmgr');
  const start = () => node([join(bin, 'toolmgr.js'), 'version'], env);
  await mkdir(cache, { recursive: true });
  await chmod(cache, 0o777);
  expect(start()).toBe('started');
  expect(await readdir(cache)).toEqual([]);
  expect(compileCacheDir(env)).toBeUndefined();
  await chmod(cache, 0o700);
  expect(start()).toBe('started');
  expect(await readdir(cache)).toHaveLength(1);
  expect(compileCacheDir(env)).toBe(cache);
  await rm(cache, { recursive: true });
  const elsewhere = join(folder, 'elsewhere');
  await mkdir(elsewhere);
  await symlink(elsewhere, cache);
  expect(start()).toBe('started');
  expect(await readdir(elsewhere)).toEqual([]);
});

it('the path of the package is no URL: a name such as %41 in it is not decoded, and C: is no protocol', async () => {
  const other = join(folder, '#1 %41?');
  await cp(join(folder, 'project'), other, { recursive: true });
  expect(node([join(other, 'node_modules/toolmgr/bin/toolmgr.js'), 'version'])).toBe('started');
});

it('a node in a node_modules that others may write is not started', async () => {
  const pinned = join(folder, 'node_modules', '.bin');
  await mkdir(pinned, { recursive: true });
  await symlink(process.execPath, join(pinned, 'node'));
  const found = () =>
    node([
      '--input-type=module',
      '-e',
      `import { findNode } from ${JSON.stringify(join(bin, 'find-node.js'))}; console.log(findNode('22.19', ${JSON.stringify(bin)}, {}))`,
    ]);
  expect(found()).toBe(await realpath(process.execPath));
  await chmod(join(folder, 'node_modules'), 0o777);
  expect(found()).toBe('undefined');
});
