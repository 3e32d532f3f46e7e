import { nearest } from '@toolmgr/core';
import { DEFAULT_GROUP, newGroupName, readGroups, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { UsageError } from '../../shared/usage-error.ts';

/** A group and its workloads. */
export interface ListedGroup {
  readonly name: string;
  readonly workloads: readonly string[];
}

/** Every group: `default`, those that were created, and those of workloads; sorted by name. */
export async function groupsOf(state: string, records: readonly WorkloadRecord[]): Promise<readonly ListedGroup[]> {
  const used = records.flatMap(({ config }) => config?.group ?? []);
  const names = new Set([DEFAULT_GROUP, ...(await readGroups(state)), ...used]);
  return [...names].sort().map((name) => ({
    name,
    workloads: records.filter(({ config }) => config?.group === name).map((record) => record.name),
  }));
}

/** An error message for an unknown group, with a suggestion. */
export function unknownGroup(name: string, groups: readonly ListedGroup[]): string {
  const names = groups.map((group) => group.name);
  const hint = nearest(name, names);
  return `there is no group ${name}${hint === undefined ? ` (known: ${names.join(', ')})` : `, did you mean ${hint}?`}`;
}

/** Why a group cannot be created under this name; `undefined` when it can. */
export function groupNameProblem(name: string): string | undefined {
  return newGroupName.safeParse(name).error?.issues[0]?.message;
}

/** @throws UsageError when the group is new and its name is not valid */
export function checkNewGroup(name: string, groups: readonly ListedGroup[]): void {
  const problem = groups.some((group) => group.name === name) ? undefined : groupNameProblem(name);
  if (problem !== undefined) throw new UsageError(`the group "${name}": ${problem}`);
}
