import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Manifest, targetsOf } from '../../scripts/pack/published-manifest.ts';
import { type LocalRegistry, localRegistry, type Ran, type RunOptions } from '../support/local-registry.ts';
import { startNpxGateway } from '../support/npx-gateway.ts';
import { proves } from '../support/proves.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const ROOT = join(import.meta.dirname, '../..');
const found = rig('packaging');
const MAX_INSTALLED = 60_000_000; // bytes, as `du -sb`
/** `list` opens 60; each module in a file of its own would be 330. */
const MAX_OPENED = 90;
const LONG = 600_000; // npm installs: a minute on a quiet machine
/** The Node of the system, when it is one that is too old. */
const OLD_NODE = ['/usr/bin/node', '/usr/local/bin/node'].find((file) => existsSync(file) && majorOf(file) < 22);

describe.skipIf('missing' in found)('packages from a registry', () => {
  const tools = 'folder' in found ? join(found.folder, 'node_modules/.bin') : '';
  const scratch = temporaryFolderOfFile('install');
  const prefix = join(scratch, 'global');
  const installed = join(prefix, 'lib/node_modules/toolmgr');
  const project = join(scratch, 'project');
  /** An empty home: no settings, no cache of npx. The downloads of npm are kept by the machine. */
  const home = join(scratch, 'home');
  const env = { HOME: home, XDG_CACHE_HOME: join(home, 'cache'), XDG_STATE_HOME: join(home, 'state'), NO_COLOR: '1' };
  let registry: LocalRegistry;
  const run = (program: string, args: readonly string[], options: Partial<RunOptions> = {}): Promise<Ran> =>
    registry.run(program, args, { cwd: project, ...options, env: { ...env, ...options.env } });

  beforeAll(async () => {
    if ('missing' in found) return;
    for (const folder of [prefix, project, home]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    registry = await localRegistry();
    const npm = await run('npm', ['install', '-g', '--prefix', prefix, 'toolmgr'], { cwd: scratch });
    if (npm.code !== 0) throw new Error(npm.err);
  }, LONG);

  it('a global installation without optional peers takes less than 60 MB', () => {
    const files = globSync('**/*', { cwd: join(prefix, 'lib'), withFileTypes: true });
    const bytes = files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size, 0);
    expect(bytes).toBeLessThan(MAX_INSTALLED);
    expect(bytes).toBeGreaterThan(MAX_INSTALLED / 4);
  });

  it(
    'the packages have no export condition of the sources, and every file that they name is there',
    async () => {
      for (const { name } of registry.tarballs) {
        const folder = name === 'toolmgr' ? installed : join(installed, 'node_modules', name);
        const text = readFileSync(join(folder, 'package.json'), 'utf8');
        const manifest = JSON.parse(text) as Manifest & { readonly bin?: Readonly<Record<string, string>> };
        expect(text).not.toContain('"development"');
        const named = [...targetsOf(manifest.exports), ...Object.values(manifest.bin ?? {}), 'README.md', 'LICENSE'];
        expect(named.filter((path) => !existsSync(join(folder, path)))).toEqual([]);
        expect(globSync('**/*.{map,tsbuildinfo,test.js}', { cwd: folder, exclude: ['node_modules'] })).toEqual([]);
      }
      const program = "const core = await import('@toolmgr/core'); console.log(typeof core.createGateway);";
      const evaluated = await run(process.execPath, ['--input-type=module', '--eval', program], { cwd: installed });
      expect(evaluated).toMatchObject({ out: 'function\n' });
    },
    LONG,
  );

  it('a command opens few files of its own: the modules of a package are joined', async () => {
    const noted = `--import=${pathToFileURL(join(ROOT, 'test/support/note-modules.ts')).href}`;
    const program = join(installed, 'bin/toolmgr.js');
    const { code, err } = await run(process.execPath, [noted, program, 'list'], { cwd: scratch });
    expect(code).toBe(0);
    const opened = err
      .split('\n')
      .filter((line) => /node_modules\/(?:@toolmgr\/\w+|toolmgr)\/(?:bin|dist)\//.test(line));
    expect(opened.length).toBeGreaterThan(2);
    expect(opened.length).toBeLessThan(MAX_OPENED);
  });

  it(
    'the packages of a clone are installed as the page says',
    async () => {
      const page = readFileSync(join(ROOT, 'docs/start/install.md'), 'utf8');
      const lines = page.split('\n').filter((line) => line.startsWith('npm install'));
      expect(lines).toHaveLength(2);
      const packed = dirname(registry.tarballs[0]?.file ?? '');
      const script = lines.join(' && ').replace('.scratch/packages', packed);
      const own = join(scratch, 'from-clone');
      const npm = await run('sh', ['-c', script], { env: { npm_config_prefix: own } });
      expect(npm).toMatchObject({ code: 0 });
      const toolmgr = join(own, 'bin/toolmgr');
      expect(await run(toolmgr, ['run', '--help'])).toMatchObject({ code: 0, err: '' });
      expect(await run(toolmgr, ['--version'])).toMatchObject({ code: 0, out: `${registry.tarballs[0]?.version}\n` });
    },
    LONG,
  );

  it.each(['publint', 'attw'])(
    '%s finds no fault',
    async (tool) => {
      for (const { file, name } of registry.tarballs) {
        const flags = tool === 'publint' ? ['run', file, '--strict'] : [file, '--profile', 'esm-only', '--no-color'];
        const { code, out, err } = await run(process.execPath, [join(tools, tool), ...flags]);
        expect({ name, code, out: code === 0 ? '' : out, err: code === 0 ? '' : err }).toEqual({
          name,
          code: 0,
          out: '',
          err: '',
        });
      }
    },
    LONG,
  );

  it(
    'npx serves the servers of a client file up to a first call',
    async () => {
      const folder = mkdtempSync(join(scratch, 'first-'));
      const server = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
      const servers = { everything: { command: process.execPath, args: [server] } };
      writeFileSync(join(folder, '.mcp.json'), JSON.stringify({ mcpServers: servers }));
      await using gateway = await startNpxGateway(['toolmgr', 'up', '.mcp.json', '--port', '0'], {
        cwd: folder,
        env: { ...registry.processEnv, ...env },
      });
      const call = ['toolmgr', 'call', 'everything_echo', 'message=hello', '--url', gateway.url];
      const called = await run('npx', call, { cwd: folder });
      expect(called, called.err).toMatchObject({ code: 0, out: expect.stringContaining('hello') });
      expect(await run('npx', ['toolmgr', '--version'], { cwd: folder })).toMatchObject({ code: 0, out: '0.1.0\n' });
    },
    LONG,
  );

  proves(
    'ask.start.bare-manager',
    'the manager of a bare installation starts, and it and doctor name what each missing function needs',
    async () => {
      const toolmgr = join(prefix, 'bin/toolmgr');
      const containers = `npm install -g --prefix ${prefix} dockerode@5 tar-stream@3`;
      const manager = spawn(toolmgr, ['serve', '--port', '0'], {
        env: { ...registry.processEnv, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(manager, 'exit');
      let err = '';
      manager.stderr.on('data', (text) => (err += text));
      try {
        await until(() => err.includes('the token is in') || manager.exitCode !== null, LONG);
      } finally {
        manager.kill('SIGTERM');
        await ended;
      }
      expect(err).toContain('serves http://127.0.0.1:');
      expect(err).toContain(
        `without servers in containers, and skills: dockerode, tar-stream not installed; install: ${containers}\n`,
      );
      expect(err).toContain(`install: npm install -g --prefix ${prefix} isomorphic-git@1\n`);
      expect(err).not.toContain('ioredis'); // the manager has no use for it

      const { out } = await run(toolmgr, ['doctor', '--all']);
      expect(out).toContain(`fix: for servers in containers: ${containers}\n`);
      expect(out).toContain(`fix: if you need it: npm install -g --prefix ${prefix} ioredis@6\n`);
      const skill = join(scratch, 'own');
      mkdirSync(skill);
      writeFileSync(join(skill, 'SKILL.md'), '---\nname: own\ndescription: a skill\n---\nText.\n');
      expect(await run(toolmgr, ['skill', 'build', skill])).toMatchObject({
        code: 1,
        err: expect.stringContaining(`the optional package tar-stream is not installed; install it: ${containers}\n`),
      });
    },
    LONG,
  );

  it(
    'a missing optional peer is named with the command that installs it, and is found once it is installed',
    async () => {
      const toolmgr = join(prefix, 'bin/toolmgr');
      const file = join(project, 'redis.yaml');
      writeFileSync(
        file,
        `name: own\ngroupRef: own\nincomingAuth: { type: anonymous }\noutgoingAuth: { source: inline }\naggregation: {}
backends: [{ name: a, transport: streamable-http, url: 'http://127.0.0.1:1/mcp' }]
sessionStorage: { provider: redis, address: '127.0.0.1:1' }\n`,
      );
      const serve = ['vmcp', 'serve', '-c', file, '--port', '0'];
      const missing = await run(toolmgr, serve);
      const command = `npm install -g --prefix ${prefix} ioredis@6`;
      expect(missing).toMatchObject({
        code: 1,
        err: expect.stringContaining('state in Redis: the optional package ioredis'),
      });
      expect(missing.err).toContain(command);
      const [npm = '', ...args] = command.split(' ');
      expect(await run(npm, args)).toMatchObject({ code: 0 });
      expect(missing.err).toContain('; or without it: one process keeps its state in memory: provider: memory');
      const gateway = spawn(toolmgr, serve, {
        env: { ...registry.processEnv, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const ended = once(gateway, 'exit');
      let err = '';
      gateway.stderr.on('data', (text) => (err += text));
      try {
        await until(() => /redis/.test(err) || gateway.exitCode !== null, LONG);
      } finally {
        gateway.kill('SIGKILL');
        await ended;
      }
      expect(err).not.toContain('not installed');
      expect(err).toContain('redis');
    },
    LONG,
  );

  it.skipIf(OLD_NODE === undefined)(
    'an older Node uses a newer Node of the machine, or says what to do',
    { timeout: LONG },
    async () => {
      const bin = join(installed, 'bin/toolmgr.js');
      const bare = { PATH: '/nowhere', NVM_DIR: join(scratch, 'nvm') };
      const without = await run(OLD_NODE ?? '', [bin, '--version'], { env: bare });
      expect(without).toMatchObject({
        code: 1,
        out: '',
        err: expect.stringMatching(/^toolmgr: Node 2\d\.\S+ is too old, .*\n$/),
      });
      const [, offered] = / or run: npx (.*) …\n$/.exec(without.err) ?? [];
      // a package with Node takes 12 s to install
      if (offered !== undefined && process.env.PROOF_LONG === '1') {
        const folder = mkdtempSync(join(scratch, 'old-'));
        const options = { cwd: folder, env: { PATH: `${dirname(OLD_NODE ?? '')}:/bin` } };
        const args = ['--yes', ...offered.split(' '), '--version'];
        expect(await run(join(dirname(OLD_NODE ?? ''), 'npx'), args, options)).toMatchObject({
          code: 0,
          out: '0.1.0\n',
        });
      }
      mkdirSync(join(scratch, 'nvm/versions/node/v24.0.0/bin'), { recursive: true });
      writeFileSync(
        join(scratch, 'nvm/versions/node/v24.0.0/bin/node'),
        `#!/bin/sh\nexec '${process.execPath}' "$@"\n`,
        {
          mode: 0o755,
        },
      );
      expect(await run(OLD_NODE ?? '', [bin, '--version'], { env: bare })).toMatchObject({ code: 0, out: '0.1.0\n' });
      const path = `${dirname(OLD_NODE ?? '')}:${dirname(process.execPath)}`;
      expect(await run(OLD_NODE ?? '', [bin, '--version'], { env: { PATH: path } })).toMatchObject({ out: '0.1.0\n' });
    },
  );
});

function majorOf(file: string): number {
  return Number(/^v(\d+)/.exec(execFileSync(file, ['--version'], { encoding: 'utf8' }))?.[1]);
}
