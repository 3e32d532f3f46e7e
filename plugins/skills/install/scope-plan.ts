import { isDeepStrictEqual } from 'node:util';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import type { SkillFile } from '../artifact/artifact.ts';
import { type FolderStep, readSkillFolder } from '../folders/skill-folder.ts';
import type { LockStep } from '../lock/change-lock.ts';
import { readLock } from '../lock/lock-file.ts';
import type { LockedSkill } from '../lock/locked-skill.ts';
import { readRecords, recordKey, type SkillRecord, type SkillScope, scopeOf } from '../records/skill-record.ts';
import type { GroupStep, RecordStep, SkillChange, SkillStore } from './change.ts';
import { placeKey } from './targets.ts';

/** The skills of one scope: what is recorded, and in a project what its lock file says. */
export interface ScopeState {
  readonly records: ReadonlyMap<string, SkillRecord>;
  readonly locked: ReadonlyMap<string, LockedSkill>;
}

/** A scope as it was read. */
export interface ReadScope extends ScopeState {
  /** Absent: the project has no lock file. */
  readonly lockText?: string;
}

/** Reads a scope. Refuses a lock file that cannot be used. */
export async function readScope(state: string, scope: SkillScope): Promise<ReadScope | Problem> {
  const all = await readRecords(state);
  const own = all.filter((record) => isDeepStrictEqual(scopeOf(record), scope));
  const records = new Map(own.map((record) => [record.name, record]));
  if (scope.scope === 'user') return { records, locked: new Map() };
  const lock = await readLock(scope.root);
  if ('problem' in lock) return problem('bad_request', lock.problem);
  const locked = new Map(lock.skills.map((entry) => [entry.name, entry]));
  return { records, locked, ...(lock.text === undefined ? {} : { lockText: lock.text }) };
}

/** A scope as it should become. `files` has the skills whose folders are checked and written. */
export interface WantedScope extends ScopeState {
  readonly files: ReadonlyMap<string, readonly SkillFile[]>;
  /** Replaces folders that toolmgr does not manage. */
  readonly force?: boolean;
}

/** The steps from one state to the other, and the files of each folder. Refuses folders that are in the way. */
export async function planChange(
  store: SkillStore,
  scope: SkillScope,
  now: ReadScope,
  wanted: WantedScope,
): Promise<SkillChange | Problem> {
  const names = [...new Set([...now.records.keys(), ...wanted.records.keys()])].sort();
  const folders: FolderStep[] = [];
  for (const name of names) {
    const steps = await folderSteps(name, now, wanted);
    if ('problem' in steps) return steps;
    folders.push(...steps);
  }
  const records = names.flatMap((name): RecordStep[] => {
    const [before, after] = [now.records.get(name), wanted.records.get(name)];
    if (isDeepStrictEqual(before, after)) return [];
    return [{ key: recordKey(scope, name), ...(before && { before }), ...(after && { after }) }];
  });
  const groups = await groupSteps(store, records);
  if (scope.scope === 'user') return { folders, records, groups };
  const steps = lockSteps(now.locked, wanted.locked);
  const text = now.lockText;
  return { folders, records, groups, lock: { root: scope.root, steps, ...(text === undefined ? {} : { text }) } };
}

/** Whether a change does nothing. */
export function isEmptyChange({ folders, records, groups, lock }: SkillChange): boolean {
  return folders.length + records.length + groups.length + (lock?.steps.length ?? 0) === 0;
}

async function folderSteps(
  name: string,
  now: ScopeState,
  wanted: WantedScope,
): Promise<readonly FolderStep[] | Problem> {
  const [before, after] = [now.records.get(name), wanted.records.get(name)];
  const old = new Map((before?.folders ?? []).map((place) => [placeKey(place), place]));
  const next = new Map((after?.folders ?? []).map((place) => [placeKey(place), place]));
  const steps: FolderStep[] = [];
  for (const [key, place] of old) {
    if (!next.has(key)) steps.push({ ...place, name, action: 'remove', replaces: true });
  }
  if (after === undefined || !wanted.files.has(name)) return steps;
  for (const [key, place] of next) {
    const found = await readSkillFolder(place, name);
    if (found.kind === 'other-case')
      return problem('conflict', `${found.path} differs from ${name} in case only: rename or remove it`);
    if (found.kind === 'entry' && found.contentDigest === after.contentDigest) continue;
    const isManaged = old.has(key) || now.locked.has(name);
    if (found.kind === 'entry' && !isManaged && wanted.force !== true)
      return problem('conflict', `${found.path} exists and was not installed by toolmgr: force replaces it`);
    steps.push({ ...place, name, action: 'put', replaces: found.kind === 'entry' });
  }
  return steps;
}

async function groupSteps(store: SkillStore, records: readonly RecordStep[]): Promise<readonly GroupStep[]> {
  const others = await readRecords(store.state);
  const changed = new Set(records.map(({ key }) => key));
  const isUsed = (group: string, name: string): boolean =>
    others.some((one) => one.group === group && one.name === name && !changed.has(recordKey(scopeOf(one), one.name)));
  const steps: GroupStep[] = [];
  for (const { before, after } of records) {
    const [left, joined] = [before?.group, after?.group];
    const name = (after ?? before)?.name ?? '';
    const has = async (group: string) => (await store.groups.skillsOf(group))?.includes(name);
    if (left !== undefined && left !== joined && !isUsed(left, name) && (await has(left)) === true)
      steps.push({ group: left, name, isMember: false });
    if (joined !== undefined && (await has(joined)) === false) steps.push({ group: joined, name, isMember: true });
  }
  return steps;
}

function lockSteps(
  now: ReadonlyMap<string, LockedSkill>,
  wanted: ReadonlyMap<string, LockedSkill>,
): readonly LockStep[] {
  const names = [...new Set([...now.keys(), ...wanted.keys()])].sort();
  return names.flatMap((name): LockStep[] => {
    const [before, after] = [now.get(name), wanted.get(name)];
    if (isDeepStrictEqual(before, after)) return [];
    return [{ name, ...(before && { before }), ...(after && { after }) }];
  });
}
