import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerBuild } from '@toolmgr/plugins/kit/extension-points';
import type { BuildPlan } from '@toolmgr/plugins/workloads/container';
import { beforeEach, describe, expect, it } from 'vitest';
import { planBuild } from '../../../../plugins/workloads/container/build/plan-build.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const GOLDEN = '../../../golden/dockerfile';
let folder: string;

beforeEach(() => {
  folder = temporaryFolder('plan');
});

type Env = Readonly<Record<string, string>>;

async function plan(text: string, build: ContainerBuild = {}, env: Env = {}, args: string[] = []): Promise<BuildPlan> {
  const made = await planBuild(text, build, { cwd: folder, env: { HOME: folder, ...env }, args });
  if ('reason' in made) throw new Error(made.reason);
  return made;
}

const refusal = async (text: string, build: ContainerBuild = {}): Promise<string> => {
  const made = await planBuild(text, build, { cwd: folder, env: { HOME: folder } });
  return 'reason' in made ? made.reason : 'planned';
};

function certificate(): string {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', join(folder, 'key.pem'), '-nodes'];
  const file = join(folder, 'ca.pem');
  execFileSync('openssl', ['req', '-x509', ...key, '-out', file, '-subj', '/CN=test', '-days', '2'], {
    stdio: 'ignore',
  });
  return file;
}

