import { isDeepStrictEqual } from 'node:util';
import type { SkillArtifact } from '../artifact/artifact.ts';
import type { LockedSkill } from '../lock/locked-skill.ts';
import type { SkillRecord, SkillScope } from '../records/skill-record.ts';
import type { SkillNode } from './dependency-tree.ts';
import type { ScopeState, WantedScope } from './scope-plan.ts';
import { placeKey, type SkillTarget } from './targets.ts';
import type { Trust } from './trust.ts';

/** A skill to put into a scope. */
export interface AcceptedSkill extends SkillNode {
  /** Only in project scope. */
  readonly trust?: Trust;
}

/** Where and how skills are put. */
export interface PutOptions {
  readonly scope: SkillScope;
  readonly targets: readonly SkillTarget[];
  /** Absent: the group of the record, else none. */
  readonly group?: string;
  readonly force?: boolean;
  readonly now: Date;
  /** The user asks for the first one by name. Else it stays what it was: asked for, or needed by another one. */
  readonly isAsked: boolean;
  /** The lock file is what it should be already. */
  readonly keepsLock?: boolean;
  /** What the first one needs, when that is known from elsewhere. Default: those of `skills` with it as a parent. */
  readonly dependencies?: SkillRecord['dependencies'];
}

/**
 * The scope after skills were put into it. The first one is what the user asked for; the others are what it needs. A skill that the
 * user asked for earlier keeps its version when another one needs it too. Pure.
 */
export function withSkillsPut(now: ScopeState, skills: readonly AcceptedSkill[], options: PutOptions): WantedScope {
  const records = new Map(now.records);
  const locked = new Map(now.locked);
  const files = new Map<string, SkillArtifact['files']>();
  const put: AcceptedSkill[] = [];
  for (const [index, skill] of skills.entries()) {
    const { name, files: content } = skill.artifact;
    const before = records.get(name);
    if (index > 0 && before?.explicit === true) continue;
    put.push(skill);
    files.set(name, content);
    const isExplicit =
      (index === 0 && options.isAsked) || before?.explicit === true || now.locked.get(name)?.explicit === true;
    const dependencies = (index === 0 ? options.dependencies : undefined) ?? childrenOf(name, skills);
    const record = recordOf(skill, before, options, { explicit: isExplicit, dependencies });
    records.set(name, before !== undefined && isSameBut(before, record) ? before : record);
    if (options.scope.scope === 'project') locked.set(name, entryFor(skill, now.locked.get(name), isExplicit, options));
  }
  const force = options.force === true ? { force: true } : {};
  if (options.keepsLock === true) return { records, locked, files, ...force };
  for (const { artifact } of put) linkParents(locked, artifact.name, skills);
  return { ...withoutOrphans(now, { records, locked }), files, ...force };
}

/**
 * The scope without skills, and without those that only they needed. Pure.
 */
export function withSkillsRemoved(now: ScopeState, names: readonly string[]): WantedScope {
  const records = new Map(now.records);
  const locked = new Map(now.locked);
  for (const name of names) {
    records.delete(name);
    locked.delete(name);
    for (const [child, entry] of locked) {
      if (entry.requiredBy?.includes(name)) locked.set(child, withParents(entry, without(entry.requiredBy, name)));
    }
  }
  return { ...withoutOrphans(now, { records, locked }), files: new Map() };
}

function childrenOf(name: string, skills: readonly AcceptedSkill[]): SkillRecord['dependencies'] {
  return skills
    .filter(({ parents }) => parents.includes(name))
    .map(({ artifact: child }) => ({
      name: child.name,
      reference: child.resolvedReference,
      digest: child.digest,
    }));
}

