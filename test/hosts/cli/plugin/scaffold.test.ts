import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { emptyProgramMs } from '../../../support/busy-machine.ts';
import { cli } from '../../../support/cli.ts';
import { proves } from '../../../support/proves.ts';
import { rig } from '../../../support/rig.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const run = promisify(execFile);
const REPOSITORY = join(import.meta.dirname, '../../../..');
const BIN = join(REPOSITORY, 'node_modules/.bin');
const MINUTE_MS = 60_000;
/** The oldest Node that engines allow, and the first of the next line: their test runners find files differently. */
const OLDEST_NODES = ['node-22-oldest', 'node-24-oldest'];
const nodes = process.platform === 'linux' && process.arch === 'x64' ? rig('nodes') : { missing: 'only Linux on x64' };

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('plugin');
});

/** Runs a program in the new plugin's folder with this project's Node first on PATH; fails with its output. */
function inPlugin(name: string, program: string, ...args: string[]): Promise<string> {
  return inPluginWith(BIN, name, program, ...args);
}

/** The same with the Node of the folder `bin` first on PATH. */
async function inPluginWith(bin: string, name: string, program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, PATH: `${bin}:${BIN}:${process.env.PATH}`, NODE_TEST_CONTEXT: undefined };
  try {
    const { stdout, stderr } = await run(program, args, { cwd: join(folder, name), env, timeout: 4 * MINUTE_MS });
    return stdout + stderr;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}:\n${stdout}${stderr}`, { cause });
  }
}

describe('toolmgr plugin new', () => {
  proves('ask.testing.scaffold', 'writes a plugin with a typed configuration, a test and a README', async () => {
    const made = await cli(['plugin', 'new', 'business-hours', '--into', folder]);
    expect(made).toMatchObject({ code: 0, out: expect.stringContaining('npm install && npm test') });
    const read = (file: string) => readFile(join(folder, 'business-hours', file), 'utf8');
    expect(await read('index.ts')).toMatch(/config = z\.strictObject\(/);
    expect(await read('index.test.ts')).toContain('testGateway');
    expect(await read('README.md')).toContain('use: ./business-hours/index.ts');
    expect(await read('README.md')).toContain('loads edited code when you save');
    expect(JSON.parse(await read('package.json'))).toMatchObject({
      name: 'toolmgr-plugin-business-hours',
      engines: { node: '>=22.19.0' },
      scripts: { test: expect.stringContaining('--test') },
    });
  });

  proves(
    'ask.testing.scaffold-green',
    'creates a plugin whose tests pass in under a minute, and whose types are correct',
    async () => {
      const busyMs = 40 * (await emptyProgramMs());
      const startedMs = performance.now();
      await cli(['plugin', 'new', 'mine', '--into', folder]);
      await inPlugin('mine', 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund');
      expect(await inPlugin('mine', 'npm', 'test')).toMatch(/pass 2\n.*fail 0/);
      expect(performance.now() - startedMs).toBeLessThan(MINUTE_MS + busyMs);

      await inPlugin('mine', 'npm', 'run', 'types');
      const text = await readFile(join(folder, 'mine/index.ts'), 'utf8');
      await writeFile(
        join(folder, 'mine/index.ts'),
        text.replace('apply(core, { blocked })', 'apply(core, { bloked })'),
      );
      await expect(inPlugin('mine', 'npm', 'run', 'types')).rejects.toThrow(/bloked/);
    },
    2 * MINUTE_MS,
  );

  it.skipIf('missing' in nodes)(
    'creates a plugin whose tests run and pass on the oldest Node that it accepts',
    async () => {
      const { folder: rigFolder } = nodes as { readonly folder: string };
      await cli(['plugin', 'new', 'mine', '--into', folder]);
      await inPlugin('mine', 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund');
      for (const node of OLDEST_NODES) {
        const bin = join(rigFolder, 'node_modules', node, 'bin');
        expect(await inPluginWith(bin, 'mine', 'npm', 'test'), node).toMatch(/pass 2\n.*fail 0/);
      }
    },
    2 * MINUTE_MS,
  );

  proves('ask.testing.scaffold-old-node', 'creates a plugin that reports a too old Node', async () => {
    await cli(['plugin', 'new', 'mine', '--into', folder]);
    const { scripts } = JSON.parse(await readFile(join(folder, 'mine/package.json'), 'utf8')) as {
      scripts: { pretest: string };
    };
    const pretend = join(folder, 'pretend.cjs');
    await writeFile(pretend, "Object.defineProperty(process, 'versions', { value: { node: process.env.AS_NODE } });");
    const checked = (version: string) =>
      run('sh', ['-c', scripts.pretest], {
        env: { ...process.env, AS_NODE: version, NODE_OPTIONS: `--require ${pretend}` },
      });
    await expect(checked('22.18.0')).rejects.toThrow(/Node 22\.18\.0 is too old: .*from 22\.19 on/);
    for (const enough of ['22.19.0', '24.0.0']) expect((await checked(enough)).stderr).toBe('');
  });

  it('overwrites nothing and refuses invalid names', async () => {
    await cli(['plugin', 'new', 'mine', '--into', folder]);
    const before = await readFile(join(folder, 'mine/index.ts'), 'utf8');
    expect(await cli(['plugin', 'new', 'mine', '--into', folder])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/exists already; choose another name or remove it\n$/),
    });
    expect(await readFile(join(folder, 'mine/index.ts'), 'utf8')).toBe(before);
    for (const name of ['Mine', '../mine', 'a b', 'a--b']) {
      const refused = await cli(['plugin', 'new', '--into', folder, '--', name]);
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('is not a plugin name') });
    }
  });
});
