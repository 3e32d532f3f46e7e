import { readWorkload, readWorkloads, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { groupsOf } from '../../workloads/planning/groups.ts';
import { groupOf } from '../../workloads/planning/select.ts';
import type { UpgradeRegistry } from './check-upgrade.ts';
import type { UpgradeDeps } from './operations.ts';
import type { UpgradeCheck } from './upgrade-result.ts';

/** What upgrades of the workloads of a state folder need. The code is loaded when an operation runs. */
export function upgradeDeps(state: string): UpgradeDeps {
  return {
    read: (name) => readWorkload(state, name),
    select: (chosen) => selectRecords(state, chosen),
    check: checkAll,
    async apply(name, options, work) {
      const { applyUpgrade } = await import('./apply-upgrade.ts');
      return applyUpgrade(state, name, await upgradeRegistry(), options, work);
    },
  };
}

/** The registries of the user, read once for a check of many. */
export async function upgradeRegistry(): Promise<UpgradeRegistry> {
  const { userRegistry } = await import('../../workloads/registry/user-registry.ts');
  const registry = await userRegistry();
  const loaded = new Map<string, ReturnType<typeof registry.loadFor>>();
  return {
    title: registry.title,
    load(name) {
      const known = loaded.get(name) ?? registry.loadFor(name);
      loaded.set(name, known);
      return known;
    },
    allowsPrivateAddresses(name) {
      const found = registry.sources.find((each) => each.name === name);
      return found !== undefined && (found.allowPrivateAddresses || found.source.type === 'file');
    },
  };
}

/** Packages ask their package registries. */
const CHECKS_AT_ONCE = 16;

/** One result for each record, in their order. */
export async function checkAll(
  records: readonly WorkloadRecord[],
  signal: AbortSignal,
): Promise<readonly UpgradeCheck[]> {
  const { checkUpgrade } = await import('./check-upgrade.ts');
  const registry = await upgradeRegistry();
  const results: UpgradeCheck[] = [];
  for (let at = 0; at < records.length; at += CHECKS_AT_ONCE) {
    signal.throwIfAborted();
    const some = records.slice(at, at + CHECKS_AT_ONCE);
    const checked = await Promise.all(some.map((record) => checkUpgrade(record, registry, signal)));
    results.push(...checked.map(({ result }) => result));
  }
  return results;
}

/** Those that the list of workloads shows. */
async function selectRecords(
  state: string,
  { all, group }: { readonly all: boolean; readonly group?: string },
): Promise<readonly WorkloadRecord[] | undefined> {
  const records = await readWorkloads(state);
  if (group !== undefined && !(await groupsOf(state, records)).some(({ name }) => name === group)) return undefined;
  return records.filter(
    (record) => (group === undefined || groupOf(record) === group) && (all || record.status.status !== 'stopped'),
  );
}
