import { GatewayFault } from '@toolmgr/core';
import { type RunConfig, readWorkload, readWorkloadSecrets, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import type { EnvVar } from '@toolmgr/plugins/registry';
import { UsageError } from '../../shared/usage-error.ts';
import { secretTargetOf } from '../../workloads/config/collect-secrets.ts';
import { readTarget } from '../../workloads/config/target.ts';
import { checkImage } from '../../workloads/planning/check-image.ts';
import { checkPlan } from '../../workloads/planning/check-plan.ts';
import { fetchImage } from '../../workloads/planning/fetch-image.ts';
import { replaceWorkload } from '../../workloads/planning/replace.ts';
import type { Work } from '../../workloads/planning/work.ts';
import { planFromRun } from '../../workloads/proxy/plan.ts';
import { readUserSecrets } from '../../workloads/secrets/start-secrets.ts';
import { type Candidate, type Checked, checkUpgrade, type UpgradeRegistry } from './check-upgrade.ts';
import { withVersion } from './compare-images.ts';
import { variablesSet } from './drift.ts';
import { toolDrift, toolsOf } from './tool-drift.ts';
import type { UpgradeCheck } from './upgrade-result.ts';

/** What an upgrade may add to the configuration. */
export interface UpgradeOptions {
  /** The version to run, newer or older, instead of the one that the registry offers. */
  readonly version?: string | undefined;
  /** Plain variables. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** References `NAME,target=VARIABLE`. */
  readonly secrets?: readonly string[] | undefined;
}

/** How an upgrade ended. */
export type Applied =
  | { readonly kind: 'gone' }
  /** There was nothing to do: the check says why. */
  | { readonly kind: 'unchanged'; readonly result: UpgradeCheck }
  | { readonly kind: 'applied'; readonly result: UpgradeCheck; readonly warnings: readonly string[] }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** It was changed and did not become ready. The reason says whether the old one runs again. */
  | { readonly kind: 'failed'; readonly reason: string };

/**
 * Upgrades a workload to the image of its registry entry, to the newest release of its package, or to the version of `options`: checks
 * again, verifies the image, pulls it, and only then recreates the workload. Its configuration is kept. When the new one does not become
 * ready, the old one is restored.
 *
 * `signal` ends the work until the workload is touched; later it has no effect. Source: HTTP API spec §4 "Workload upgrades".
 */
export async function applyUpgrade(
  state: string,
  name: string,
  registry: UpgradeRegistry,
  options: UpgradeOptions,
  { signal, report }: Work,
): Promise<Applied> {
  const record = await readWorkload(state, name);
  if (record === undefined) return { kind: 'gone' };
  const checked = await checkUpgrade(record, registry, signal);
  const { result } = checked;
  const candidate = options.version === undefined ? checked.candidate : atVersion(record, checked, options.version);
  if (typeof candidate === 'string') return { kind: 'refused', reason: candidate };
  if (candidate === undefined) return { kind: 'unchanged', result };
  const prepared = await prepare(state, candidate, options, { signal, report }).catch((cause: unknown) => {
    if (cause instanceof UsageError || cause instanceof GatewayFault) return { refused: cause.message };
    throw cause;
  });
  if ('refused' in prepared) return { kind: 'refused', reason: prepared.refused };
  const toolsBefore = await toolsOf(record);
  if (signal.aborted) return { kind: 'refused', reason: 'it was cancelled before anything was changed' };
  const refused = await recreate(state, prepared.config, candidate.config, report);
  if (refused !== undefined) return refused;
  const { image } = candidate;
  const reason = `it was upgraded from ${result.current_image} to ${image}`;
  const { config_drift: _, env_var_drift: __, ...about } = result;
  const tools = toolsBefore && toolDrift(toolsBefore, await toolsOf(await readWorkload(state, name)));
  return {
    kind: 'applied',
    result: {
      ...about,
      ...{ status: 'up-to-date', current_image: image, candidate_image: image, reason },
      ...(tools === undefined ? {} : { tools_drift: tools }),
    },
    warnings: prepared.warnings,
  };
}

/** The workload in another version, with the checks of its registry entry; a sentence when that is impossible. */
function atVersion({ config }: WorkloadRecord, { entry, ...checked }: Checked, version: string): Candidate | string {
  const current = config?.image ?? config?.process?.target;
  if (config === undefined || current === undefined) return 'only an image or a package has versions';
  const image = withVersion(current, version);
  if (image === undefined) return `${current} has no version ${version}: expected one exact version, such as 1.2.3`;
  if (image === current) return `it runs ${current} already`;
  return { config, image, entry, allowsPrivateAddresses: checked.allowsPrivateAddresses ?? false };
}

/** Recreates the workload; `undefined` after a success. Nothing ends it: half of it would leave the user without a workload. */
async function recreate(
  state: string,
  config: RunConfig,
  expected: RunConfig,
  report: (step: string) => void,
): Promise<Extract<Applied, { kind: 'gone' | 'refused' | 'failed' }> | undefined> {
  const work = { signal: new AbortController().signal, report, supervised: true };
  const replaced = await replaceWorkload(state, { config, secrets: {} }, work, { expected });
  if (replaced.kind === 'gone') return { kind: 'gone' };
  if (replaced.kind === 'changed')
    return { kind: 'refused', reason: 'its configuration was changed meanwhile: check again' };
  if (replaced.kind !== 'failed') return undefined;
  const { reason, restored, runsAgain } = replaced;
  if (!restored && runsAgain) return { kind: 'refused', reason };
  const old = !restored
    ? 'the old one is stopped and was not changed'
    : runsAgain
      ? 'the old one is restored and runs again'
      : 'the old one is restored and does not run';
  return { kind: 'failed', reason: `the new one did not become ready: ${reason}; ${old}` };
}

/** Everything that can fail before the workload is touched. @throws UsageError or GatewayFault with the reason */
async function prepare(
  state: string,
  { config: old, image, entry, allowsPrivateAddresses }: Candidate,
  options: UpgradeOptions,
  work: Work,
): Promise<{ readonly config: RunConfig; readonly warnings: readonly string[] }> {
  const declared = entry?.image.env_vars ?? [];
  const { image_digest: _, ...merged } = mergeOptions(old, declared, options);
  const wanted = await withImage(merged, image);
  refuseMissing(entry?.name ?? old.name, wanted, declared);
  await readUserSecrets(wanted, await readWorkloadSecrets(state, old.name)); // a missing one is refused
  if (entry !== undefined) work.report(`verifies ${image}`);
  const mode = entry?.image.provenance === undefined ? 'warn' : 'enabled';
  const from = { allowsPrivateAddresses, ...(entry === undefined ? {} : { entry }) };
  const { digest, warning } = await checkImage(wanted, from, mode).catch((cause: unknown) => {
    if (cause instanceof UsageError) throw new UsageError(cause.message.replace(/^--image-verification enabled: /, ''));
    throw cause;
  });
  const config: RunConfig = { ...wanted, ...(digest === undefined ? {} : { image_digest: digest }) };
  await checkPlan(await planFromRun(config, { runId: '' }));
  await fetchImage(config, work);
  return { config, warnings: warning === undefined ? [] : [warning] };
}

/** The configuration with another image, or with the command of another package. @throws UsageError when no program runs it */
async function withImage(config: RunConfig, image: string): Promise<RunConfig> {
  const { process: program } = config;
  if (program === undefined) return { ...config, image };
  const read = await readTarget(image, [], program.cwd, 'process');
  if (read.kind !== 'command') throw new UsageError(read.kind === 'refused' ? read.reason : `${image} is no package`);
  const { file, args } = read.command;
  return { ...config, process: { ...program, target: image, file, args: [...args] } };
}

/** The configuration with the options; a new reference replaces one for the same variable. @throws UsageError */
function mergeOptions(
  config: RunConfig,
  declared: readonly EnvVar[],
  { env = {}, secrets = [] }: UpgradeOptions,
): RunConfig {
  const targets = new Set(secrets.map(secretTargetOf));
  const ofSecrets = new Set(declared.filter(({ secret }) => secret).map(({ name }) => name));
  for (const name of Object.keys(env)) {
    if (targets.has(name)) throw new UsageError(`${name} is in env and in secrets: give it once`);
    if (ofSecrets.has(name)) throw new UsageError(`${name} is a secret: name it in secrets, as NAME,target=${name}`);
  }
  const kept = (config.secrets ?? []).filter((reference) => {
    const target = secretTargetOf(reference);
    return !targets.has(target) && !Object.hasOwn(env, target);
  });
  const all = [...kept, ...secrets];
  return {
    ...config,
    env_vars: { ...Object.fromEntries(Object.entries(config.env_vars).filter(([name]) => !targets.has(name))), ...env },
    ...(all.length === 0 ? {} : { secrets: all }),
  };
}

/** @throws UsageError naming the required variables without a value */
function refuseMissing(name: string, config: RunConfig, declared: readonly EnvVar[]): void {
  const set = variablesSet(config);
  const missing = declared.filter((variable) => variable.required && !set.has(variable.name));
  if (missing.length === 0) return;
  const how = missing.map(({ name: variable, secret }) =>
    secret ? `${variable} (in secrets, as NAME,target=${variable})` : `${variable} (in env)`,
  );
  throw new UsageError(`the new version of ${name} needs values: ${how.join(', ')}`);
}
