import { dirname, join } from 'node:path/posix';
import { PUBLIC_ENTRIES } from './public-entries.ts';
import { type Import, importsOf, type Token, tokensOf } from './source-text.ts';

/**
 * Checks layers, circles, packages, names and default exports of a set of files.
 *
 * Shape: `files` maps a path from the root to its text; the result is one sentence per fault.
 */
export function architectureFaults(files: ReadonlyMap<string, string>): readonly string[] {
  const tree = treeFrom(files);
  const sources = [...tree.sources.values()];
  return [
    ...sources.flatMap((source) => source.imports.flatMap((wanted) => importFaults(tree, source.path, wanted))),
    ...sources.flatMap(placeFaults),
    ...circles(tree),
    ...sources.flatMap(packageFaults),
    ...sources.flatMap(environmentFaults),
    ...[...files.keys()].flatMap(nameFaults),
    ...sources.flatMap((source) => defaultExportFaults(tree, source)),
    ...catalogueFaults(tree),
    ...contractFaults(tree),
  ];
}

interface Source {
  readonly path: string;
  readonly tokens: readonly Token[];
  readonly imports: readonly Import[];
}

interface SourceTree {
  readonly sources: ReadonlyMap<string, Source>;
  /** The outermost folders under `plugins/` with an `index.ts`. */
  readonly pluginFolders: readonly string[];
}

function treeFrom(files: ReadonlyMap<string, string>): SourceTree {
  const paths = [...files.keys()].filter((path) => /^(core|plugins|hosts|examples|test|scripts)\/.*\.tsx?$/.test(path));
  const sources = new Map(
    paths.map((path) => {
      const tokens = tokensOf(files.get(path) ?? '');
      return [path, { path, tokens, imports: importsOf(tokens) }];
    }),
  );
  const folders = paths.filter((path) => /^plugins\/.+\/index\.ts$/.test(path)).map((path) => dirname(path));
  const pluginFolders = folders
    .filter((folder) => !folder.startsWith('plugins/kit/'))
    .filter((folder) => !folders.some((outer) => folder.startsWith(`${outer}/`)));
  return { sources, pluginFolders };
}

// ---- layers ----

/** Bottom first; a file may import its own layer or a lower one. Each folder of the core is a layer of its own. */
const LAYERS = [
  ['core/errors'],
  ['core/contract'],
  ['core/limits'],
  ['core/json'],
  ['core/timing'],
  ['core/extension'],
  ['core/mcp'],
  ['core/http1'],
  ['core/backend'],
  ['core/catalog'],
  ['core/pipeline'],
  ['core/server'],
  ['core/gateway'],
  ['core/index'],
  ['core/testing'],
  ['plugins/kit'],
  ['plugins'],
  ['hosts/shared'],
  ['hosts/http', 'hosts/stdio'],
  ['hosts/client-files'],
  ['hosts/workloads'],
  ['hosts/run'],
  ['hosts/vmcp'],
  ['hosts/manager'],
  ['hosts/operator'],
  ['hosts'],
  ['examples', 'test', 'scripts'],
] as const satisfies readonly (readonly string[])[];

const OWN_PACKAGE = /^(@toolmgr\/|toolmgr($|\/))/;

function importFaults(tree: SourceTree, from: string, { from: specifier }: Import): readonly string[] {
  const target = targetOf(tree, from, specifier);
  if (target === undefined) return [];
  const [here, there] = [layerOf(from), layerOf(target)];
  if (there > here) return [`${from} reaches up to ${target}`];
  return mayReach(tree, from, target, specifier) ? [] : [`${from} reaches into ${target}`];
}

function mayReach(tree: SourceTree, from: string, target: string, specifier: string): boolean {
  const byPublicEntry = PUBLIC_ENTRIES[specifier] !== undefined;
  if (from.startsWith('core/')) return target.startsWith('core/');
  if (from.startsWith('hosts/')) return byPublicEntry || target.startsWith('hosts/');
  if (!from.startsWith('plugins/')) return true;
  if (!target.startsWith('plugins/')) return specifier === '@toolmgr/core';
  if (from.startsWith('plugins/kit/')) return target.startsWith('plugins/kit/');
  if (target.startsWith('plugins/kit/')) return byPublicEntry;
  if (gathersPlugins(tree, from)) return true;
  return target !== 'plugins/index.ts' && pluginOf(tree, from) === pluginOf(tree, target);
}

/** Whether a file is an entry of the package that belongs to no plugin, such as the catalogue. */
function gathersPlugins({ pluginFolders }: SourceTree, path: string): boolean {
  return ENTRY_FILES.has(path) && !pluginFolders.some((folder) => path.startsWith(`${folder}/`));
}

const ENTRY_FILES: ReadonlySet<string> = new Set(Object.values(PUBLIC_ENTRIES));

