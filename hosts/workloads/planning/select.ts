import { nearest } from '@toolmgr/core';
import { readWorkloads, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';
import { groupsOf, unknownGroup } from './groups.ts';

/** Which workloads a command is for: names, or a group, or all. */
export interface Selection {
  readonly all?: boolean;
  readonly group?: string;
}

/**
 * The names that a command is for.
 * @throws UsageError without names, `--all` and `--group`, with more than one of them, or for a group that does not exist
 */
export async function selectNames(
  state: string,
  names: readonly string[],
  { all = false, group }: Selection,
): Promise<readonly string[]> {
  const given = [names.length > 0, all, group !== undefined].filter(Boolean).length;
  if (given === 0) throw new UsageError('name a workload, or use --all or --group NAME');
  if (given > 1) throw new UsageError('give names, --all or --group NAME: only one of them');
  if (names.length > 0) return [...new Set(names)];
  const records = await readWorkloads(state);
  if (group === undefined) return records.map(({ name }) => name);
  const groups = await groupsOf(state, records);
  if (!groups.some(({ name }) => name === group)) throw new UsageError(unknownGroup(group, groups));
  return records.filter((record) => groupOf(record) === group).map(({ name }) => name);
}

/** The group of a workload; that of an unreadable one is not known. */
export function groupOf({ config }: WorkloadRecord): string | undefined {
  return config?.group;
}

/** An error message for an unknown name, with a suggestion. */
export async function unknownWorkload(state: string, name: string): Promise<string> {
  const names = (await readWorkloads(state)).map((record) => record.name);
  const hint = nearest(name, names);
  if (hint !== undefined) return `there is no workload ${name}, did you mean ${hint}?`;
  return `there is no workload ${name} (${names.length === 0 ? 'there are none' : `known: ${names.join(', ')}`})`;
}
