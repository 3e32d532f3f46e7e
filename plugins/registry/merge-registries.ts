import { compareTexts, compareVersions } from '@toolmgr/plugins/kit/workloads/schemes';
import type { ServerListed } from './records/read-record.ts';
import type { LeftOut, Registry, RegistryEntry } from './registry-data.ts';

/** One registry of a merged view. */
export interface NamedRegistry {
  /** Name of its source. */
  readonly name: string;
  readonly registry: Registry;
}

/** An entry of a registry that another registry has too. */
export interface Shadowed {
  readonly name: string;
  /** Registry whose entry is served. */
  readonly servedBy: string;
  /** Registries whose entry is not, in the order of their priority. */
  readonly alsoIn: readonly string[];
}

/** Several registries as one. */
export interface MergedRegistry extends Registry {
  readonly shadowed: readonly Shadowed[];
  /** Name of the registry that serves an entry. */
  sourceOf(entry: string): string | undefined;
  /** Name of the registry that serves a skill, by `namespace/name`. */
  sourceOfSkill(skill: string): string | undefined;
}

/** Joins registries, the first one with the highest priority: it serves the entries, records and skills that it has. */
export function mergeRegistries(registries: readonly NamedRegistry[]): MergedRegistry {
  const entries = new Map<
    string,
    { readonly entry: RegistryEntry; readonly from: string; readonly alsoIn: string[] }
  >();
  const leftOut = new Map<string, LeftOut>();
  const { first, ownerOf } = owners();
  const records: ServerListed[] = [];
  const skills: Registry['skills'][number][] = [];
  for (const { name, registry } of registries) {
    for (const entry of registry.entries) {
      const before = entries.get(entry.name);
      if (before === undefined) entries.set(entry.name, { entry, from: name, alsoIn: [] });
      else before.alsoIn.push(name);
    }
    for (const each of registry.leftOut) if (!leftOut.has(each.name)) leftOut.set(each.name, each);
    records.push(...registry.records.filter(({ record }) => first('record', record.name, name)));
    skills.push(...registry.skills.filter((skill) => first('skill', `${skill.namespace}/${skill.name}`, name)));
  }
  return {
    version: registries[0]?.registry.version ?? '',
    lastUpdated: registries.map(({ registry }) => registry.lastUpdated).reduce(later, ''),
    groups: registries.flatMap(({ registry }) => registry.groups),
    entries: [...entries.values()].map(({ entry }) => entry).sort((a, b) => compareTexts(a.name, b.name)),
    leftOut: [...leftOut.values()].filter(({ name }) => !entries.has(name)),
    records: inOrder(records),
    skills: skills.sort((a, b) => compareTexts(skillKey(a), skillKey(b))),
    shadowed: [...entries.values()].flatMap(({ entry, from, alsoIn }) =>
      alsoIn.length === 0 ? [] : [{ name: entry.name, servedBy: from, alsoIn }],
    ),
    sourceOf: (name) => entries.get(name)?.from,
    sourceOfSkill: (name) => ownerOf('skill', name),
  };
}

/** Records in the order of name and version, older versions first. One record of each name and version. */
export function inOrder(records: readonly ServerListed[]): readonly ServerListed[] {
  const sorted = [...records].sort(
    ({ record: a }, { record: b }) => compareTexts(a.name, b.name) || compareVersions(a.version, b.version),
  );
  return sorted.filter(({ record }, at) => {
    const next = sorted[at + 1]?.record;
    return next === undefined || next.name !== record.name || next.version !== record.version;
  });
}

/** All versions of a name come from one registry. */
function owners() {
  const known = new Map<string, string>();
  return {
    first(kind: string, key: string, registry: string): boolean {
      const owner = known.get(`${kind} ${key}`) ?? registry;
      known.set(`${kind} ${key}`, owner);
      return owner === registry;
    },
    ownerOf: (kind: string, key: string): string | undefined => known.get(`${kind} ${key}`),
  };
}

function later(a: string, b: string): string {
  return Date.parse(b) > Date.parse(a) || a === '' ? b : a;
}

function skillKey({ namespace, name, version = '' }: Registry['skills'][number]): string {
  return `${namespace}/${name}/${version}`;
}
