import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type LocalRegistry, localRegistry } from '../support/local-registry.ts';
import { rig } from '../support/rig.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');
const found = rig('packaging');
const LONG_MS = 600_000; // npm installs: a minute on a quiet machine

const COPIED = [
  'outgoing-auth/xaa',
  'rate-limit',
  'authorization/cedar',
  'composite/engine',
  'incoming-auth/oidc',
] as const;
/** Packages that the copied plugins import themselves, besides the core and the kit. */
const OWN_PACKAGES = ['zod', 'jose', 'ajv', '@cedar-policy/cedar-wasm'] as const;

describe.skipIf('missing' in found)('first-party plugins that were copied into an empty folder', () => {
  const folder = temporaryFolderOfFile('copied');
  let registry: LocalRegistry;

  beforeAll(async () => {
    registry = await localRegistry();
    for (const plugin of COPIED) cpSync(join(ROOT, 'plugins', plugin), join(folder, plugin), { recursive: true });
    cpSync(join(import.meta.dirname, 'copied/calls.ts'), join(folder, 'calls.ts'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n');
    const { peerDependencies, dependencies } = manifest('plugins');
    const { devDependencies } = manifest('.');
    const versions = { ...devDependencies, ...dependencies, ...peerDependencies };
    const packages = [...OWN_PACKAGES, '@types/node'].map((name) => `${name}@${versions[name]}`);
    await registry.install(folder, ['@toolmgr/core', '@toolmgr/plugins', ...packages]);
  }, LONG_MS);

  it(
    'compile without a change',
    async () => {
      const compilerOptions = {
        strict: true,
        noEmit: true,
        target: 'es2024',
        module: 'nodenext',
        types: ['node'],
        lib: ['es2024', 'esnext.disposable'],
        allowImportingTsExtensions: true,
        skipLibCheck: true,
      };
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
      const { out, err } = await registry.run(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], {
        cwd: folder,
      });
      expect(`${out}${err}`).toBe('');
    },
    LONG_MS,
  );

  it(
    'serve in a gateway',
    async () => {
      const ran = await registry.run(process.execPath, ['--test', '--test-reporter=tap', 'calls.ts'], { cwd: folder });
      expect(ran).toMatchObject({ code: 0, out: expect.stringContaining(`# pass ${COPIED.length}\n`) });
    },
    LONG_MS,
  );
});

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

function manifest(workspace: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8')) as Manifest;
}
