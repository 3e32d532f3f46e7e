import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const WORKSPACES = ['core', 'plugins', 'hosts'] as const;

/**
 * Builds an earlier revision in a temporary folder, with the packages that are installed here.
 *
 * Returns its folder; `undefined` when the repository does not have the revision (a shallow clone, an archive).
 * @throws Error when it cannot be built
 */
export function buildRevision(revision: string): ({ readonly folder: string } & Disposable) | undefined {
  if (spawnSync('git', ['cat-file', '-e', `${revision}^{commit}`], { cwd: ROOT }).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'toolmgr-revision-'));
  const build = { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  try {
    run('git', ['archive', '--output', join(folder, 'files.tar'), revision], ROOT);
    run('tar', ['-xf', 'files.tar'], folder);
    linkPackages(folder);
    // Without checks of types: the revision may have used declarations that are no longer installed.
    run(process.execPath, [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', '--noCheck'], folder);
  } catch (cause) {
    build[Symbol.dispose]();
    throw cause;
  }
  return build;
}

/** Links every installed package; those of the workspaces are the revision's own. */
function linkPackages(folder: string): void {
  for (const part of ['.', ...WORKSPACES]) {
    const installed = join(ROOT, part, 'node_modules');
    const linked = join(folder, part, 'node_modules');
    mkdirSync(linked);
    for (const name of namesIn(installed))
      if (name !== '@toolmgr') symlinkSync(join(installed, name), join(linked, name));
  }
  const own = join(folder, 'node_modules', '@toolmgr');
  mkdirSync(own);
  for (const name of ['core', 'plugins']) symlinkSync(join(folder, name), join(own, name));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // not every workspace has packages of its own
  }
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, error, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args[0]} failed in ${cwd}: ${error?.message ?? stdout + stderr}`);
}