function pluginOf({ pluginFolders }: SourceTree, path: string): string {
  return pluginFolders.find((folder) => path.startsWith(`${folder}/`)) ?? dirname(path);
}

function targetOf({ sources }: SourceTree, from: string, specifier: string): string | undefined {
  if (OWN_PACKAGE.test(specifier)) return PUBLIC_ENTRIES[specifier] ?? specifier.replace(/^@toolmgr\//, '');
  if (!specifier.startsWith('.')) return undefined;
  const path = join(dirname(from), specifier);
  const typed = path.replace(/\.js$/, '.ts');
  return sources.has(typed) ? typed : path;
}

/** Index of the layer of a file, lower layers first; -1 when it is on none. */
export function layerOf(path: string): number {
  return LAYERS.findIndex((layer) => layer.some((part) => isIn(path, part)));
}

function isIn(path: string, part: string): boolean {
  return path === `${part}.ts` || path.startsWith(`${part}/`);
}

function placeFaults({ path, tokens }: Source): readonly string[] {
  const onNoLayer = layerOf(path) < 0 ? [`${path} is on no layer`] : [];
  return isIn(path, 'core/contract') ? [...onNoLayer, ...runtimeFaults(path, tokens)] : onNoLayer;
}

const RUNTIME_WORDS = new Set(['const', 'let', 'var', 'function', 'class', 'enum', 'await', 'throw', 'if', 'for']);

function runtimeFaults(path: string, tokens: readonly Token[]): readonly string[] {
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token.kind === 'mark' && '([{'.includes(token.text)) depth += 1;
    if (token.kind === 'mark' && ')]}'.includes(token.text)) depth -= 1;
    if (depth === 0 && token.kind === 'word' && isRuntime(tokens, index)) {
      return [`${path} has a runtime statement, '${token.text}'; core/contract holds types only`];
    }
  }
  return [];
}

function isRuntime(tokens: readonly Token[], index: number): boolean {
  const [before, token, next] = [tokens[index - 1]?.text, tokens[index]?.text ?? '', tokens[index + 1]];
  if (before === 'declare' || before === '<' || before === '.') return false;
  if (token === 'import') return next?.kind === 'string' || (next?.text !== 'type' && next?.text !== '(');
  if (token === 'export') return next?.text === '{' || next?.text === '*' || next?.text === 'default';
  return RUNTIME_WORDS.has(token);
}

// ---- circles ----

function circles(tree: SourceTree): readonly string[] {
  const found = new Map<string, string>();
  const done = new Set<string>();
  const walk = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      const ring = highestFirst(trail.slice(start));
      found.set([...ring].sort().join(' '), `circle: ${[...ring, ring[0]].join(' -> ')}`);
      return;
    }
    if (done.has(path)) return;
    for (const { from } of tree.sources.get(path)?.imports ?? []) {
      const target = targetOf(tree, path, from);
      if (target !== undefined && tree.sources.has(target)) walk(target, [...trail, path]);
    }
    done.add(path);
  };
  for (const path of tree.sources.keys()) walk(path, []);
  return [...found.values()];
}

function highestFirst(ring: readonly string[]): readonly string[] {
  const top = Math.max(...ring.map(layerOf));
  const first = [...ring].filter((path) => layerOf(path) === top).sort()[0] ?? '';
  const at = ring.indexOf(first);
  return [...ring.slice(at), ...ring.slice(0, at)];
}

// ---- packages ----

