import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Name and place of a new plugin. */
export interface ScaffoldRequest {
  /** Folder name and address of the plugin, e.g. `business-hours`. */
  readonly name: string;
  /** Folder to create it in. */
  readonly into: string;
}

/** Names that are valid as a folder, an npm package and a plugin address. */
export const PLUGIN_NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/;

/** The files that were written. */
export interface Scaffolded {
  readonly folder: string;
  /** Paths written, relative to `folder`, sorted. */
  readonly files: readonly string[];
}

/**
 * Writes a working plugin: typed configuration, a test against a gateway in memory, and a README.
 * Returns a problem when the name is invalid or the folder exists; overwrites nothing.
 */
export async function scaffold({ name, into }: ScaffoldRequest): Promise<Scaffolded | { readonly problem: string }> {
  if (!PLUGIN_NAME.test(name)) {
    return {
      problem: `${JSON.stringify(name)} is not a plugin name: expected lower-case words joined by "-", such as business-hours`,
    };
  }
  const folder = resolve(into, name);
  if (existsSync(folder)) return { problem: `${folder} exists already; choose another name or remove it` };
  await mkdir(folder, { recursive: true });
  const files = filesOf(name, coreDependency());
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text, { flag: 'wx' });
  return { folder, files: Object.keys(files).sort() };
}

/** How the new plugin depends on the core: by version when this program is installed, by path when it runs from a clone. */
interface CoreDependency {
  readonly spec: string;
  readonly nodeFlags: string;
}

function coreDependency(): CoreDependency {
  const core = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'core');
  const isClone = existsSync(join(core, 'index.ts'));
  return isClone ? { spec: `file:${core}`, nodeFlags: '--conditions=development ' } : { spec: '^0.1.0', nodeFlags: '' };
}

function filesOf(name: string, core: CoreDependency): Readonly<Record<string, string>> {
  return {
    'package.json': `${JSON.stringify(packageOf(name, core), undefined, 2)}\n`,
    'tsconfig.json': `${JSON.stringify(tsconfigOf(core), undefined, 2)}\n`,
    'index.ts': pluginText(name),
    'index.test.ts': testText(),
    'README.md': readmeText(name),
  };
}

function packageOf(name: string, { spec, nodeFlags }: CoreDependency) {
  return {
    name: `toolmgr-plugin-${name}`,
    version: '0.1.0',
    type: 'module',
    keywords: ['toolmgr-plugin'],
    engines: { node: '>=24' },
    exports: './index.ts',
    scripts: {
      pretest: NODE_CHECK,
      test: `node ${nodeFlags}--test`,
      types: 'tsc',
    },
    dependencies: { '@toolmgr/core': spec, zod: '^4.6.7' },
    devDependencies: { '@types/node': '^24.0.0', typescript: '^7.0.2' },
  };
}

/** An older Node would only report a syntax error. Single quotes, because the shell text is in double quotes. */
const NODE_CHECK = `node -e "if (parseInt(process.versions.node) < 24) { console.error('Node ' + process.versions.node + ' is too old: this plugin is TypeScript, which Node runs directly from 24 on (https://nodejs.org)'); process.exit(1) }"`;

/** For the editor and `npm run types`. In a clone the types come from the sources, because it may not be built. */
function tsconfigOf({ nodeFlags }: CoreDependency) {
  return {
    compilerOptions: {
      module: 'nodenext',
      target: 'es2024',
      lib: ['es2024', 'esnext.disposable'],
      types: ['node'],
      strict: true,
      noUncheckedIndexedAccess: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true,
      ...(nodeFlags === '' ? {} : { customConditions: ['development'] }),
    },
    include: ['*.ts'],
  };
}

function pluginText(name: string): string {
  return `import { type CatalogEntry, definePlugin, type Refusal, tapDecision } from '@toolmgr/core';
import { z } from 'zod';

const ADDRESS = '${name}';

/** The schema gives the type below, the checks at boot with paths and suggestions, and the defaults. */
const config = z.strictObject({
  blocked: z.array(z.string()).default([]).describe('tools that are hidden and cannot be called'),
});

/** Hides blocked tools and refuses their calls with the same decision; undefined means no opinion. */
export default definePlugin({
  address: ADDRESS,
  stability: 'alpha',
  config,
  apply(core, { blocked }) {
    const names = new Set(blocked);
    tapDecision(core.hooks, ADDRESS, (entry) => decide(names, entry));
  },
});

function decide(blocked: ReadonlySet<string>, { key }: CatalogEntry): Refusal | undefined {
  if (!blocked.has(key)) return undefined;
  return { refused: true, status: 403, reason: 'this tool is blocked' };
}
`;
}

function testText(): string {
  return `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import plugin from './index.ts';

test('hides and refuses a blocked tool and allows other tools', async () => {
  const { address } = plugin;
  await using gateway = await testGateway({
    plugins: [plugin],
    plan: { plugins: [{ use: address, with: { blocked: ['danger'] } }] },
    backends: { demo: fakeServer().tool('danger').tool('safe', 'done') },
  });
  const client = await gateway.client();
  assert.deepEqual(await client.toolNames(), ['safe']);
  const safe = await client.callTool('safe');
  assert.deepEqual(safe.content, [{ type: 'text', text: 'done' }]);
  const refused = await client.request('tools/call', { name: 'danger', arguments: {} });
  assert.equal(refused.status, 403);
});

test('does not start with an unknown configuration key', async () => {
  const { address } = plugin;
  const started = testGateway({ plugins: [plugin], plan: { plugins: [{ use: address, with: { blokced: [] } }] } });
  await assert.rejects(started, /did you mean "blocked"/);
});
`;
}

function readmeText(name: string): string {
  return `# ${name}

A plugin for toolmgr. It hides the tools that its configuration names and refuses their calls; change it to do what you need.

\`\`\`yaml
plugins:
  - use: ./${name}/index.ts
    with:
      blocked: [delete_everything]
\`\`\`

\`npm install && npm test\` runs its tests against a gateway in memory: no sockets, no containers. \`npm run types\` checks the types.
After \`npm install ../${name}\` in the folder of the gateway file, \`use: toolmgr-plugin-${name}\` finds it too. To publish it,
compile it to JavaScript first, because Node runs no TypeScript inside node_modules.

Stability: alpha. Trusts: no other party.
`;
}
