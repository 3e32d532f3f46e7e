import { buildOf, type RunConfig } from '@toolmgr/plugins/kit/workloads';
import { isSchemeTarget } from '@toolmgr/plugins/kit/workloads/schemes';
import { type BuildPlan, connectEngine, ensureBuilt, planBuild } from '@toolmgr/plugins/workloads/container';
import { UsageError } from '../../shared/usage-error.ts';

/** How a build is followed: the lines of the engine. */
export interface BuildWatch {
  readonly signal: AbortSignal;
  onLine(line: string): void;
}

/** The image of a package: `present` was there already, `kept` is of an earlier day because it could not be built again. */
export type PackageImage = { readonly plan: BuildPlan; readonly built: 'built' | 'present' | 'kept' };

/**
 * Builds the image of a workload's package; `undefined` for other workloads. `follow` wraps the build.
 * @throws UsageError when a setting of the build is wrong
 * @throws GatewayFault WORKLOAD_FAILED with the last lines of the build
 */
export async function buildPackageImage(
  config: RunConfig,
  cwd: string,
  follow: <T>(plan: BuildPlan, act: (watch: BuildWatch) => Promise<T>) => Promise<T>,
): Promise<PackageImage | undefined> {
  if (config.image === undefined || !isSchemeTarget(config.image)) return undefined;
  const plan = await planBuild(config.image, buildOf(config), { cwd, env: process.env });
  if ('reason' in plan) throw new UsageError(plan.reason);
  const engine = await connectEngine(process.env);
  const built = await follow(plan, (watch) => ensureBuilt(engine, plan, watch, { renew: true }));
  return { plan, built };
}

/** A line of the engine as a step for the user; `undefined` when it is detail. */
export function buildStep(line: string): string | undefined {
  const step = /^(?:\[\d+\/\d+\] )?step (\d+\/\d+) ?: (.*)/i.exec(line);
  return step === null ? undefined : `step ${step[1]}: ${step[2]}`;
}
