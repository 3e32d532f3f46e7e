// What the commands of a host do with images of packages, without a gateway.
import { connectEngine, type Engine } from '../engine.ts';
import { namesEngine } from '../engine-sockets.ts';

export { type BuildWatch, type Built, buildImage, ensureBuilt } from './build-image.ts';
export { type BuildPlace, type BuildPlan, planBuild } from './plan-build.ts';
export { connectEngine, type Engine };

/** Whether an engine answers; otherwise why not, and whether a variable names one that should. */
export type EngineAnswer =
  | { readonly kind: 'found'; readonly engine: Engine }
  | { readonly kind: 'none'; readonly reason: string; readonly isNamed: boolean };

/** Looks for an engine. */
export async function findEngine(env: NodeJS.ProcessEnv = process.env): Promise<EngineAnswer> {
  try {
    return { kind: 'found', engine: await connectEngine(env) };
  } catch (cause) {
    return { kind: 'none', reason: cause instanceof Error ? cause.message : String(cause), isNamed: namesEngine(env) };
  }
}
