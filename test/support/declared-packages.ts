import { importsOf, type Token, tokensOf } from './source-text.ts';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** Sources that are bundled: what they import is needed when the package is made, not when it is used. */
const BUNDLED = /^hosts\/manager\/page\/(?:main\.tsx$|(?:app|views|widgets)\/)/;

const WORKSPACES = ['core', 'plugins', 'hosts'] as const;

/**
 * Checks the package lists of the workspaces: what a workspace imports is in its list, what is in a list is used, the
 * optional packages of the plugins are dependencies of the product in the same version.
 *
 * Shape: `files` maps a path from the root to its text; the answer is one sentence per break.
 */
export function declaredPackageFaults(files: ReadonlyMap<string, string>): readonly string[] {
  const manifests = Object.fromEntries(
    WORKSPACES.map((name) => [name, JSON.parse(files.get(`${name}/package.json`) ?? '{}') as Manifest]),
  ) as Record<(typeof WORKSPACES)[number], Manifest>;
  const optional = manifests.plugins.peerDependencies ?? {};
  return [
    ...WORKSPACES.flatMap((workspace) => {
      const tokens = tokensIn(files, workspace);
      const forPlugins = workspace === 'hosts' ? Object.keys(optional) : [];
      const { devDependencies, ...manifest } = manifests[workspace];
      return [
        ...listFaults(workspace, manifest, tokens, new Set(forPlugins)),
        ...listFaults(
          `${workspace} (bundled)`,
          { dependencies: devDependencies },
          bundledTokens(files, workspace),
          new Set(),
        ),
      ];
    }),
    ...Object.keys(optional)
      .filter((name) => manifests.plugins.peerDependenciesMeta?.[name]?.optional !== true)
      .map((name) => `plugins/package.json: the peer '${name}' is not optional`),
    ...Object.entries(optional)
      .filter(([name, range]) => (manifests.hosts.dependencies?.[name] ?? range) !== range)
      .map(([name]) => `hosts/package.json: '${name}' has another version than the plugins ask for`),
  ];
}

function tokensIn(files: ReadonlyMap<string, string>, workspace: string): readonly Token[] {
  return tokensOfPaths(
    files,
    (path) => path.startsWith(`${workspace}/`) && path.endsWith('.ts') && !BUNDLED.test(path),
  );
}

function bundledTokens(files: ReadonlyMap<string, string>, workspace: string): readonly Token[] {
  return tokensOfPaths(files, (path) => path.startsWith(`${workspace}/`) && BUNDLED.test(path));
}

function tokensOfPaths(files: ReadonlyMap<string, string>, isWanted: (path: string) => boolean): readonly Token[] {
  return [...files].filter(([path]) => isWanted(path)).flatMap(([, text]) => tokensOf(text));
}

function listFaults(
  workspace: string,
  { dependencies = {}, peerDependencies = {} }: Manifest,
  tokens: readonly Token[],
  forPlugins: ReadonlySet<string>,
): readonly string[] {
  const listed = new Set([...Object.keys(dependencies), ...Object.keys(peerDependencies)]);
  const imported = new Set(
    importsOf(tokens)
      .map(({ from }) => from)
      .filter((from) => !/^(\.|node:)/.test(from))
      .map(packageOf),
  );
  // a package that is looked for when it is needed is named in a constant
  const named = new Set(tokens.filter(({ kind }) => kind === 'string').map(({ text }) => packageOf(text)));
  return [
    ...[...imported]
      .filter((name) => !listed.has(name) && !name.startsWith(`@toolmgr/${workspace}`))
      .map((name) => `${workspace} imports '${name}', which is not in its package.json`),
    ...[...listed]
      .filter((name) => !named.has(name) && !forPlugins.has(name))
      .map((name) => `${workspace}/package.json lists '${name}', which nothing there imports`),
  ];
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
