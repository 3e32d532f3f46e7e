import { nearest } from '@toolmgr/core';
import {
  createGroup,
  readGroups,
  readWorkloads,
  removeGroup,
  stateDir,
  type WorkloadRecord,
  workloadName,
} from '@toolmgr/plugins/workloads/state';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { forEachName } from './for-each-name.ts';
import { removeWorkload } from './remove.ts';

/** The group of workloads without another one. It always exists. */
export const DEFAULT_GROUP = 'default';

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

/** `toolmgr group create`. */
export async function addGroup(name: string): Promise<void> {
  const state = stateDir();
  const groups = await groupsOf(state, await readWorkloads(state));
  if (groups.some((group) => group.name === name)) throw new UsageError(`there is a group ${name} already`);
  if ((await createGroup(state, name)) === 'invalid')
    throw new UsageError(`group "${name}": ${workloadName.safeParse(name).error?.issues[0]?.message ?? 'not a name'}`);
  stdout.line(`group ${name} is created; put a server into it: toolmgr run --group ${name} TARGET`);
}

/** `toolmgr group list`. */
export async function listGroups({ format }: { readonly format: 'text' | 'json' }): Promise<void> {
  const state = stateDir();
  const groups = await groupsOf(state, await readWorkloads(state));
  if (format === 'json') return stdout.line(JSON.stringify(groups, undefined, 2));
  const rows = groups.map(({ name, workloads }) => [name, workloads.join(', ') || '-']);
  for (const line of columns([['NAME', 'WORKLOADS'], ...rows])) stdout.line(line);
}

/** `toolmgr group rm`: a group with workloads is kept unless they are removed with it. */
export async function removeGroups(
  names: readonly string[],
  flags: { readonly withWorkloads?: boolean },
): Promise<void> {
  const state = stateDir();
  await forEachName([...new Set(names)], async (name) => {
    if (name === DEFAULT_GROUP) return `the group ${DEFAULT_GROUP} cannot be removed`;
    const groups = await groupsOf(state, await readWorkloads(state));
    const found = groups.find((group) => group.name === name);
    if (found === undefined) return unknownGroup(name, groups);
    const { workloads } = found;
    if (workloads.length > 0 && !flags.withWorkloads)
      return `the group ${name} has workloads (${workloads.join(', ')}): --with-workloads stops and removes them too`;
    for (const workload of workloads) {
      const outcome = await removeWorkload(state, workload, { force: true });
      if (outcome.kind === 'refused') return outcome.problem;
      if (outcome.kind === 'left') stderr.line(`${stderr.yellow('warning')} ${outcome.problem}`);
      stdout.line(`${workload} is removed`);
    }
    await removeGroup(state, name);
    stdout.line(`group ${name} is removed`);
  });
}