/** The folders that may import a package (or a scope, with `/*`); examples, tests and scripts may import all. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  tapable: ['core/extension'],
  undici: ['core/http1/undici-client', 'plugins/kit', 'hosts/shared/client', 'hosts/cli/client'],
  '@modelcontextprotocol/client': ['hosts/shared/client'],
  fastify: ['hosts/http', 'hosts/manager/http'],
  preact: ['hosts/manager/page'],
  '@preact/*': ['hosts/manager/page'],
  vite: [],
  '@decimalturn/toml-patch': ['plugins/clients'],
  'isomorphic-git': ['plugins/skills'],
  '@fastify/*': ['hosts/http', 'hosts/manager/http'],
  yaml: ['hosts', 'plugins/clients', 'plugins/skills'],
  'jsonc-parser': ['hosts/client-files', 'plugins/clients'],
  diff: ['plugins/clients'],
  commander: ['hosts'],
  'log-update': ['hosts/shared/gateway-log'],
  'slice-ansi': ['hosts/shared/gateway-log'],
  'string-width': ['hosts/shared/gateway-log'],
  open: ['hosts/workloads/login'],
  'get-port': ['plugins/workloads', 'hosts'],
  '@napi-rs/keyring': ['plugins/kit/secrets/keyring'],
  ioredis: ['plugins/kit/redis'],
  'oidc-provider': ['plugins/auth-server/provider'],
  'openid-client': ['plugins/auth-server/upstreams'],
  oauth4webapi: ['plugins/kit/oauth'],
  rfc6902: ['plugins/interception/webhooks'],
  'ipaddr.js': ['plugins/kit/safe-http'],
  ajv: ['plugins/composite/engine'],
  'import-meta-resolve': ['core/gateway'],
  jose: ['plugins/incoming-auth/oidc', 'plugins/auth-server', 'plugins/kit/issuer-keys'],
  '@opentelemetry/*': ['plugins/telemetry'],
  dockerode: ['plugins/workloads/container'],
  ws: ['plugins/workloads/kubernetes'],
  '@balena/dockerignore': ['plugins/workloads/container'],
  'tar-stream': ['plugins/workloads/container', 'plugins/skills'],
  '@sigstore/*': ['plugins/image-verification', 'plugins/skills/signature'],
  '@cedar-policy/*': ['plugins/authorization/cedar'],
  'quickjs-emscripten': ['plugins/code-mode/quickjs'],
  'quickjs-emscripten-core': ['plugins/code-mode/quickjs'],
  '@jitl/*': ['plugins/code-mode/quickjs'],
  '@marcbachmann/cel-js': ['plugins/kit/cel'],
  'safe-regex2': ['plugins/kit/cel'],
  '@aws-sdk/client-sts': ['plugins/outgoing-auth/aws-sts'],
  '@smithy/signature-v4': ['plugins/outgoing-auth/aws-sts'],
  '@huggingface/transformers': ['plugins/optimizer/embed-local'],
  'onnxruntime-node': ['plugins/optimizer/embed-local'],
  'prom-client': ['hosts/operator/machinery'],
};

function packageFaults({ path, imports }: Source): readonly string[] {
  if (!/^(core|plugins|hosts)\//.test(path)) return [];
  return [...new Set(imports.flatMap((wanted) => packageFault(path, wanted)))];
}

function packageFault(path: string, { from, typeOnly }: Import): readonly string[] {
  const name = packageOf(from);
  if (name === undefined) return [];
  if (name.startsWith('@modelcontextprotocol/') && path.startsWith('core/') && !typeOnly) {
    return [`${path} runs '${name}'; the core takes types only from it`];
  }
  const folders = PACKAGES[name] ?? PACKAGES[name.replace(/\/.*/, '/*')];
  if (folders === undefined || folders.some((folder) => isIn(path, folder))) return [];
  return [`'${name}' belongs in ${folders.join(', ')}, not in ${path}`];
}

function packageOf(specifier: string): string | undefined {
  if (/^(\.|node:)/.test(specifier) || OWN_PACKAGE.test(specifier)) return undefined;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

// ---- the environment of the process ----

/** Where `process.env` may be read besides the hosts: the default of a gateway, and what is not made by a plugin of a gateway only. */
const READS_ENVIRONMENT: ReadonlySet<string> = new Set([
  'core/gateway/assemble.ts',
  'plugins/kit/safe-http/remote-http.ts',
  'plugins/kit/secrets/secret-reference.ts',
]);

function environmentFaults({ path, tokens }: Source): readonly string[] {
  if (!/^(core|plugins)\//.test(path) || READS_ENVIRONMENT.has(path)) return [];
  const reads = tokens.some((_, at) => ['process', '.', 'env'].every((text, step) => tokens[at + step]?.text === text));
  return reads ? [`${path} reads process.env: a host gives the environment`] : [];
}

// ---- names and default exports ----

const FORBIDDEN_NAMES = new Set(
  'utils helpers common misc types base manager service handler impl interfaces'.split(' '),
);
/** The third host is named `manager`, and so are folders that mirror it and its configuration file. */
const NAMED_MANAGER =
  /^(hosts|test\/hosts|test\/support|test\/golden\/plan|test\/requirements|docs\/.*|examples\/[^/]+)\/manager(\/|\.|$)/;
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9-]+)*$/;

