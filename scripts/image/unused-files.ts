import { readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Files of packages that nothing loads. Licenses stay. */
const UNUSED_FILES =
  /\.(?:d\.[cm]?ts|[cm]?ts|map|md|markdown|tsbuildinfo|flow|c|cc|cpp|h|hpp|inl|gypi?|cmake)$|^(?:\.|tsconfig|yarn\.lock|Makefile)/;
const UNUSED_FOLDERS = new Set([
  ...['test', 'tests', '__tests__', 'example', 'examples', 'benchmark', 'benchmarks', 'bench'],
  ...['.github', 'prebuilds'],
]);

/** Removes the files of a tree of packages that nothing loads at run time. */
export function removeUnusedFiles(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const isOfPackage = path.includes('/node_modules/') && !isPackage(path);
    const isUnused = entry.isDirectory()
      ? entry.name === '.bin' || (isOfPackage && UNUSED_FOLDERS.has(entry.name))
      : entry.isFile() && UNUSED_FILES.test(entry.name);
    if (isUnused) rmSync(path, { recursive: true });
    else if (entry.isDirectory()) removeUnusedFiles(path);
  }
}

/** Whether the folder is a package itself: one may be named `test`. */
function isPackage(path: string): boolean {
  const parent = dirname(path);
  return basename(parent) === 'node_modules' || (basename(parent).startsWith('@') && isPackage(parent));
}
