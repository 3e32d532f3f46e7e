import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type LocalRegistry, localRegistry } from '../support/local-registry.ts';
import { proves } from '../support/proves.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const found = rig('packaging');
const LONG_MS = 600_000; // npm installs: a minute on a quiet machine

const FRAMEWORKS = ['express', 'fastify', 'hono', '@hono/node-server', '@types/express', '@types/node'];
const NODENEXT = { module: 'nodenext', moduleResolution: 'nodenext' };
const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };

describe.skipIf('missing' in found)('apps in a new folder that installed the core from a registry', () => {
  const folder = temporaryFolderOfFile('apps');
  const rigFolder = 'folder' in found ? found.folder : '';
  let registry: LocalRegistry;

  beforeAll(async () => {
    registry = await localRegistry();
    const { dependencies } = JSON.parse(readFileSync(join(rigFolder, 'package.json'), 'utf8')) as {
      dependencies: Readonly<Record<string, string>>;
    };
    cpSync(join(import.meta.dirname, 'apps'), folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
    const frameworks = FRAMEWORKS.map((name) => `${name}@${dependencies[name]}`);
    await registry.install(folder, ['@toolmgr/core', 'zod', ...frameworks]);
  }, LONG_MS);

  // TypeScript 5.9 takes half a minute for each on a busy machine; node16 and nodenext differ only for CommonJS. That the exports are
  // found by both resolutions is shown by attw and by TypeScript 7.
  const COMPILERS = {
    'TypeScript 5.9': [rigFolder, process.env.PROOF_LONG === '1' ? [NODENEXT, BUNDLER] : [NODENEXT]],
    'TypeScript 7': [ROOT, [NODENEXT, BUNDLER]],
  } as const;
  for (const [name, [home, resolutions]] of Object.entries(COMPILERS)) {
    proves(
      'ask.embedding.types',
      `${name} accepts them and checks the declarations of the core`,
      async () => {
        for (const resolution of resolutions) {
          expect(await compiled(home, { ...resolution, types: ['node'] })).toEqual([]);
        }
      },
      LONG_MS,
    );
  }

  it(
    'TypeScript 7 accepts them without the types of Node when declarations of packages are not checked',
    async () => {
      const errors = await compiled(ROOT, {
        ...NODENEXT,
        types: [],
        lib: ['es2024', 'dom'],
        skipLibCheck: true,
      });
      expect(errors.filter((line) => !NEEDS_NODE_TYPES.test(line))).toEqual([]);
    },
    LONG_MS,
  );

  for (const app of ['express', 'fastify', 'hono']) {
    it(
      `an app of ${app} starts and answers a call`,
      async () => {
        const ran = await registry.run(process.execPath, [`${app}-app.ts`], { cwd: folder });
        expect(ran).toMatchObject({ code: 0, out: expect.stringContaining('"text":"hello"') });
      },
      LONG_MS,
    );
  }

  /** Type errors in the apps and in the declarations of the core; errors inside of other packages are not ours. */
  async function compiled(home: string, options: object): Promise<readonly string[]> {
    const compilerOptions = {
      strict: true,
      noEmit: true,
      target: 'es2024',
      allowImportingTsExtensions: true,
      skipLibCheck: false,
      ...options,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts'] }));
    const tsc = join(home, 'node_modules/typescript/bin/tsc');
    const { out, err } = await registry.run(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
      cwd: folder,
    });
    return `${out}${err}`
      .split('\n')
      .filter((line) => /error TS/.test(line) && !/^node_modules\/(?!@toolmgr\/)/.test(line));
  }
});

/** The apps themselves use modules and globals of Node. */
const NEEDS_NODE_TYPES = /^[\w-]+\.ts\(.*(?:'node:|'process'|'import\.meta|ImportMeta)/;
