import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { code, page, sentence, table } from './markdown.ts';
import { ROOT } from './sources.ts';

/** What the packages of a feature add on disk to an installed `toolmgr`, in MB on Linux x64, measured 2026-11-23. */
const MEGABYTES: Readonly<Record<string, number>> = {
  'AWS credentials (aws_sts)': 17,
  'Cedar policies': 13,
  'embeddings by a local model (optimizer/embed-local)': 470,
  'servers in containers, and skills': 28,
  'sign-in at the gateway (authServerConfig)': 4,
  'signatures of images and skills': 10,
  'skills from git repositories': 9,
  'state in Redis': 2,
  'the keyring of the operating system': 4,
  'the operator of Kubernetes': 5,
  'traces and metrics (telemetry)': 39,
};

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly feature: string }>>;
}

/** docs/reference/packages.md: the optional peers of the packages. */
export function packagesPage(): string {
  const [plugins, toolmgr] = ['plugins', 'hosts'].map(manifestOf) as [Manifest, Manifest];
  const included = new Set(Object.keys(toolmgr.dependencies ?? {}));
  const optional = Object.entries({ ...plugins.peerDependenciesMeta, ...toolmgr.peerDependenciesMeta });
  const features = Map.groupBy(optional, ([, { feature }]) => feature);
  const rows = [...features].sort(([a], [b]) => a.localeCompare(b, 'en'));
  const namesOf = (peers: typeof optional): string => peers.map(([name]) => code(name)).join(' ');
  const isIncluded = ([, peers]: (typeof rows)[number]): boolean => peers.every(([name]) => included.has(name));
  return page('Optional packages', '`plugins/package.json` and `hosts/package.json`', [
    'The packages take 43 MB of files (`du -sb`), and 57 MB on a disk with blocks of 4 KiB (`du -sm`). These features need packages that it does not contain. Without them everything else works. When one is missing, the error names the feature and one command that installs its packages where toolmgr is: for npm, npx, pnpm, Yarn or Bun, global or in a project. `toolmgr serve` and `toolmgr doctor --all` print the same commands. A clone and the container image contain all of them except the local model.',
    table(
      ['feature', 'packages', 'adds'],
      rows
        .filter((row) => !isIncluded(row))
        .map(([feature, peers]) => [sentence(feature).slice(0, -1), namesOf(peers), `${megabytes(feature)} MB`]),
    ),
    'Features that need several packages share parts, so two of them add less than the sum.',
    '## For programs that embed `@toolmgr/plugins`',
    'These packages are also optional peers of `@toolmgr/plugins`. `toolmgr` contains them.',
    table(
      ['feature', 'packages'],
      rows.filter(isIncluded).map(([feature, peers]) => [sentence(feature).slice(0, -1), namesOf(peers)]),
    ),
  ]);
}

function megabytes(feature: string): number {
  const size = MEGABYTES[feature];
  if (size === undefined) throw new Error(`scripts/docs/packages-page.ts has no size for "${feature}"`);
  return size;
}

function manifestOf(workspace: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, workspace, 'package.json'), 'utf8')) as Manifest;
}
