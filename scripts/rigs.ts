// `npm run rigs [-- NAME…]`: builds the third-party servers that tests connect the gateway to, and keeps them in the user's
// cache. Existing builds are kept.
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

/** Builds a rig unless it exists; returns the outcome as text. */
async function ensureRig(name: RigName): Promise<string> {
  const folder = rigFolder(name);
  if (existsSync(folder)) return `exists, ${folder}`;
  const { needs, build }: Recipe = RECIPES[name];
  const missing = needs.find((program) => !isInstalled(program));
  const isOptional = missing === 'cargo' || (process.env.CI === undefined && (missing === 'java' || missing === 'mvn'));
  if (isOptional) return `skipped, this machine has no ${missing}`;
  if (missing !== undefined) throw new Error(`this machine has no ${missing}`);
  mkdirSync(rigCache(), { recursive: true });
  const unfinished = join(rigCache(), `.unfinished-${process.pid}-${basename(folder)}`);
  mkdirSync(unfinished);
  try {
    await build(rigSource(name), unfinished);
    // an incomplete build never has the name that tests use; another process may have built it first
    if (!existsSync(folder)) renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
  return `built, ${folder}`;
}
