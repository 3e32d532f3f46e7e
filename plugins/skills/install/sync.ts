import { explainCause } from '@toolmgr/core';
import { type Problem, problem } from '@toolmgr/plugins/kit/operations';
import { readSkillFolder } from '../folders/skill-folder.ts';
import { LockWriteFailed } from '../lock/change-lock.ts';
import type { LockedSkill } from '../lock/locked-skill.ts';
import type { SkillRecord, SkillScope } from '../records/skill-record.ts';
import { acceptAll, changeScope } from './install.ts';
import { withSkillsPut, withSkillsRemoved } from './put-skills.ts';
import { type ReadScope, readScope, type ScopeState } from './scope-plan.ts';
import { type Refused, refusedBy, type SkillDeps, type SkillReason } from './skill-deps.ts';
import { placeKey, type SkillTarget, skillTargets } from './targets.ts';

/** What to restore. */
export interface SyncRequest {
  readonly root: string;
  readonly clients?: readonly string[];
  /** Uninstalls managed skills that are no longer in the lock file. */
  readonly prune?: boolean;
  /** Reports and changes nothing. */
  readonly check?: boolean;
  /** Writes entries for installed skills of a project that has no lock file. */
  readonly adopt?: boolean;
  readonly allowUnsigned?: boolean;
}

/** Names of skills by what was found and done. Source: workload API spec §2 SyncResult, reference workload-api §4.4. */
export interface SyncResult {
  readonly already_current: string[];
  readonly drifted: string[];
  readonly installed: string[];
  readonly missing: string[];
  readonly never_managed: string[];
  readonly pruned: string[];
  readonly removed_from_lock: string[];
  readonly failed: { readonly name: string; readonly error: string; readonly reason: SkillReason }[];
}

/** Makes the skills of a project what its lock file says. One skill that fails does not stop the others. */
export async function syncSkills(
  deps: SkillDeps,
  request: SyncRequest,
  signal: AbortSignal,
): Promise<SyncResult | Problem> {
  const scope: SkillScope = { scope: 'project', root: request.root };
  const now = await readScope(deps.state, scope);
  if ('problem' in now) return now;
  const clients = await deps.clients();
  // names of clients are checked also when there is nothing to install
  const given = request.clients === undefined ? undefined : await skillTargets(request.clients, clients, scope);
  if (given !== undefined && 'problem' in given) return given;
  const result = emptyResult();
  for (const entry of now.locked.values()) {
    signal.throwIfAborted();
    const record = now.records.get(entry.name);
    const targets = given ?? (record === undefined ? await skillTargets(undefined, clients, scope) : targetsOf(record));
    if ('problem' in targets) return targets;
    await syncOne(deps, { entry, record, targets, scope, now }, request, result, signal);
  }
  await syncOthers(deps, now, request, result);
  return result;
}

interface SyncItem {
  readonly entry: LockedSkill;
  readonly record: SkillRecord | undefined;
  readonly targets: readonly SkillTarget[];
  readonly scope: SkillScope;
  readonly now: ScopeState;
}

async function syncOne(
  deps: SkillDeps,
  item: SyncItem,
  request: SyncRequest,
  result: SyncResult,
  signal: AbortSignal,
): Promise<void> {
  const { name } = item.entry;
  await failing(result, name, async () => {
    const found = await stateOf(item);
    if (found === 'current' || (found === 'unrecorded' && request.check === true)) {
      result.already_current.push(name);
      return undefined;
    }
    if (request.check === true && found !== 'unrecorded') {
      result[found].push(name);
      return undefined;
    }
    const failed = await restore(deps, item, request, signal);
    if (failed === undefined) result[found === 'drifted' ? 'drifted' : 'installed'].push(name);
    return failed;
  });
}

/**
 * Whether every folder has the content of the lock file. `unrecorded`: it has, e.g. because the skills are in the repository of the
 * project too, and this machine has no record of them.
 */
async function stateOf({
  entry,
  record,
  targets,
}: SyncItem): Promise<'current' | 'missing' | 'drifted' | 'unrecorded'> {
  const found = await Promise.all(targets.map((place) => readSkillFolder(place, entry.name)));
  if (record === undefined && found.every(({ kind }) => kind === 'nothing')) return 'missing';
  const isSame = found.every((one) => one.kind === 'entry' && one.contentDigest === entry.contentDigest);
  if (!isSame) return 'drifted';
  if (record === undefined) return 'unrecorded';
  const isRecorded =
    record.digest === entry.digest &&
    targets.every((target) => target.clients.every((client) => record.clients.includes(client)));
  return isRecorded ? 'current' : 'drifted';
}

