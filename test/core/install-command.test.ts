import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installCommand } from '../../core/errors/install-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** A home with the given files. */
function home(files: Readonly<Record<string, object>>): string {
  const folder = temporaryFolder('home');
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), JSON.stringify(content));
  }
  return folder;
}

const FLAT = 'node_modules/@toolmgr/plugins/dist/stores/redis.js';
const PNPM = 'node_modules/.pnpm/@toolmgr+plugins@0.1.0/node_modules/@toolmgr/plugins/dist/stores/redis.js';
const LINKED = 'store/v11/links/@toolmgr/plugins/0.1.0/ab/node_modules/@toolmgr/plugins/dist/redis.js';

/** The command for a file of the home, asked in a folder of it. */
function commandAt(at: string, importer: string, cwd = at, args: readonly string[] = [], program = importer): string {
  const argv = [join(at, program), ...args];
  return installCommand(['ioredis@6'], join(at, importer), { cwd, argv }).replaceAll(at, '~');
}

describe('the command that installs a missing package', () => {
  it('uses the program whose lock file the project has, and names the project from elsewhere', () => {
    for (const [lock, path, here, elsewhere] of [
      ['package-lock.json', FLAT, 'npm install ioredis@6', 'npm install --prefix ~ ioredis@6'],
      ['yarn.lock', FLAT, 'yarn add ioredis@6', 'yarn --cwd ~ add ioredis@6'],
      ['pnpm-lock.yaml', PNPM, 'pnpm add --ignore-scripts ioredis@6', 'pnpm --dir ~ add --ignore-scripts ioredis@6'],
      ['bun.lock', FLAT, 'bun add ioredis@6', 'bun add --cwd ~ ioredis@6'],
    ] as const) {
      const at = home({ 'package.json': {}, [lock]: {} });
      expect([commandAt(at, path), commandAt(at, path, '/')]).toEqual([here, elsewhere]);
    }
  });

  it('adds to the global packages of npm, pnpm, Yarn and Bun', () => {
    const group = 'own/global/v11/950573e3';
    const at = home({
      'own/global/5/package.json': { dependencies: { toolmgr: '^0.1.0' } },
      [`${group}/package.json`]: { dependencies: { toolmgr: '^0.1.0', 'tar-stream': '^3.2.2', ioredis: '^6.0.0' } },
      'tarball/global/v11/1/package.json': { dependencies: { toolmgr: 'file:/p/toolmgr.tgz' } },
      '.config/yarn/global/package.json': {},
      '.bun/install/global/package.json': {},
    });
    expect(commandAt(at, join('lib', FLAT))).toBe('npm install -g --prefix ~ ioredis@6');
    const inPnpm10 = 'own/global/5/.pnpm/@toolmgr+plugins@0.1.0/node_modules/@toolmgr/plugins/dist/stores/redis.js';
    expect(commandAt(at, inPnpm10)).toBe('pnpm add --ignore-scripts -g ioredis@6');
    const inPnpm12 = (folder: string) => commandAt(at, LINKED, at, [], `${folder}/node_modules/toolmgr/bin/toolmgr.js`);
    expect(inPnpm12(group)).toBe('pnpm add --ignore-scripts -g toolmgr@^0.1.0,tar-stream@^3.2.2,ioredis@6');
    expect(inPnpm12('tarball/global/v11/1')).toBe('pnpm add --ignore-scripts -g file:/p/toolmgr.tgz,ioredis@6');
    expect(commandAt(at, join('.config/yarn/global', FLAT))).toBe('yarn global add ioredis@6');
    expect(commandAt(at, join('.bun/install/global', FLAT))).toBe('bun add -g ioredis@6');
  });

  it('repeats a single run with the package, and shows no argument that may be private', () => {
    const at = home({
      'a/_npx/1/package.json': { _npx: { packages: ['./toolmgr-0.1.0.tgz'] } },
      'a/_npx/2/package.json': {},
    });
    const run = (where: string, ...args: string[]) => commandAt(at, join(where, FLAT), at, args);
    expect(run('a/_npx/2', 'serve')).toBe('npx -p toolmgr -p ioredis@6 toolmgr serve');
    expect(run('a/_npx/1', 'vmcp', 'serve', '--token', 'x')).toBe(
      'npx -p ./toolmgr-0.1.0.tgz -p ioredis@6 toolmgr vmcp serve …',
    );
    expect(run('a/_npx/2', 'call', 'secretname', 'key=s3cret')).toBe(
      'npx -p toolmgr -p ioredis@6 toolmgr call secretname …',
    );
    expect(commandAt(at, join('pnpm/dlx/abc/1', PNPM), at, ['serve'])).toBe(
      'pnpm --package=toolmgr --package=ioredis@6 dlx toolmgr serve',
    );
  });

  it('finds the project of a store that several projects share, and a clone', () => {
    const at = home({ 'own/package.json': {}, 'own/pnpm-lock.yaml': {}, 'clone/package-lock.json': {} });
    const program = 'own/node_modules/toolmgr/bin/toolmgr.js';
    expect(commandAt(at, LINKED, join(at, 'own'), [], program)).toBe('pnpm add --ignore-scripts ioredis@6');
    expect(commandAt(at, 'clone/plugins/stores/redis.ts', join(at, 'clone'))).toBe('npm install ioredis@6');
    expect(commandAt(at, 'clone/plugins/stores/redis.ts', '/')).toBe('npm install --prefix ~/clone ioredis@6');
  });
});
