import { stateDir } from '@toolmgr/plugins/kit/files';
import { DEFAULT_GROUP } from '@toolmgr/plugins/kit/workloads';
import { type CallOperation, userOperations } from '../../manager/commands/user-operations.ts';
import { forEachName } from '../../run/commands/for-each-name.ts';
import { ownCommand } from '../../shared/own-command.ts';
import { columns, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { groupNameProblem, type ListedGroup, unknownGroup } from '../../workloads/planning/groups.ts';
import { removeWorkload } from '../../workloads/planning/remove.ts';

/** `toolmgr group create`. */
export async function addGroup(name: string): Promise<void> {
  const problem = groupNameProblem(name);
  if (problem !== undefined) throw new UsageError(`group "${name}": ${problem}`);
  await (await operations())('createGroup', { name });
  stdout.line(`group ${name} is created; put a server into it: ${ownCommand(`run --group ${name} TARGET`)}`);
}

/** `toolmgr group list`. */
export async function listGroups({ format }: { readonly format: 'text' | 'json' }): Promise<void> {
  const groups = await listed(await operations());
  if (format === 'json') return stdout.json(groups);
  const rows = groups.map(({ name, workloads }) => [name, workloads.join(', ') || '-']);
  for (const line of columns([['NAME', 'WORKLOADS'], ...rows])) stdout.line(line);
}

/** `toolmgr group rm`: a group with workloads is kept unless they are removed with it. */
export async function removeGroups(
  names: readonly string[],
  flags: { readonly withWorkloads?: boolean },
): Promise<void> {
  const call = await operations();
  await forEachName([...new Set(names)], async (name) => {
    if (name === DEFAULT_GROUP) return `the group ${DEFAULT_GROUP} cannot be removed`;
    const groups = await listed(call);
    const found = groups.find((group) => group.name === name);
    if (found === undefined) return unknownGroup(name, groups);
    const { workloads } = found;
    if (workloads.length > 0 && !flags.withWorkloads)
      return `the group ${name} has workloads (${workloads.join(', ')}): --with-workloads stops and removes them too`;
    for (const workload of workloads) {
      // as `toolmgr rm`, which says what it leaves behind
      const outcome = await removeWorkload(stateDir(process.env), workload, { force: true });
      if (outcome.kind === 'refused') return outcome.problem;
      if (outcome.kind === 'left') stderr.line(`${stderr.yellow('warning')} ${outcome.problem}`);
      stdout.line(`${workload} is removed`);
    }
    // a group of an old version is only named by its workloads
    if ((await listed(call)).some((group) => group.name === name)) await call('deleteGroup', { name });
    stdout.line(`group ${name} is removed`);
  });
}

const operations = () => userOperations('workloads', 'groups');

/** Every group with its workloads, sorted by name. */
async function listed(call: CallOperation): Promise<readonly ListedGroup[]> {
  const [{ groups }, { workloads }] = (await Promise.all([
    call('listGroups'),
    call('listWorkloads', { all: true }),
  ])) as [
    { readonly groups: readonly { readonly name: string }[] },
    { readonly workloads: readonly { readonly name: string; readonly group?: string }[] },
  ];
  const names = new Set([...groups.map(({ name }) => name), ...workloads.flatMap(({ group }) => group ?? [])]);
  return [...names].sort().map((name) => ({
    name,
    workloads: workloads.filter(({ group }) => group === name).map((each) => each.name),
  }));
}
