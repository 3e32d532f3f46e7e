// `npm run change` and `npm run versions`: changesets from the tools of a release, without an entry in the root's package.json.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isMain } from '../../hosts/shared/is-main.ts';
import { missingRigs } from '../rigs/missing-rigs.ts';
import { rigFolder } from '../rigs/rig-folder.ts';
import { productVersion } from './versions.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Names of the changesets that are not in a version yet. */
export function waitingChangesets(root = ROOT): readonly string[] {
  return readdirSync(join(root, '.changeset')).filter((name) => name.endsWith('.md') && name !== 'README.md');
}

if (isMain(import.meta)) process.exitCode = run(process.argv.slice(2));

function run([command = 'add', ...args]: readonly string[]): number {
  const folder = rigFolder('release');
  const missing = missingRigs('release');
  if (missing !== undefined) {
    console.error(missing);
    return 1;
  }
  const program = join(folder, 'node_modules', '@changesets', 'cli', 'bin.js');
  const { status } = spawnSync(process.execPath, [program, command, ...args], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0 || command !== 'version') return status ?? 1;
  // the lock file has the versions of the workspaces too
  const lock = ['install', '--package-lock-only', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const locked = spawnSync('npm', lock, { cwd: ROOT, stdio: 'inherit' });
  if (locked.status === 0)
    console.log(`version ${productVersion()}: review the changelogs, commit, then npm run release`);
  return locked.status ?? 1;
}
