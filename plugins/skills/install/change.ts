import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  atomicWrite,
  isRunning,
  markProcess,
  type ProcessMark,
  removeTemporaries,
  syncFolder,
  whenAbsent,
  withLock,
} from '@toolmgr/plugins/kit/files';
import type { SkillFile } from '../artifact/artifact.ts';
import { type FolderPlace, UnsafeFolder } from '../folders/held-folder.ts';
import { applyFolder, type FolderStep, revertFolder, stageFolder, sweepFolder } from '../folders/skill-folder.ts';
import { changeLock, type LockStep, revertLock } from '../lock/change-lock.ts';
import { readRecord, recordsDir, type SkillRecord, skillsDir, writeRecord } from '../records/skill-record.ts';

/** Groups of the state folder, as far as skills need them. */
export interface SkillGroups {
  /** Skills of a group; `undefined` when there is no such group. */
  skillsOf(group: string): Promise<readonly string[] | undefined>;
  /** Adds a skill to a group, or removes it. A group that does not exist is no error. */
  put(group: string, skill: string, isMember: boolean): Promise<void>;
}

/** One record before and after; absent: none. */
export interface RecordStep {
  readonly key: string;
  readonly before?: SkillRecord;
  readonly after?: SkillRecord;
}

/** Adds a skill to a group, or removes it. Only steps that change something. */
export interface GroupStep {
  readonly group: string;
  readonly name: string;
  readonly isMember: boolean;
}

/** Everything that one command changes: all of it, or nothing. */
export interface SkillChange {
  readonly folders: readonly FolderStep[];
  readonly records: readonly RecordStep[];
  readonly groups: readonly GroupStep[];
  readonly lock?: {
    readonly root: string;
    /** Text of the lock file before; absent: there is none. */
    readonly text?: string;
    readonly steps: readonly LockStep[];
  };
}

/** A change on disk while it runs: what a killed process did not finish is reverted from it. */
interface Journal extends SkillChange {
  readonly format: 1;
  /** `staging`: nothing is changed yet. `applying`: to be reverted. `done`: only leftovers are to be removed. */
  readonly phase: 'staging' | 'applying' | 'done';
  readonly by: ProcessMark;
}

/** What changes work on. */
export interface SkillStore {
  readonly state: string;
  readonly groups: SkillGroups;
}

/**
 * Runs `use` while no other process changes skills, after the changes of killed processes were reverted. Keep it short: do not
 * wait for the network inside.
 */
export async function withSkills<T>(store: SkillStore, use: () => Promise<T>): Promise<T> {
  return withLock(store.state, LOCK, async () => {
    await repairChanges(store);
    return use();
  });
}

const LOCK = '.skills'; // no workload has this name

/**
 * Makes a change completely or not at all, inside {@link withSkills}. A process that is killed in the middle leaves a journal,
 * and the next one reverts what was done.
 * @throws what made a step fail, after all steps were reverted
 */
export async function makeChange(
  store: SkillStore,
  change: SkillChange,
  filesOf: (step: FolderStep) => readonly SkillFile[],
): Promise<void> {
  const left = await unfinishedSkills(store.state);
  const blocked = change.records.find(({ key }) => left.has(key));
  if (blocked !== undefined)
    throw new Error(
      `an earlier change of ${nameOf(blocked)} was interrupted, and it cannot be reverted: ${left.get(blocked.key)?.journal}`,
    );
  const id = randomBytes(8).toString('hex');
  const path = journalPath(store.state, id);
  const by = (await markProcess(process.pid)) ?? { pid: process.pid, started: '' };
  const note = (phase: Journal['phase']) =>
    atomicWrite(path, `${JSON.stringify({ format: 1, phase, by, ...change } satisfies Journal)}\n`);
  await mkdir(journalsDir(store.state), { recursive: true, mode: 0o700 });
  try {
    await note('staging');
    for (const step of change.folders) await stageFolder(id, step, filesOf(step));
    await note('applying');
  } catch (cause) {
    // nothing is changed yet
    await sweep(store, id, change).catch(() => {});
    throw cause;
  }
  try {
    for (const step of change.folders) await applyFolder(id, step);
    for (const { key, after } of change.records) await writeRecord(store.state, key, after);
    for (const { group, name, isMember } of change.groups) await store.groups.put(group, name, isMember);
    if (change.lock !== undefined) await changeLock(change.lock.root, change.lock.steps);
    await note('done');
  } catch (cause) {
    // when this fails too, the journal stays, and the next command tries again
    await revert(store, id, change).catch(() => {});
    throw cause;
  }
  // leftovers of a change that is done are no failure
  await sweep(store, id, change).catch(() => {});
}

