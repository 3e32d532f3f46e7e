import { mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atomicWrite } from './atomic-write.ts';
import { workloadName } from './workload-name.ts';

const SUFFIX = '.json';

/** Folder that holds one file per group that was created; a group also exists while a workload is in it. */
function groupsDir(state: string): string {
  return join(state, 'groups');
}

/** The groups that were created, sorted. */
export async function readGroups(state: string): Promise<readonly string[]> {
  const files = await readdir(groupsDir(state)).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return [];
    throw cause;
  });
  const names = files.filter((file) => file.endsWith(SUFFIX)).map((file) => file.slice(0, -SUFFIX.length));
  return names.filter((name) => workloadName.safeParse(name).success).sort();
}

/** Creates a group; creating it again changes nothing. `invalid` for a name that workloads could not have either. */
export async function createGroup(state: string, name: string): Promise<'created' | 'invalid'> {
  if (!workloadName.safeParse(name).success) return 'invalid';
  await mkdir(groupsDir(state), { recursive: true, mode: 0o700 });
  await atomicWrite(
    join(groupsDir(state), `${name}${SUFFIX}`),
    `${JSON.stringify({ format: 1, name }, undefined, 2)}\n`,
  );
  return 'created';
}

/** Removes a group; its workloads are not changed. */
export async function removeGroup(state: string, name: string): Promise<void> {
  if (!workloadName.safeParse(name).success) return;
  await rm(join(groupsDir(state), `${name}${SUFFIX}`), { force: true });
}
