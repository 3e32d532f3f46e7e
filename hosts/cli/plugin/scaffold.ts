import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { VERSION } from '../../shared/version.ts';

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
  const clone = cloneOfCore();
  const from = (core: string | undefined) => core && pathFrom(folder, core);
  const files = filesOf(name, from(clone), from(clone ?? coreFromFile()));
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text, { flag: 'wx' });
  return { folder, files: Object.keys(files).sort() };
}

/** A relative path, which also holds when both folders are moved; absolute to another drive of Windows. */
function pathFrom(folder: string, core: string): string {
  return relative(realpathSync(folder), realpathSync(core)).replaceAll('\\', '/');
}

/** The folder of the core when this program runs from a clone; `undefined` when it is installed. */
function cloneOfCore(): string | undefined {
  const core = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'core');
  return existsSync(join(core, 'index.ts')) ? core : undefined;
}

/** The folder of the installed core when toolmgr was installed from a file: then a registry may not have the core. */
function coreFromFile(): string | undefined {
  try {
    const core = dirname(createRequire(import.meta.url).resolve('@toolmgr/core/package.json'));
    const root = core.slice(0, core.search(/[\\/]node_modules[\\/]/));
    const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Installed;
    return FILE_SPEC.test(dependencies?.toolmgr ?? '') ? core : undefined;
  } catch {
    return undefined; // a global installation from a registry, or a single file with the whole program
  }
}

/** The part of a package.json that is read here. */
interface Installed {
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A dependency on a tarball or folder; Yarn writes its path without `file:`. */
const FILE_SPEC = /^(?:file:|link:|[./~]|[a-z]:[\\/])/i;

function filesOf(name: string, clone: string | undefined, core: string | undefined): Readonly<Record<string, string>> {
  return {
    'package.json': json(packageOf(name, clone, core)),
    'tsconfig.json': json(tsconfigOf(clone)),
    'tsconfig.build.json': json(buildConfigOf(clone)),
    '.gitignore': 'dist/\nnode_modules/\n',
    'index.ts': pluginText(name),
    'index.test.ts': testText(),
    'README.md': readmeText(name),
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** The core is a peer: the gateway has it. The one of a clone or a tarball is also linked, because it may be on no registry. */
function packageOf(name: string, clone: string | undefined, core: string | undefined) {
  const nodeFlags = clone === undefined ? '' : '--conditions=development ';
  const buildOfCore = clone === undefined ? '' : `tsc -b ${JSON.stringify(clone)} && `;
  return {
    name: `toolmgr-plugin-${name}`,
    version: '0.1.0',
    type: 'module',
    keywords: ['toolmgr-plugin'],
    engines: { node: '>=22.19.0' },
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    files: ['dist'],
    scripts: {
      pretest: NODE_CHECK,
      test: `node ${nodeFlags}--test "*.test.ts"`, // Node 24.0.0 does not look for TypeScript by itself
      types: 'tsc',
      build: `${buildOfCore}tsc -p tsconfig.build.json`,
      prepack: 'npm run build',
    },
    peerDependencies: { '@toolmgr/core': `^${VERSION}` },
    dependencies: { zod: '^4.6.7' },
    devDependencies: {
      ...(core === undefined ? {} : { '@toolmgr/core': `file:${core}` }),
      '@types/node': '^22.19.0',
      typescript: '^7.0.2',
    },
  };
}

/** An older Node would only report a syntax error. Single quotes, because the shell text is in double quotes. */
const NODE_CHECK = `node -e "const [major, minor] = process.versions.node.split('.').map(Number); if (major < 22 || (major === 22 && minor < 19)) { console.error('Node ' + process.versions.node + ' is too old: this plugin is TypeScript, which Node runs directly from 22.19 on (https://nodejs.org)'); process.exit(1) }"`;

/** For the editor and `npm run types`. In a clone the types come from the sources, because it may not be built. */
function tsconfigOf(core: string | undefined) {
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
      rewriteRelativeImportExtensions: true,
      skipLibCheck: true,
      noEmit: true,
      ...(core === undefined ? {} : { customConditions: ['development'] }),
    },
    include: ['*.ts'],
  };
}

/** Compiles the plugin and the files that it imports. In a clone the sources of the core are left out. */
function buildConfigOf(core: string | undefined) {
  return {
    extends: './tsconfig.json',
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rootDir: '.',
      outDir: 'dist',
      ...(core === undefined ? {} : { customConditions: [] }),
    },
    files: ['index.ts'],
    include: [],
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

test('hides and refuses a blocked tool and allows other tools', async (context) => {
  const { address } = plugin;
  const kit = await testGateway({
    plugins: [plugin],
    plan: { plugins: [{ use: address, with: { blocked: ['danger'] } }] },
    backends: { demo: fakeServer().tool('danger').tool('safe', 'done') },
  });
  context.after(() => kit.gateway.stop());
  const client = await kit.client();
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
The gateway runs \`index.ts\` as it is: no build is needed while you write it. \`toolmgr vmcp serve\` loads edited code when you save
the vmcp file (\`touch\` is enough), or on SIGHUP.

## Publish

\`npm publish\`, or \`npm pack\` for a tarball, first compiles \`index.ts\` and the files that it imports to JavaScript in \`dist\`, because
Node runs no TypeScript inside node_modules. After \`npm install toolmgr-plugin-${name}\` in the folder of the gateway file:

\`\`\`yaml
plugins:
  - use: toolmgr-plugin-${name}
    with:
      blocked: [delete_everything]
\`\`\`

Stability: alpha. Trusts: nothing outside the gateway.
`;
}
