import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Root folder of the repository. */
export const ROOT = join(import.meta.dirname, '../..');

/** TypeScript sources in some folders: text by path from the root, sorted by path. */
export function sourceTexts(folders: readonly string[]): ReadonlyMap<string, string> {
  const paths = folders.flatMap((folder) => filesUnder(folder)).sort();
  return new Map(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]));
}

function filesUnder(folder: string): readonly string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist') return [];
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesUnder(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}