function nameFaults(path: string): readonly string[] {
  if (!/^(core|plugins|hosts|examples|test|scripts)\//.test(path) || NAMED_MANAGER.test(path)) return [];
  const parts = path.split('/');
  const forbidden = parts.map((part) => part.split('.')[0] ?? '').filter((word) => FORBIDDEN_NAMES.has(word));
  const odd = /\.tsx?$/.test(path) ? parts.filter((part) => !KEBAB.test(part)) : [];
  return [
    ...forbidden.map((word) => `${path} uses the name '${word}', which says nothing`),
    ...odd.map((part) => `${path} has the part '${part}', which is not kebab-case`),
  ];
}

function defaultExportFaults({ pluginFolders }: SourceTree, { path, tokens }: Source): readonly string[] {
  const isPluginIndex = path.endsWith('/index.ts') && pluginFolders.some((folder) => path.startsWith(`${folder}/`));
  if (isPluginIndex || !/^(core|plugins|hosts)\//.test(path)) return [];
  const exported = tokens.some(({ kind, text }, index) => {
    if (kind !== 'word' || text !== 'default') return false;
    const before = tokens[index - 1]?.text;
    return before === 'export' || (before === 'as' && isInsideExport(tokens, index));
  });
  return exported ? [`${path} has a default export; only a plugin's index.ts has one`] : [];
}

function isInsideExport(tokens: readonly Token[], index: number): boolean {
  const open = tokens.slice(0, index).findLastIndex(({ kind, text }) => kind === 'mark' && text === '{');
  return tokens[open - 1]?.text === 'export';
}

// ---- the catalogue ----

function catalogueFaults({ sources, pluginFolders }: SourceTree): readonly string[] {
  const catalogue = sources.get('plugins/index.ts');
  if (catalogue === undefined) return [];
  const entries = entriesOf(catalogue.tokens);
  const listed = new Set(entries.map(({ address }) => address));
  return [
    ...entries.flatMap(({ address, from, readers }) => {
      const folder = `plugins/${address}`;
      const index = sources.get(`${folder}/index.ts`);
      if (join('plugins', from) !== `${folder}/index.ts`) return [`'${address}' leads to ${join('plugins', from)}`];
      for (const [key, file] of Object.entries(READERS)) {
        const reader = readers[key] && join('plugins', readers[key]);
        if (reader !== undefined && reader !== `${folder}/${file}`) return [`'${address}' is read by ${reader}`];
        if (reader === undefined && sources.has(`${folder}/${file}`)) return [`'${address}' does not list its ${file}`];
      }
      if (index === undefined) return [`'${address}' is in the catalogue, but ${folder}/index.ts is not there`];
      const says = index.tokens.some(({ kind, text }) => kind === 'string' && text === address);
      return says ? [] : [`${folder}/index.ts does not give '${address}' as its address`];
    }),
    ...pluginFolders
      .map((folder) => folder.slice('plugins/'.length))
      .filter((address) => !listed.has(address))
      .map((address) => `plugins/${address} is not in the catalogue`),
  ];
}

interface Listed {
  readonly address: string;
  readonly from: string;
  /** By the keys of {@link READERS}. */
  readonly readers: Readonly<Record<string, string>>;
}

/** Files of a plugin that are loaded without it, by their keys in its entry: they read a vmcp file, and flags of a workload. */
const READERS: Readonly<Record<string, string>> = { contract: 'contract.ts', read: 'from-flags.ts' };

/** `address: () => import('…')`, or `address: { load: () => import('…'), contract: () => import('…') }`. */
function entriesOf(tokens: readonly Token[]): readonly Listed[] {
  const listed: Listed[] = [];
  for (const [index, { kind, text }] of tokens.entries()) {
    const from = kind === 'mark' ? undefined : importAt(tokens, index + 1);
    if (from === undefined) continue;
    const outer = tokens[index - 3];
    const last = listed.at(-1);
    if (text === 'load' && outer !== undefined) listed.push({ address: outer.text, from, readers: {} });
    else if (text in READERS && last !== undefined)
      listed[listed.length - 1] = { ...last, readers: { ...last.readers, [text]: from } };
    else listed.push({ address: text, from, readers: {} });
  }
  return listed;
}

/** What `: () => import('…')` imports at a place. */
function importAt(tokens: readonly Token[], start: number): string | undefined {
  const shape = [':', '(', ')', '=', '>', 'import', '('];
  const from = tokens[start + shape.length];
  const matches = shape.every((text, step) => tokens[start + step]?.text === text);
  return matches && from?.kind === 'string' ? from.text : undefined;
}

/**
 * A `contract.ts` is loaded with every file that is read, and `from-flags.ts` with every workload: they may use the core, zod and shared
 * helpers, and types of their plugin. What they import in a call is loaded later.
 */
function contractFaults(tree: SourceTree): readonly string[] {
  return [...tree.sources.values()].flatMap(({ path, imports }) => {
    if (!/^plugins\/.+\/(contract|from-flags)\.ts$/.test(path)) return [];
    return imports
      .filter(({ from, typeOnly, isCall }) => !typeOnly && !isCall && from !== '@toolmgr/core' && from !== 'zod')
      .filter(({ from }) => from !== './contract.ts' && !from.startsWith('node:'))
      .filter(({ from }) => !(targetOf(tree, path, from) ?? '').startsWith('plugins/kit/'))
      .map(({ from }) => `${path} loads '${from}' with every file that is read`);
  });
}
