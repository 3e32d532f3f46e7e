import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { explainIssues } from '@toolmgr/core';
import { z } from 'zod';
import { atomicWrite } from '../../files/atomic-write.ts';
import { withLock } from '../../files/lock.ts';
import { whenAbsent } from '../../files/when-absent.ts';
import { DEFAULT_GROUP, groupName, newGroupName } from './group-name.ts';
import { readWorkloads } from './workload-record.ts';

const groupFile = z.strictObject({
  format: z.literal(1),
  name: groupName,
  /** Types of the clients that get the workloads of the group. */
  registered_clients: z.array(z.string()).default([]),
  /** Names of the skills of the group. */
  skills: z.array(z.string()).default([]),
});

/** A group: its name, the client types that are registered with it, and its skills. */
export type GroupRecord = Omit<z.output<typeof groupFile>, 'format'>;

const SUFFIX = '.json';

/** Folder that holds one file per group that was created; a group also exists while a workload is in it. */
function groupsDir(state: string): string {
  return join(state, 'groups');
}

function groupPath(state: string, name: string): string {
  return join(groupsDir(state), `${name}${SUFFIX}`);
}

/** The groups that were created, sorted. */
export async function readGroups(state: string): Promise<readonly string[]> {
  const files = await readdir(groupsDir(state)).catch(whenAbsent([]));
  const names = files.filter((file) => file.endsWith(SUFFIX)).map((file) => file.slice(0, -SUFFIX.length));
  return names.filter((name) => groupName.safeParse(name).success).sort();
}

/**
 * One group; `undefined` when it does not exist. It exists when it was created, when a workload is in it, and as `default`.
 * @throws Error naming the file when it is damaged
 */
export async function readGroup(state: string, name: string): Promise<GroupRecord | undefined> {
  if (!groupName.safeParse(name).success) return undefined;
  const written = await readGroupFile(state, name);
  if (written !== undefined) return written;
  const exists = name === DEFAULT_GROUP || (await readWorkloads(state)).some(({ config }) => config?.group === name);
  return exists ? { name, registered_clients: [], skills: [] } : undefined;
}

/**
 * Changes the lists of a group under its lock: `change` returns the new lists, or `undefined` for no change. Resolves with the
 * new record; `undefined` when there is no such group.
 * @throws Error of the file system, or when the file is damaged; the old file is unchanged
 */
export async function changeGroup(
  state: string,
  name: string,
  change: (now: GroupRecord) => Partial<Pick<GroupRecord, 'registered_clients' | 'skills'>> | undefined,
): Promise<GroupRecord | undefined> {
  if (!groupName.safeParse(name).success) return undefined;
  return withGroupLock(state, name, async () => {
    const now = await readGroup(state, name);
    const next = now && change(now);
    if (now === undefined || next === undefined) return now;
    const record = { ...now, ...next };
    await writeGroup(state, record);
    return record;
  });
}

/** Creates a group. `exists` when there is one; `invalid` for a name that {@link newGroupName} refuses. */
export async function createGroup(state: string, name: string): Promise<'created' | 'exists' | 'invalid'> {
  if (!newGroupName.safeParse(name).success) return 'invalid';
  return withGroupLock(state, name, async () => {
    if ((await readGroup(state, name)) !== undefined) return 'exists';
    await writeGroup(state, { name, registered_clients: [], skills: [] });
    return 'created';
  });
}

/** Removes the file of a group; its workloads are not changed. */
export async function removeGroup(state: string, name: string): Promise<void> {
  if (!groupName.safeParse(name).success) return;
  await withGroupLock(state, name, () => rm(groupPath(state, name), { force: true }));
}

/** A leading dot keeps the locks of groups and of workloads apart. */
function withGroupLock<T>(state: string, name: string, change: () => Promise<T>): Promise<T> {
  return withLock(state, `.group-${name}`, change);
}

async function writeGroup(state: string, record: GroupRecord): Promise<void> {
  await mkdir(groupsDir(state), { recursive: true, mode: 0o700 });
  await atomicWrite(groupPath(state, record.name), `${JSON.stringify({ format: 1, ...record }, undefined, 2)}\n`);
}

async function readGroupFile(state: string, name: string): Promise<GroupRecord | undefined> {
  const path = groupPath(state, name);
  const text = await readFile(path, 'utf8').catch(whenAbsent(undefined));
  if (text === undefined) return undefined;
  const read = groupFile.safeParse(jsonOf(text, path));
  if (!read.success) throw new Error(`${path} is not valid: ${explainIssues('', groupFile, read.error).join('; ')}`);
  const { format: _, ...record } = read.data;
  return record;
}

function jsonOf(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${path} is not JSON`);
  }
}
