import { cpSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const NOT_COPIED = new Set(['node_modules', '.git', 'dist', '.scratch', 'coverage']);

/** Copies the project into a new folder, whose packages are links to the installed ones. The caller removes it. */
export function copyOfProject(): string {
  const copy = mkdtempSync(join(tmpdir(), 'toolmgr-mutation-'));
  const options = { recursive: true, filter: (path: string) => !NOT_COPIED.has(basename(path)) };
  for (const name of readdirSync(ROOT)) if (!NOT_COPIED.has(name)) cpSync(join(ROOT, name), join(copy, name), options);
  linkPackages(copy, '.');
  for (const workspace of ['core', 'plugins', 'hosts']) linkPackages(copy, workspace);
  return copy;
}

/** Links each installed package, and the workspaces to those of the copy. */
function linkPackages(copy: string, folder: string): void {
  const from = join(ROOT, folder, 'node_modules');
  const to = join(copy, folder, 'node_modules');
  if (!readdirSync(join(ROOT, folder)).includes('node_modules')) return;
  mkdirSync(to);
  for (const name of readdirSync(from)) if (name !== '@toolmgr') symlinkSync(join(from, name), join(to, name));
  if (folder !== '.') return;
  mkdirSync(join(to, '@toolmgr'));
  for (const workspace of ['core', 'plugins']) symlinkSync(join(copy, workspace), join(to, '@toolmgr', workspace));
}
