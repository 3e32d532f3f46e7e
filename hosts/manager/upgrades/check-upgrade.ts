import type { RunConfig, WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { isSchemeTarget, newestPackage } from '@toolmgr/plugins/kit/workloads/schemes';
import { type LoadedAll, lookUpEntry, type RegistryEntry } from '@toolmgr/plugins/registry';
import { lookUpProblem } from '../../workloads/registry/look-up-problem.ts';
import { compareImages } from './compare-images.ts';
import { driftOf } from './drift.ts';
import type { UpgradeCheck } from './upgrade-result.ts';

/** What an upgrade uses beside the result of its check. */
export interface Candidate {
  readonly config: RunConfig;
  /** The image or package that it becomes. */
  readonly image: string;
  /** Without one it is a newer release of a package, which its package registry has. */
  readonly entry?: RegistryEntry & { readonly image: object };
  /** Image registries at private addresses may be asked for signatures. */
  readonly allowsPrivateAddresses: boolean;
}

/** The registries of the user, as a check needs them. */
export interface UpgradeRegistry {
  /** For messages. */
  readonly title: string;
  load(name: string, signal: AbortSignal): Promise<LoadedAll>;
  /** Whether the registry that serves an entry may lead to private addresses. */
  allowsPrivateAddresses(source: string | undefined): boolean;
}

/** A check with what it found. */
export interface Checked {
  readonly result: UpgradeCheck;
  /** With `upgrade-available` only. */
  readonly candidate?: Candidate;
  /** The entry that it was made from, where the registry has it. */
  readonly entry?: Candidate['entry'];
  readonly allowsPrivateAddresses?: boolean;
}

/**
 * Compares a workload with its entry in the registry, and a package that has none with the releases of its package registry. Reads
 * registries only, and no image or package.
 */
export async function checkUpgrade(
  { name, config, status }: WorkloadRecord,
  registry: UpgradeRegistry,
  signal: AbortSignal,
): Promise<Checked> {
  const about = { workload_name: name };
  const unknown = (reason: string, more: Partial<UpgradeCheck> = {}): Checked => ({
    result: { ...about, ...more, status: 'unknown', reason },
  });
  if (config === undefined) return unknown(status.message ?? 'its configuration cannot be read');
  const server = config.registry_server_name;
  const current = config.image ?? config.process?.target;
  const known = { ...(current === undefined ? {} : { current_image: current }) };
  if (server === undefined && current !== undefined && isSchemeTarget(current)) {
    const newest = await newestPackage(current, { ...process.env, ...config.env_vars }, signal);
    if ('problem' in newest) return unknown(newest.problem, known);
    const { target } = newest;
    const released = { ...about, ...known, candidate_image: target, ...compareImages(current, target) };
    if (released.status !== 'upgrade-available') return { result: released };
    return { result: released, candidate: { config, image: target, allowsPrivateAddresses: false } };
  }
  if (server === undefined) {
    const reason = 'it was not made from an entry of a registry';
    return { result: { ...about, ...known, status: 'not-registry-sourced', reason } };
  }
  const named = { ...known, registry_server: server };
  const read = await registry.load(server, signal);
  if ('problem' in read) return unknown(`the registry cannot be read: ${read.problem}`, named);
  const found = lookUpEntry(read.registry, server);
  if (found.kind === 'missing') {
    const [away] = read.away;
    if (away !== undefined) return unknown(`registry ${away.name} cannot be read: ${away.problem}`, named);
    const reason = lookUpProblem(server, registry.title, found);
    return { result: { ...about, ...named, status: 'server-not-found', reason } };
  }
  if (found.kind !== 'found') return unknown(lookUpProblem(server, registry.title, found), named);
  const { entry } = found;
  if (entry.image === undefined) return unknown('the registry entry is a remote server now', named);
  const both = { ...named, candidate_image: entry.image.image };
  if (current === undefined) return unknown('the workload is a remote server', both);
  const compared = compareImages(current, entry.image.image);
  const from = {
    entry: { ...entry, image: entry.image },
    allowsPrivateAddresses: registry.allowsPrivateAddresses(read.registry.sourceOf(entry.name)),
  };
  if (compared.status !== 'upgrade-available') return { result: { ...about, ...both, ...compared }, ...from };
  return {
    result: { ...about, ...both, ...compared, ...driftOf(config, entry.image) },
    candidate: { config, image: entry.image.image, ...from },
    ...from,
  };
}
