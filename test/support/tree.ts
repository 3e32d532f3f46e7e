import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const LEFT_OUT = new Set(['node_modules', 'dist', 'coverage', '.git', '.scratch']);
const TEXT_BYTES = 4 * 1024 * 1024; // larger files are generated

/**
 * Reads every text file of the repository, without build output and installed packages.
 *
 * Shape: path from the root with forward slashes -> content, sorted by path.
 */
export function readTree(root = ROOT): ReadonlyMap<string, string> {
  const paths = readdirSync(root, { withFileTypes: true })
    .flatMap((entry) => filesUnder(root, entry.name, entry.isDirectory(), entry.isFile()))
    .sort();
  return new Map(paths.flatMap((path) => textOf(root, path)));
}

function filesUnder(root: string, path: string, isFolder: boolean, isFile: boolean): readonly string[] {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (LEFT_OUT.has(name) || name.endsWith('.tsbuildinfo')) return [];
  if (!isFolder) return isFile ? [path] : [];
  return readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) =>
    filesUnder(root, `${path}/${entry.name}`, entry.isDirectory(), entry.isFile()),
  );
}

function textOf(root: string, path: string): readonly (readonly [string, string])[] {
  const bytes = readFileSync(join(root, path));
  return bytes.length > TEXT_BYTES || bytes.includes(0) ? [] : [[path, bytes.toString('utf8')]];
}
