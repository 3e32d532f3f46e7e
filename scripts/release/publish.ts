import type { Tarball } from '../pack/pack-workspaces.ts';
import { runTool } from '../rigs/run-tool.ts';

/** Where packages are published. */
export interface Registry {
  readonly url: string;
  /** An npmrc with the credential; without one npm's own files and variables are used. */
  readonly userConfig?: string;
}

/**
 * Publishes the tarballs, each after those that it needs, and reads each back. Versions that the registry has already are
 * left as they are, so an interrupted release can be repeated.
 * @returns the names of those that were published now
 */
export async function publishPackages(
  tarballs: readonly Tarball[],
  { url, userConfig }: Registry,
  { provenance }: { readonly provenance: boolean },
): Promise<readonly string[]> {
  const where = [
    '--registry',
    url,
    '--loglevel=error',
    ...(userConfig === undefined ? [] : ['--userconfig', userConfig]),
  ];
  const published = ({ name, version }: Tarball): Promise<boolean> =>
    runTool('npm', ['view', `${name}@${version}`, 'version', '--json', '--prefer-online', ...where]).then(
      (text) => text.includes(version),
      () => false,
    );
  const done: string[] = [];
  for (const tarball of tarballs) {
    if (await published(tarball)) continue;
    const flags = ['--access', 'public', '--ignore-scripts', `--provenance=${provenance}`];
    await runTool('npm', ['publish', tarball.file, ...flags, ...where]);
    if (!(await published(tarball))) throw new Error(`${url} does not show ${tarball.name}@${tarball.version}`);
    done.push(tarball.name);
  }
  return done;
}

/** Whether npm can make provenance here: it takes the identity of a CI that gives OIDC tokens. */
export function canProve(env: Readonly<Record<string, string | undefined>>): boolean {
  return Boolean(env.ACTIONS_ID_TOKEN_REQUEST_URL || env.SIGSTORE_ID_TOKEN);
}