function recordOf(
  { artifact, source, trust }: AcceptedSkill,
  before: SkillRecord | undefined,
  { scope, targets, now, ...options }: PutOptions,
  links: Pick<SkillRecord, 'explicit' | 'dependencies'>,
): SkillRecord {
  const places = new Map((before?.folders ?? []).map((place) => [placeKey(place), place]));
  for (const { base, segments } of targets) places.set(placeKey({ base, segments }), { base, segments: [...segments] });
  const clients = new Set([...(before?.clients ?? []), ...targets.flatMap((target) => target.clients)]);
  const group = options.group ?? before?.group;
  const { author, tags } = artifact.metadata;
  return {
    format: 1,
    name: artifact.name,
    scope: scope.scope,
    ...(scope.scope === 'project' ? { root: scope.root } : {}),
    source,
    reference: artifact.resolvedReference,
    ...(artifact.tag === undefined ? {} : { tag: artifact.tag }),
    digest: artifact.digest,
    contentDigest: artifact.contentDigest,
    ...(artifact.version === undefined ? {} : { version: artifact.version }),
    description: artifact.description,
    ...(author === undefined ? {} : { author }),
    ...(tags === undefined ? {} : { tags: listOf(tags) }),
    clients: [...clients].sort(),
    folders: [...places.values()],
    ...links,
    ...(group === undefined ? {} : { group }),
    ...(trust !== undefined && 'provenance' in trust ? { signer: claimsOf(trust.provenance) } : {}),
    ...(trust !== undefined && 'unsigned' in trust ? { unsigned: true } : {}),
    installedAt: now.toISOString(),
  };
}

function listOf(tags: string): string[] {
  return tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');
}

/** Whether nothing but the time differs. */
function isSameBut(before: SkillRecord, after: SkillRecord): boolean {
  return isDeepStrictEqual({ ...before, installedAt: '' }, { ...after, installedAt: '' });
}

function claimsOf(provenance: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(provenance).filter((claim): claim is [string, string] => typeof claim[1] === 'string'),
  );
}

function entryFor(
  { artifact, source, trust }: AcceptedSkill,
  before: LockedSkill | undefined,
  isExplicit: boolean,
  { keepsLock }: PutOptions,
): LockedSkill {
  if (before !== undefined && keepsLock === true) {
    const isJudged = before.unsigned === true || before.provenance !== undefined;
    return isJudged ? before : { ...before, ...trust };
  }
  const { version: _, provenance: __, unsigned: ___, ...kept } = before ?? {};
  return {
    ...kept,
    name: artifact.name,
    ...(artifact.version === undefined ? {} : { version: artifact.version }),
    source,
    resolvedReference: artifact.resolvedReference,
    digest: artifact.digest,
    contentDigest: artifact.contentDigest,
    ...trust,
    explicit: isExplicit,
  };
}

/** Writes what a skill needs now: what it needed before and needs no longer loses it as a parent. */
function linkParents(locked: Map<string, LockedSkill>, name: string, skills: readonly AcceptedSkill[]): void {
  const needed = new Set(childrenOf(name, skills).map((child) => child.name));
  for (const [child, entry] of locked) {
    const parents = new Set(entry.requiredBy);
    if (needed.has(child)) parents.add(name);
    else parents.delete(name);
    if (parents.size !== (entry.requiredBy?.length ?? 0)) locked.set(child, withParents(entry, [...parents].sort()));
  }
}

function withParents(entry: LockedSkill, parents: readonly string[]): LockedSkill {
  const { requiredBy: _, ...rest } = entry;
  return parents.length === 0 ? rest : { ...rest, requiredBy: [...parents] };
}

function without(names: readonly string[], name: string): readonly string[] {
  return names.filter((one) => one !== name);
}

/** Removes skills that the user did not ask for and that no other one needs any longer. */
function withoutOrphans(
  now: ScopeState,
  wanted: { readonly records: Map<string, SkillRecord>; readonly locked: Map<string, LockedSkill> },
) {
  const { records, locked } = wanted;
  const before = orphansOf(now);
  for (;;) {
    const orphans = [...orphansOf(wanted)].filter((name) => !before.has(name));
    if (orphans.length === 0) return wanted;
    for (const orphan of orphans) {
      records.delete(orphan);
      locked.delete(orphan);
      for (const [name, entry] of locked) {
        if (entry.requiredBy?.includes(orphan)) locked.set(name, withParents(entry, without(entry.requiredBy, orphan)));
      }
    }
  }
}

function orphansOf({ records, locked }: ScopeState): ReadonlySet<string> {
  const needed = new Set([...records.values()].flatMap(({ dependencies }) => dependencies.map(({ name }) => name)));
  const isOrphan = (name: string): boolean => {
    const [record, entry] = [records.get(name), locked.get(name)];
    if (record?.explicit === true || entry?.explicit === true) return false;
    return !needed.has(name) && (entry?.requiredBy?.length ?? 0) === 0;
  };
  return new Set([...records.keys(), ...locked.keys()].filter(isOrphan));
}
