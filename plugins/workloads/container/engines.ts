// What a host does with container engines and with images of packages, without a gateway. The client of the engines is loaded when it is used:
// a process that only waits for an engine stays small.
import type { BuildWatch } from './build/build-image.ts';
import type { BuildPlan } from './build/plan-build.ts';
import type { Engine, EngineCheck } from './engine.ts';
import { namesEngine } from './engine-sockets.ts';
import { MANAGED } from './labels.ts';

export { engineAnswers, engineState, namesEngine, pingEngines } from './ping-engines.ts';
export type { BuildPlan, BuildWatch, Engine, EngineCheck };

type Building = typeof import('./build/build-image.ts');

/** See `connectEngine` of engine.ts. */
export const connectEngine: typeof import('./engine.ts').connectEngine = async (env) =>
  (await import('./engine.ts')).connectEngine(env);

/** See `planBuild` of plan-build.ts. */
export const planBuild: typeof import('./build/plan-build.ts').planBuild = async (...given) =>
  (await import('./build/plan-build.ts')).planBuild(...given);

/** See `buildImage` of build-image.ts. */
export const buildImage: Building['buildImage'] = async (...given) =>
  (await import('./build/build-image.ts')).buildImage(...given);

/** See `ensureBuilt` of build-image.ts. */
export const ensureBuilt: Building['ensureBuilt'] = async (...given) =>
  (await import('./build/build-image.ts')).ensureBuilt(...given);

/** Whether an engine answers; otherwise why not, and whether a variable names one that should. */
export type EngineAnswer =
  | { readonly kind: 'found'; readonly engine: Engine }
  | { readonly kind: 'none'; readonly reason: string; readonly isNamed: boolean };

/** Looks for an engine. */
export async function findEngine(env: NodeJS.ProcessEnv): Promise<EngineAnswer> {
  try {
    return { kind: 'found', engine: await connectEngine(env) };
  } catch (cause) {
    return { kind: 'none', reason: cause instanceof Error ? cause.message : String(cause), isNamed: namesEngine(env) };
  }
}

/**
 * Removes the containers of a workload of this installation: those of the start `runId`, or of every start. Resolves with their number. With
 * `leavesLasting` those that outlive a gateway stay, because the next one may use them.
 * @throws GatewayFault WORKLOAD_FAILED when no engine answers
 */
export async function removeContainersOf(
  workload: string,
  runId: string | undefined,
  { env, leavesLasting = false }: { readonly env: NodeJS.ProcessEnv; readonly leavesLasting?: boolean },
): Promise<number> {
  const { removeContainers } = await import('./containers.ts');
  return removeContainers(await connectEngine(env), workload, {
    ...(runId === undefined ? {} : { only: runId }),
    spare: () => leavesLasting,
  });
}

/** Every engine socket of this machine, and whether an engine answers. */
export async function checkEngines(env: NodeJS.ProcessEnv): Promise<readonly EngineCheck[]> {
  return (await import('./engine.ts')).tryEngines(env);
}

/**
 * Makes sure that the engine has an image, as a start of a workload would.
 * @throws GatewayFault WORKLOAD_FAILED when no engine answers, or the image is neither there nor pullable
 */
export async function pullImage(
  reference: string,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
  onProgress: (line: string) => void,
): Promise<void> {
  const { ensureImage } = await import('./image.ts');
  await ensureImage(await connectEngine(env), reference, signal, onProgress);
}

/** A container of a workload, as the engine tells. */
export interface ContainerFacts {
  readonly id: string;
  readonly name: string;
  readonly image: string;
  /** `created`, `running`, `exited` and others. */
  readonly state: string;
  readonly status: string;
  readonly role: string;
}

/**
 * The containers of a workload of this installation, of every start.
 * @throws GatewayFault WORKLOAD_FAILED when no engine answers
 */
export async function listContainersOf(workload: string, env: NodeJS.ProcessEnv): Promise<readonly ContainerFacts[]> {
  const { containersOf } = await import('./owned.ts');
  const { own } = await containersOf(await connectEngine(env), workload);
  return own.map(({ Id, Names, Image, State, Status, Labels }) => ({
    id: Id,
    name: (Names[0] ?? '').replace(/^\//, ''),
    image: Image,
    state: State,
    status: Status,
    role: Labels[`${MANAGED}.role`] ?? '',
  }));
}
