import { createGroup, DEFAULT_GROUP, readWorkloads, removeGroup, stateDir } from '@toolmgr/plugins/workloads/state';
import { ownCommand } from '../../shared/own-command.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { groupNameProblem, groupsOf, unknownGroup } from '../../workloads/planning/groups.ts';
import { removeWorkload } from '../../workloads/planning/remove.ts';
import { forEachName } from './for-each-name.ts';

/** `toolmgr group create`. */
export async function addGroup(name: string): Promise<void> {
  const state = stateDir();
  const created = await createGroup(state, name);
  if (created === 'exists') throw new UsageError(`there is a group ${name} already`);
  if (created === 'invalid') throw new UsageError(`group "${name}": ${groupNameProblem(name)}`);
  stdout.line(`group ${name} is created; put a server into it: ${ownCommand(`run --group ${name} TARGET`)}`);
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
