// `npm run rigs [-- NAME…]`: builds the foreign servers that tests stand the gateway before, and keeps them in the cache
// of the user. What is built already is left as it is.
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { RECIPES, type Recipe, RIG_NAMES, type RigName } from './rigs/recipes.ts';
import { rigCache, rigFolder, rigSource } from './rigs/rig-folder.ts';
import { isInstalled } from './rigs/run-tool.ts';

const unknown = process.argv.slice(2).filter((name) => !isRig(name));
if (unknown.length > 0) {
  console.error(`unknown rig ${unknown.join(', ')}, expected ${RIG_NAMES.join(', ')}`);
  process.exit(2);
}
const asked = process.argv.slice(2).filter(isRig);
let failed = 0;
for (const name of asked.length > 0 ? asked : RIG_NAMES) {
  const began = Date.now();
  try {
    console.log(`${name}: ${await ensureRig(name)} (${((Date.now() - began) / 1000).toFixed(1)} s)`);
  } catch (cause) {
    failed += 1;
    console.error(`${name}: FAILED: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}
process.exitCode = failed === 0 ? 0 : 1;

function isRig(name: string): name is RigName {
  return Object.hasOwn(RECIPES, name);
}

/** Builds a rig unless it is there; says which of both, or what the machine lacks. */
async function ensureRig(name: RigName): Promise<string> {
  const folder = rigFolder(name);
  if (existsSync(folder)) return `is there, ${folder}`;
  const { needs, build }: Recipe = RECIPES[name];
  const missing = needs.find((program) => !isInstalled(program));
  if (missing === 'cargo') return 'left out, there is no cargo on this machine';
  if (missing !== undefined) throw new Error(`there is no ${missing} on this machine`);
  mkdirSync(rigCache(), { recursive: true });
  const unfinished = join(rigCache(), `.unfinished-${process.pid}-${basename(folder)}`);
  mkdirSync(unfinished);
  try {
    await build(rigSource(name), unfinished);
    // a half built rig never gets the name that tests look for; another run may have been faster
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return `built, ${folder}`;
}
