import { existsSync } from 'node:fs';
import { RECIPES, type Recipe, type RigName } from '../../scripts/rigs/recipes.ts';
import { rigFolder } from '../../scripts/rigs/rig-folder.ts';
import { isInstalled } from '../../scripts/rigs/run-tool.ts';

export type { RigName } from '../../scripts/rigs/recipes.ts';

/** Folder of a built rig, or the reason to skip its tests. */
export type RigFound = { readonly folder: string } | { readonly missing: string };

/**
 * Finds a third-party server that `npm run rigs` built.
 *
 * @throws Error under `CI` when it is missing, so that no test is skipped silently there. Only rigs that need cargo may be
 *   missing under `CI` too.
 */
export function rig(name: RigName): RigFound {
  const folder = rigFolder(name);
  if (existsSync(folder)) return { folder };
  const { needs }: Recipe = RECIPES[name];
  if (needs.includes('cargo') && !isInstalled('cargo')) return { missing: `no ${name} rig, it takes cargo` };
  const missing = `no ${name} rig, npm run rigs ${name}`;
  if (process.env.CI !== undefined) throw new Error(missing);
  return { missing };
}
