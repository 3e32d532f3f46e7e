import { existsSync } from 'node:fs';
import { RECIPES, type Recipe, type RigName } from '../../scripts/rigs/recipes.ts';
import { rigFolder } from '../../scripts/rigs/rig-folder.ts';
import { isInstalled } from '../../scripts/rigs/run-tool.ts';

export type { RigName } from '../../scripts/rigs/recipes.ts';

/** Where a built rig is, or why tests that need it are skipped. */
export type RigFound = { readonly folder: string } | { readonly missing: string };

/**
 * Finds a foreign server that `npm run rigs` built.
 *
 * @throws Error under `CI` when it could be here and is not: a test that is silently left out proves nothing. Cargo is
 *   the one tool that a machine may lack there as well.
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