/**
 * Reverts what killed processes left. Only while no other process changes skills. A change that cannot be reverted stays: it
 * blocks its own skills, and no others.
 */
async function repairChanges(store: SkillStore): Promise<void> {
  for (const { id, journal } of await readJournals(store.state)) {
    const repaired = journal.phase === 'applying' ? revert(store, id, journal) : sweep(store, id, journal);
    await repaired.catch(() => {});
  }
  for (const folder of [journalsDir(store.state), recordsDir(store.state)]) {
    await removeTemporaries(folder).catch(() => {});
  }
}

/** A change that is not complete. */
interface UnfinishedChange {
  readonly journal: string;
  /** Its process works on it now; else it was killed, or the change could not be reverted. */
  readonly isRunning: boolean;
}

/** Changes that are not complete, by the keys of their records. Read-only. */
export async function unfinishedSkills(state: string): Promise<ReadonlyMap<string, UnfinishedChange>> {
  const found = new Map<string, UnfinishedChange>();
  for (const { id, journal } of await readJournals(state)) {
    if (journal.phase === 'done') continue;
    const change = { journal: journalPath(state, id), isRunning: await isRunning(journal.by) };
    for (const { key } of journal.records) found.set(key, change);
  }
  return found;
}

/** The opposite of each step, last one first. What another program changed since is left alone. */
async function revert(store: SkillStore, id: string, change: SkillChange): Promise<void> {
  if (change.lock !== undefined) {
    const { root, steps, text } = change.lock;
    await revertLock(root, steps, text);
  }
  for (const { group, name, isMember } of [...change.groups].reverse()) {
    if ((await store.groups.skillsOf(group))?.includes(name) === isMember)
      await store.groups.put(group, name, !isMember);
  }
  for (const { key, before, after } of [...change.records].reverse()) {
    const now = await readRecord(store.state, key);
    if (isDeepStrictEqual(plain(now), plain(after)) && !isDeepStrictEqual(plain(now), plain(before)))
      await writeRecord(store.state, key, before);
  }
  for (const step of [...change.folders].reverse()) await revertFolder(id, step).catch(replacedByLink);
  await sweep(store, id, change);
}

/** Removes staged folders first: without the journal they would stay. */
async function sweep(store: SkillStore, id: string, change: SkillChange): Promise<void> {
  for (const place of placesOf(change)) await sweepFolder(id, place).catch(replacedByLink);
  await rm(journalPath(store.state, id), { force: true });
  await syncFolder(journalsDir(store.state));
}

function placesOf({ folders }: SkillChange): readonly FolderPlace[] {
  const places = new Map(folders.map((step) => [[step.base, ...step.segments].join('/'), step]));
  return [...places.values()];
}

/** The client's folder was replaced meanwhile: what is behind a link is not ours. */
function replacedByLink(cause: unknown): void {
  if (!(cause instanceof UnsafeFolder)) throw cause;
}

function nameOf({ before, after }: RecordStep): string {
  return (after ?? before)?.name ?? 'a skill';
}

function plain(record: SkillRecord | undefined): unknown {
  return record === undefined ? undefined : JSON.parse(JSON.stringify(record));
}

function journalsDir(state: string): string {
  return join(skillsDir(state), 'changes');
}

function journalPath(state: string, id: string): string {
  return join(journalsDir(state), `${id}.json`);
}

async function readJournals(state: string): Promise<readonly { readonly id: string; readonly journal: Journal }[]> {
  const names = await readdir(journalsDir(state)).catch(whenAbsent([]));
  const ids = names.filter((name) => /^[0-9a-f]{16}\.json$/.test(name)).map((name) => name.slice(0, 16));
  const read = ids.map(async (id) => {
    const path = journalPath(state, id);
    const text = await readFile(path, 'utf8').catch(whenAbsent(undefined));
    return text === undefined ? undefined : { id, journal: journalOf(text, path) };
  });
  return (await Promise.all(read)).filter((found) => found !== undefined);
}

function journalOf(text: string, path: string): Journal {
  const value = JSON.parse(text) as Partial<Journal>;
  if (value.format !== 1) throw new Error(`${path} was written by another version of toolmgr: use that one first`);
  return value as Journal;
}
