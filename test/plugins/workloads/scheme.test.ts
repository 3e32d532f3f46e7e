import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { commandFromScheme } from '@toolmgr/plugins';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';

let folder: string;

beforeEach(() => {
  folder = temporaryFolder('scheme');
});

async function put(path: string, text: string, mode = 0o644): Promise<string> {
  const whole = join(folder, path);
  await mkdir(dirname(whole), { recursive: true });
  await writeFile(whole, text);
  await chmod(whole, mode);
  return whole;
}

const install = (name: string, manifest: object): Promise<string> =>
  put(`node_modules/${name}/package.json`, JSON.stringify({ name, version: '1.2.3', ...manifest }));

const resolve = (target: string, args: readonly string[] = [], env: Record<string, string> = {}) =>
  commandFromScheme(target, args, { cwd: folder, env });

describe('commandFromScheme', () => {
  it('runs an installed package with the current Node without a wrapper', async () => {
    await install('pkg', { bin: { other: 'a.js', pkg: 'main.js' } });
    const main = await put('node_modules/pkg/main.js', '#!/usr/bin/env node\n');
    expect(await resolve('npx://pkg', ['--port', 'x y'])).toEqual({
      kind: 'command',
      via: 'installed',
      command: { file: process.execPath, args: [main, '--port', 'x y'], env: {} },
    });
  });

  it('finds it in parent folders, also scoped names and single bins', async () => {
    await install('@scope/pkg', { bin: './run.sh' });
    const run = await put('node_modules/@scope/pkg/run.sh', '#!/bin/sh\n', 0o755);
    const deep = join(folder, 'a/b');
    await mkdir(deep, { recursive: true });
    expect(await commandFromScheme('npx://@scope/pkg', [], { cwd: deep, env: process.env })).toMatchObject({
      via: 'installed',
      command: { file: run, args: [] },
    });
  });

  it('finds packages that are installed next to toolmgr', async () => {
    const found = await resolve('npx://@modelcontextprotocol/server-everything');
    expect(found).toMatchObject({ kind: 'command', via: 'installed', command: { file: process.execPath } });
  });

  it('uses an installed package only with the exact version', async () => {
    await install('pkg', { bin: 'main.js' });
    await put('node_modules/pkg/main.js', '');
    const npx = await put('bin/npx', '', 0o755);
    const env = { PATH: dirname(npx) };
    expect(await resolve('npx://pkg@1.2.3', [], env)).toMatchObject({ via: 'installed' });
    for (const version of ['1.2.4', 'latest', '^1.2.0']) {
      expect(await resolve(`npx://pkg@${version}`, ['a'], env)).toMatchObject({
        via: 'npx',
        command: { file: npx, args: ['-y', `pkg@${version}`, 'a'] },
      });
    }
  });

  it('runs a package without a unique bin with npx', async () => {
    await install('pkg', { bin: { one: '1.js', two: '2.js' } });
    const npx = await put('bin/npx', '', 0o755);
    expect(await resolve('npx://pkg', [], { PATH: dirname(npx) })).toMatchObject({ via: 'npx' });
  });

  it('passes npm settings to npx, but no credentials', async () => {
    const npx = await put('bin/npx', '', 0o755);
    const env = {
      PATH: dirname(npx),
      npm_config_registry: 'https://mirror.example/',
      NO_PROXY: 'localhost',
      npm_config__authToken: 'secret',
      AWS_SECRET_ACCESS_KEY: 'secret',
    };
    expect(await resolve('npx://not-installed-anywhere', [], env)).toMatchObject({
      command: { env: { npm_config_registry: 'https://mirror.example/', NO_PROXY: 'localhost' } },
    });
  });

  it('refuses when npx is missing, with instructions', async () => {
    expect(await resolve('npx://not-installed-anywhere', [], { PATH: '/nowhere' })).toEqual({
      kind: 'refused',
      reason:
        'npx://not-installed-anywhere: the package is not installed here and npx is not on PATH. Install npm, or npm install not-installed-anywhere',
    });
  });

  it('refuses unknown schemes', async () => {
    expect(JSON.stringify(await resolve('docker://x'))).toContain('the scheme docker:// is not known');
  });

  it('ignores URLs, paths and names', async () => {
    for (const target of ['http://127.0.0.1/mcp', 'https://x.example', './server', 'node', 'a:b']) {
      expect(await resolve(target)).toBeUndefined();
    }
  });
});
