import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { blocksOf } from '../docs/blocks.ts';
import { consoleSteps } from '../docs/console-session.ts';
import { type LocalRegistry, localRegistry, type Ran } from '../support/local-registry.ts';
import { startNpxGateway } from '../support/npx-gateway.ts';
import { proves } from '../support/proves.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const EVERYTHING = join(ROOT, 'node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const found = rig('packaging');
const LONG_MS = 600_000; // npm installs: a minute on a quiet machine

describe.skipIf('missing' in found)('a new plugin of an installed toolmgr', () => {
  const scratch = temporaryFolderOfFile('own-plugin');
  /** The folder of the gateway file. */
  const project = join(scratch, 'project');
  const plugin = join(project, 'shout');
  const home = join(scratch, 'home');
  const env = { HOME: home, XDG_STATE_HOME: join(home, 'state'), NO_COLOR: '1' };
  let registry: LocalRegistry;

  const run = async (cwd: string, program: string, ...args: string[]): Promise<Ran> => {
    const ran = await registry.run(program, args, { cwd, env });
    if (ran.code !== 0) throw new Error(`${program} ${args.join(' ')}:\n${ran.out}${ran.err}`);
    return ran;
  };

  beforeAll(async () => {
    if ('missing' in found) return;
    for (const folder of [project, home]) mkdirSync(folder);
    writeFileSync(join(project, 'package.json'), '{"type":"module"}');
    registry = await localRegistry();
    await registry.install(project, ['toolmgr']);
    await run(project, 'npx', 'toolmgr', 'plugin', 'new', 'shout');
  }, LONG_MS);

  it(
    'passes its tests and serves from its TypeScript file without a build',
    async () => {
      await run(plugin, 'npm', 'install');
      await run(plugin, 'npm', 'test');
      expect(readdirSync(plugin)).not.toContain('dist');
      await served('./shout/index.ts');
    },
    LONG_MS,
  );

  it(
    'serves by the name of its package, which has JavaScript and types only',
    async () => {
      await run(plugin, 'npm', 'pack');
      const name = 'toolmgr-plugin-shout';
      await registry.install(project, [join(plugin, `${name}-0.1.0.tgz`)]);
      const installed = join(project, 'node_modules', name);
      expect(readdirSync(installed).sort()).toEqual(['README.md', 'dist', 'package.json']);
      expect(readdirSync(join(installed, 'dist')).sort()).toEqual(['index.d.ts', 'index.js']);
      await served(name);

      writeFileSync(
        join(project, 'consumer.ts'),
        `import shout from '${name}';\nconst wrong: number = shout.address;\n`,
      );
      const tsc = join(plugin, 'node_modules/typescript/bin/tsc');
      const flags = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--ignoreConfig', 'consumer.ts'];
      const types = await registry.run(process.execPath, [tsc, ...flags], { cwd: project });
      expect(types.out).toContain("consumer.ts(2,7): error TS2322: Type 'string' is not assignable to type 'number'");
      expect(types.out).not.toContain('consumer.ts(1');

      writeVmcp(name, 'blokced: []');
      const refused = await registry.run('npx', ['toolmgr', 'vmcp', 'validate', '-c', 'vmcp.yaml', '--load-plugins'], {
        cwd: project,
        env,
      });
      expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('did you mean "blocked"?') });
    },
    LONG_MS,
  );

  proves(
    'ask.plugin.page',
    'is written, tested, served and called as the guide says',
    async () => {
      const page = 'docs/guides/writing-a-plugin.md';
      const blocks = blocksOf(page, readFileSync(join(ROOT, page), 'utf8'));
      const steps = blocks.flatMap((block) => (block.language === 'console' ? consoleSteps(block) : []));
      const commandOf = (part: string): string => `npx ${steps.find(({ command }) => command.includes(part))?.command}`;
      const lines = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
      await run(project, 'sh', '-c', commandOf('plugin new'));
      for (const { file = '', text } of blocks)
        if (/^(?:mask-secrets|vmcp)/.test(file)) writeFileSync(join(project, file), `${text}\n`);
      expect((await run(project, 'sh', '-c', `set -e\n${lines.join('\n')}`)).out).toMatch(/pass 1\n.*fail 0/);

      const [, ...serve] = commandOf('vmcp serve').split(' ');
      await using gateway = await startNpxGateway([...serve, '--port', '0'], {
        cwd: project,
        env: { ...registry.processEnv, ...env },
      });
      const called = await run(project, 'sh', '-c', `${commandOf('toolmgr call')} --url ${gateway.url}`);
      expect(called.out).toBe('Echo: deploy with [masked]\n');
    },
    LONG_MS,
  );

  /** Serves a file with the plugin, and checks that the plugin hides a tool. */
  async function served(use: string): Promise<void> {
    writeVmcp(use, 'blocked: [everything_echo]');
    await using gateway = await startNpxGateway(['toolmgr', 'vmcp', 'serve', '-c', 'vmcp.yaml', '--port', '0'], {
      cwd: project,
      env: { ...registry.processEnv, ...env },
    });
    const { out } = await run(project, 'npx', 'toolmgr', 'tools', '--url', gateway.url);
    expect(out).toContain('everything_get-sum');
    expect(out).not.toContain('everything_echo');
  }

  function writeVmcp(use: string, settings: string): void {
    const file = `name: own
groupRef: own
incomingAuth: { type: anonymous }
outgoingAuth: { source: inline }
aggregation: { conflictResolution: prefix }
backends: [{ name: everything, transport: stdio, command: { file: ${process.execPath}, args: [${EVERYTHING}] } }]
plugins: [{ use: ${use}, with: { ${settings} } }]
`;
    writeFileSync(join(project, 'vmcp.yaml'), file);
    expect(readFileSync(join(plugin, 'README.md'), 'utf8')).toContain(`use: ${use}`);
  }
});