async function restore(
  deps: SkillDeps,
  { entry, targets, scope, now }: SyncItem,
  { allowUnsigned }: SyncRequest,
  signal: AbortSignal,
): Promise<Refused | undefined> {
  const resolved = await deps.resolve(entry.resolvedReference, { signal });
  if ('problem' in resolved) return refusedBy(resolved);
  const { artifact } = resolved;
  const other = PINNED.find((member) => artifact[member] !== entry[member]);
  if (other !== undefined)
    return refusedBy(
      problem(
        'unprocessable',
        `${entry.resolvedReference} has the ${other} ${artifact[other]}, and the lock file ${entry[other]}`,
      ),
    );
  const node = { artifact, source: entry.source, parents: [] };
  const rules = allowUnsigned === true ? { allowUnsigned } : {};
  const accepted = await acceptAll(deps, [node], now, scope, rules, signal);
  if ('refused' in accepted) return accepted;
  const put = await changeScope(deps, scope, (latest) => {
    const children = [...latest.locked.values()].filter(({ requiredBy }) => requiredBy?.includes(entry.name));
    const wanted = withSkillsPut(latest, accepted, {
      ...{ scope, targets, isAsked: false, keepsLock: true, now: new Date() },
      dependencies: children.map((child) => ({
        name: child.name,
        reference: child.resolvedReference,
        digest: child.digest,
      })),
    });
    return latest.locked.get(entry.name)?.digest === entry.digest
      ? wanted
      : problem('conflict', `the lock file was changed at the same time: try again`);
  });
  return 'problem' in put ? refusedBy(put) : undefined;
}

const PINNED = ['name', 'digest', 'contentDigest'] as const;

/** Installed skills without an entry: removed from the lock file, or of a project that has none. */
async function syncOthers(
  deps: SkillDeps,
  now: ReadScope,
  { root, check, prune, adopt }: SyncRequest,
  result: SyncResult,
): Promise<void> {
  const scope: SkillScope = { scope: 'project', root };
  const others = [...now.records.values()].filter(({ name }) => !now.locked.has(name));
  for (const { name } of others) result[now.lockText !== undefined ? 'removed_from_lock' : 'never_managed'].push(name);
  if (check === true) return;
  if (adopt === true) {
    // children first: an entry names its parents
    await failing(result, others.map(({ name }) => name).join(', '), async () => {
      const put = await changeScope(deps, scope, (latest) => adopted(latest));
      return 'problem' in put ? refusedBy(put) : undefined;
    });
  } else if (prune === true && now.lockText !== undefined) {
    for (const { name } of others) {
      await failing(result, name, async () => {
        const gone = await changeScope(deps, scope, (latest) => withSkillsRemoved(latest, [name]));
        if ('problem' in gone) return refusedBy(gone);
        result.pruned.push(name);
        return undefined;
      });
    }
  }
}

/** The scope with entries for all records. */
function adopted(now: ScopeState) {
  const locked = new Map(now.locked);
  for (const record of now.records.values()) {
    if (locked.has(record.name)) continue;
    const parents = [...now.records.values()].filter((one) =>
      one.dependencies.some(({ name }) => name === record.name),
    );
    locked.set(record.name, {
      name: record.name,
      ...(record.version === undefined ? {} : { version: record.version }),
      source: record.source,
      resolvedReference: record.reference,
      digest: record.digest,
      contentDigest: record.contentDigest,
      ...(record.signer === undefined ? {} : { provenance: record.signer }),
      ...(record.unsigned === true ? { unsigned: true } : {}),
      explicit: record.explicit,
      ...(parents.length === 0 ? {} : { requiredBy: parents.map(({ name }) => name) }),
    });
  }
  return { records: now.records, locked, files: new Map() };
}

/** The folders of a record. */
export function targetsOf({ folders, clients }: SkillRecord): readonly SkillTarget[] {
  const places = new Map(folders.map((place) => [placeKey(place), place]));
  return [...places.values()].map((place, index) => ({ ...place, clients: index === 0 ? clients : [] }));
}

/** Runs one item. A refusal or a fault is written to the result. */
async function failing(result: SyncResult, name: string, run: () => Promise<Refused | undefined>): Promise<void> {
  try {
    const failed = await run();
    if (failed !== undefined) result.failed.push({ name, error: failed.refused.detail, reason: failed.reason });
  } catch (cause) {
    result.failed.push({ name, error: explainCause(cause), reason: reasonOfFault(cause) });
  }
}

/** The reason for a fault. */
export function reasonOfFault(cause: unknown): SkillReason {
  return cause instanceof LockWriteFailed ? 'lock-write-failed' : 'unknown';
}

function emptyResult(): SyncResult {
  return {
    already_current: [],
    drifted: [],
    installed: [],
    missing: [],
    never_managed: [],
    pruned: [],
    removed_from_lock: [],
    failed: [],
  };
}
