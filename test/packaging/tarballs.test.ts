import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect } from 'vitest';
import { blocksOf, type DocBlock } from '../docs/blocks.ts';
import { type LocalRegistry, localRegistry, type Ran } from '../support/local-registry.ts';
import { proves } from '../support/proves.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const PAGE = 'docs/start/install.md';
const found = rig('packaging');
const LONG_MS = 600_000; // npm installs: a minute on a quiet machine
/** `npm run proof` installs with all of them; `npm test` with the one that everybody has. */
const IS_LONG = process.env.PROOF_LONG === '1';
const BLOCKS = blocksOf(PAGE, readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8'));

/** Where each package manager says what to install, and notes it; a package of a registry has the given text there. */
const PROJECTS = [
  { name: 'npm', manifest: 'package.json', lock: 'package-lock.json', ofRegistry: '/@toolmgr/core/-/' },
  { name: 'pnpm', manifest: 'pnpm-workspace.yaml', lock: 'pnpm-lock.yaml', ofRegistry: "'@toolmgr/core@0.1.0'" },
  { name: 'yarn', manifest: 'package.json', lock: 'yarn.lock', ofRegistry: '"@toolmgr/core@npm:' },
] as const;

function textWith(isWanted: (block: DocBlock) => boolean): string {
  const found = BLOCKS.find(isWanted);
  if (found === undefined) throw new Error(`${PAGE} has no such block`);
  return found.text;
}

const reason = 'missing' in found ? ` (skipped: ${found.missing})` : '';

describe.skipIf('missing' in found)(`the tarballs of a clone${reason}`, () => {
  const tools = 'folder' in found ? join(found.folder, 'node_modules/.bin') : '';
  const scratch = temporaryFolderOfFile('tarballs');
  const home = join(scratch, 'home');
  let registry: LocalRegistry;

  const run = async (cwd: string, command: string): Promise<Ran> => {
    const env = {
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      NO_COLOR: '1',
      CI: undefined,
      PATH: `${tools}:${process.env.PATH}`,
      pnpm_config_registry: registry.url,
      YARN_NPM_REGISTRY_SERVER: registry.url,
      YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
      YARN_ENABLE_IMMUTABLE_INSTALLS: 'false',
    };
    return registry.run('sh', ['-c', command], { cwd, env });
  };
  const ran = async (cwd: string, command: string): Promise<string> => {
    const { code, out, err } = await run(cwd, command);
    if (code !== 0) throw new Error(`${command}:\n${out}${err}`);
    return out;
  };

  beforeAll(async () => {
    if ('missing' in found) return;
    mkdirSync(home);
    registry = await localRegistry();
  }, LONG_MS);

  /** A text of the page with the folder of the packed tarballs instead of the one of the reader's clone. */
  const here = (text: string): string => text.replaceAll('../toolmgr/.scratch/packages', packages());
  const packages = (): string => dirname(registry.tarballs[0]?.file ?? '');

  for (const { name, manifest, lock, ofRegistry } of PROJECTS.filter(({ name }) => IS_LONG || name === 'npm')) {
    proves(
      'ask.install.tarballs',
      `are installed by ${name} without a registry that has them, get optional packages, and make a plugin that npm installs`,
      async () => {
        const project = join(scratch, name);
        mkdirSync(project);
        const written =
          name === 'npm' ? '{}' : textWith((block) => block.kind === 'packages' && block.file === manifest);
        writeFileSync(join(project, manifest), here(written));
        const script =
          name === 'npm' ? `npm install ${packages()}/*.tgz` : textWith(({ text }) => text.includes(`\n${name} `));
        const lines = here(script)
          .split('\n')
          .filter((line) => !line.endsWith('toolmgr up'));
        await ran(project, lines.join(' && '));
        expect(readFileSync(join(project, lock), 'utf8')).not.toContain(ofRegistry);

        const toolmgr = join(project, 'node_modules/.bin/toolmgr');
        const [, command = ''] =
          /if you need it: (.* ioredis@6)\n/.exec(await ran(project, `${toolmgr} doctor --all`)) ?? [];
        expect(command).toMatch(new RegExp(`^${name} (?:install|add) `));
        await ran(project, command);
        expect(await ran(project, `${toolmgr} doctor --all`)).not.toContain('ioredis');

        await ran(project, `${toolmgr} plugin new own`);
        const plugin = join(project, 'own');
        const { devDependencies } = JSON.parse(readFileSync(join(plugin, 'package.json'), 'utf8'));
        expect(devDependencies['@toolmgr/core']).toMatch(/^file:\.\.\/(?:.*\/)?node_modules\/@toolmgr\/core$/);
        expect(await ran(plugin, 'npm install && npm test && npm run types')).toMatch(/pass 2\n.*fail 0/);
      },
      LONG_MS,
    );
  }

  if (IS_LONG) {
    proves(
      'ask.install.tarballs',
      "are refused by Yarn's Plug'n'Play with what to write",
      async () => {
        const project = join(scratch, 'plug-n-play');
        mkdirSync(project);
        writeFileSync(join(project, 'package.json'), here(textWith(({ file }) => file === 'package.json')));
        await ran(project, 'touch yarn.lock && YARN_NODE_LINKER=pnp yarn install');
        expect(await run(project, 'yarn toolmgr --version')).toMatchObject({
          code: 1,
          out: '',
          err: expect.stringContaining('write nodeLinker: node-modules to .yarnrc.yml, then yarn install'),
        });
      },
      LONG_MS,
    );
  }
});
