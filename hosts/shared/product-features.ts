import { createRequire } from 'node:module';
import { missingFeatures } from '@toolmgr/core';

/** A feature and the packages that it misses. */
export type MissingFeature = ReturnType<typeof missingFeatures>[number];

/**
 * The features of this installation that miss optional packages, with the command that installs them. None in a single file with the
 * whole program, which packages cannot be added to.
 */
export function missingProductFeatures(): readonly MissingFeature[] {
  const { resolve } = createRequire(import.meta.url);
  try {
    return [resolve('@toolmgr/plugins/package.json'), resolve('toolmgr/package.json')].flatMap(missingFeatures);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return [];
    throw cause;
  }
}

/** What the client of the container engines misses, which containers need; `undefined` when it is there. */
export function missingEngineClient(): MissingFeature | undefined {
  return missingProductFeatures().find(({ missing }) => missing.some((name) => ENGINE_CLIENT.has(name)));
}

const ENGINE_CLIENT = new Set(['dockerode', 'tar-stream']);

/** A missing feature and the command that installs it, for the end of a message. */
export function explainMissing({ missing: [name = ''], command }: MissingFeature): string {
  return `the optional package ${name} is not installed; install it: ${command}`;
}
