// What the commands of a host do with container engines and with images of packages, without a gateway.
import { removeContainers } from './containers.ts';
import { connectEngine, type Engine, type EngineCheck, tryEngines } from './engine.ts';
import { namesEngine } from './engine-sockets.ts';
import { ensureImage } from './image.ts';
import { MANAGED } from './labels.ts';
import { containersOf } from './owned.ts';

export { type BuildWatch, buildImage, ensureBuilt } from './build/build-image.ts';
export { type BuildPlan, planBuild } from './build/plan-build.ts';
export { connectEngine, type Engine, type EngineCheck };

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

/**
 * Removes the containers of a workload of this installation: those of the start `runId`, or of every start. Resolves with their number. With
 * `leavesLasting` those that outlive a gateway stay, because the next one may use them.
 * @throws GatewayFault WORKLOAD_FAILED when no engine answers
 */
export async function removeContainersOf(
  workload: string,
  runId: string | undefined,
  { leavesLasting = false }: { readonly leavesLasting?: boolean } = {},
): Promise<number> {
  return removeContainers(await connectEngine(), workload, {
    ...(runId === undefined ? {} : { only: runId }),
    spare: () => leavesLasting,
  });
}

/** Every engine socket of this machine, and whether an engine answers. */
export function checkEngines(env: NodeJS.ProcessEnv = process.env): Promise<readonly EngineCheck[]> {
  return tryEngines(env);
}

/**
 * Makes sure that the engine has an image, as a start of a workload would.
 * @throws GatewayFault WORKLOAD_FAILED when no engine answers, or the image is neither there nor pullable
 */
export async function pullImage(
  reference: string,
  signal: AbortSignal,
  onProgress: (line: string) => void,
): Promise<void> {
  await ensureImage(await connectEngine(), reference, signal, onProgress);
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
export async function listContainersOf(workload: string): Promise<readonly ContainerFacts[]> {
  const { own } = await containersOf(await connectEngine(), workload);
  return own.map(({ Id, Names, Image, State, Status, Labels }) => ({
    id: Id,
    name: (Names[0] ?? '').replace(/^\//, ''),
    image: Image,
    state: State,
    status: Status,
    role: Labels[`${MANAGED}.role`] ?? '',
  }));
}