async function module(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

describe('the Dockerfile of a package', () => {
  const targets = {
    npx: 'npx://@scope/pkg@1.2.3',
    uvx: 'uvx://pkg[cli]==1.2',
    go: 'go://example.org/mod/cmd/server@v1.2.3',
  };

  for (const [scheme, target] of Object.entries(targets)) {
    it(`has two stages and a user without rights, for ${scheme}`, async () => {
      const { dockerfile } = await plan(target);
      expect(dockerfile).toMatch(/USER 10001:10001\nENTRYPOINT/);
      await expect(dockerfile).toMatchFileSnapshot(`${GOLDEN}/${scheme}.Dockerfile`);
    });

    it(`has all that options ask for, for ${scheme}`, async () => {
      const env = {
        NPM_CONFIG_REGISTRY: 'https://npm.example/',
        PIP_INDEX_URL: 'https://pip.example/',
        GOPROXY: 'https://go.example',
      };
      const build = {
        ...{
          baseImage: 'registry.example:5000/base/debian:12',
          packages: ['ripgrep', 'g++'],
          caCertFile: certificate(),
        },
        ...{
          constraints: scheme === 'uvx' ? ['pydantic<3', 'httpx[http2] >= 0.27'] : [],
          env: { GREETING: 'a "b" $c \\d' },
        },
      };
      const { dockerfile } = await plan(target, build, env, ['--port', 'x "y"; z']);
      await expect(dockerfile).toMatchFileSnapshot(`${GOLDEN}/${scheme}-options.Dockerfile`);
    });
  }

  it('builds the main package of a Go folder inside its module', async () => {
    await module({ 'go.mod': 'module x', 'cmd/my server/main.go': 'package main' });
    const { dockerfile } = await plan('go://./cmd/my server');
    await expect(dockerfile).toMatchFileSnapshot(`${GOLDEN}/go-folder.Dockerfile`);
  });
});

describe('the plan of a build', () => {
  it('has a tag that changes with everything that the image depends on, and with nothing else', async () => {
    const env = { NPM_CONFIG_REGISTRY: 'https://npm.example/' };
    const same = [
      await plan('npx://pkg'),
      await plan('npx://pkg', { packages: [], constraints: [], env: {} }),
      await plan('npx://pkg', {}, { HTTPS_PROXY: 'http://proxy.example:3128', OTHER: 'x' }),
    ];
    expect(new Set(same.map(({ tag }) => tag)).size).toBe(1);
    expect(same[0]?.tag).toMatch(/^localhost\/toolmgr\/npx-pkg:[0-9a-f]{16}$/);
    const others = [
      ...same.slice(0, 1),
      await plan('npx://pkg@1'),
      await plan('npx://pkg', { baseImage: 'node:24' }),
      await plan('npx://pkg', { packages: ['git-lfs'] }),
      await plan('npx://pkg', { env: { A: '1' } }),
      await plan('npx://pkg', { caCertFile: certificate() }),
      await plan('npx://pkg', { caCertFile: certificate() }),
      await plan('npx://pkg', {}, env),
      await plan('npx://pkg', {}, {}, ['x']),
    ];
    expect(new Set(others.map(({ tag }) => tag)).size).toBe(others.length);
    const [first, second] = [
      await plan('npx://pkg', {}, { NPM_CONFIG_REGISTRY: 'https://a:1@npm.example/' }),
      await plan('npx://pkg', {}, { NPM_CONFIG_REGISTRY: 'https://b:2@npm.example/' }),
    ];
    expect(first.tag).toBe(second.tag);
  });

  it('passes registries and proxies of this machine as build arguments, which are in no file', async () => {
    await module({
      '.npmrc': '//npm.example/:_authToken=s3cret\nregistry=https://npm.example/\n',
      '.config/go/env': 'GOPROXY=https://go.example\n',
    });
    const proxy = { HTTPS_PROXY: 'http://user:s3cret@proxy.example:3128', no_proxy: 'localhost' };
    const npm = await plan('npx://pkg', {}, proxy);
    expect(npm.buildArgs).toEqual({ ...proxy, NPM_CONFIG_REGISTRY: 'https://npm.example/' });
    expect(npm.dockerfile).not.toMatch(/s3cret|npm\.example/);
    expect((await plan('go://example.org/x')).buildArgs).toEqual({ GOPROXY: 'https://go.example' });
    const python = await plan('uvx://pkg', {}, { PIP_INDEX_URL: 'https://pip.example/' });
    expect(python.buildArgs).toEqual({
      PIP_INDEX_URL: 'https://pip.example/',
      UV_DEFAULT_INDEX: 'https://pip.example/',
    });
    const runtime = python.dockerfile.slice(python.dockerfile.lastIndexOf('FROM'));
    expect(runtime).not.toContain('ARG');
  });

  it('leaves out settings that lead to the loopback address of this machine, with a warning', async () => {
    const { buildArgs, warnings } = await plan(
      'npx://pkg',
      {},
      { HTTP_PROXY: 'http://127.0.0.1:3128', NPM_CONFIG_REGISTRY: 'http://localhost:4873/' },
    );
    expect(buildArgs).toEqual({});
    expect(warnings).toEqual([
      expect.stringContaining('NPM_CONFIG_REGISTRY leads to this machine'),
      expect.stringContaining('HTTP_PROXY leads to this machine'),
    ]);
  });

  it('has the files of a Go module without those of .dockerignore, secrets and links that lead out of it', async () => {
    await module({
      'mod/go.mod': 'module x',
      'mod/main.go': 'package main',
      'mod/.env': 's3cret',
      'mod/sub/.npmrc': 's3cret',
      'mod/.git/config': 's3cret',
      'mod/big.bin': 'x',
      'mod/.dockerignore': '*.bin\n',
      outside: 's3cret',
    });
    await symlink('../outside', join(folder, 'mod/link'));
    const { files, tag } = await plan('go://./mod');
    expect(files.map(({ path }) => path)).toEqual(['src/.dockerignore', 'src/go.mod', 'src/main.go']);
    await writeFile(join(folder, 'mod/big.bin'), 'other');
    expect((await plan('go://./mod')).tag).toBe(tag);
    await writeFile(join(folder, 'mod/main.go'), 'package main // other');
    expect((await plan('go://./mod')).tag).not.toBe(tag);
    expect(await refusal('go://./nowhere')).toContain('there is no such folder');
    expect(await refusal('go://.')).toContain('there is no go.mod');
  });

  proves('run.option.build-with-unsupported', 'refuses constraints where the ecosystem has none', async () => {
    for (const target of ['npx://pkg', 'go://example.org/x']) {
      expect(await refusal(target, { constraints: ['a<1'] })).toMatch(/^--build-with is for uvx:\/\/ only: /);
    }
  });

  it('refuses options that could be read as flags, shell text or further lines', async () => {
    const hostile = [
      '',
      '-x',
      '--allow-untrusted',
      'a b',
      'a;id',
      'a\nRUN id',
      '$(id)',
      '`id`',
      "a'b",
      'a"b',
      'a&b',
      'a|b',
    ];
    for (const text of hostile) {
      expect(await refusal('npx://x', { packages: [text] }), text).toContain('--runtime-add-package');
      expect(await refusal('npx://x', { baseImage: text }), text).toContain('--runtime-image');
      expect(await refusal('uvx://x', { constraints: [text] }), text).toContain('--build-with');
      expect(await refusal('npx://x', { env: { [text]: '1' } }), text).toContain('runtime_env');
    }
    for (const [name, value] of [
      ['PATH', '/x'],
      ['LD_PRELOAD', '/x'],
      ['HOME', '/'],
      ['A', 'x\nRUN id'],
    ] as const) {
      expect(await refusal('npx://x', { env: { [name]: value } })).toContain('runtime_env');
    }
    expect(await refusal('npx://x', { packages: ['a'.repeat(129)] })).toContain('--runtime-add-package');
  });

  it('takes only certificates from the file of --ca-cert', async () => {
    const file = certificate();
    const both = join(folder, 'both.pem');
    execFileSync('sh', ['-c', `cat key.pem ca.pem > both.pem`], { cwd: folder });
    const { files } = await plan('npx://x', { caCertFile: both });
    const text = files[0]?.content.toString() ?? '';
    expect(text).toContain('BEGIN CERTIFICATE');
    expect(text).not.toContain('PRIVATE KEY');
    expect((await plan('npx://x', { caCertFile: file })).files[0]?.content.toString()).toBe(text);
    expect(await refusal('npx://x', { caCertFile: join(folder, 'key.pem') })).toContain('expected certificates in PEM');
    expect(await refusal('npx://x', { caCertFile: join(folder, 'none') })).toContain('cannot be read: ENOENT');
  });
});
