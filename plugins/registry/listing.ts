import { compareVersions } from '@toolmgr/plugins/kit/workloads/schemes';
import { shortName } from './look-up.ts';
import { OFFICIAL, officialMeta, type ServerListed } from './records/read-record.ts';
import { publishedName } from './records/record-from-entry.ts';
import type { ServerRecord, SkillRecord } from './records/record-shapes.ts';
import type { Registry } from './registry-data.ts';

/** What a reader of the registry-server API asks for. */
export interface ListingQuery {
  /** Part of a name or description, in any case. */
  readonly q?: string;
  /** Part of a name, in any case: parameter of the official registry. */
  readonly search?: string;
  /** `latest`, or one version. */
  readonly version?: string;
  /** Only servers that changed since this time (RFC 3339). */
  readonly updatedSince?: string;
  /** From 1. */
  readonly page: number;
  readonly limit: number;
  /** `nextCursor` of the page before; `page` is not used then. */
  readonly cursor?: string;
}

/** Metadata of a page: the members of the contract, and those of the official registry. */
export interface PageMetadata {
  readonly limit: number;
  readonly page: number;
  readonly total: number;
  readonly count: number;
  readonly nextCursor?: string;
}

/** A record as it is served: also as `server`, where readers of the official registry look. */
export type ServedRecord = ServerRecord & { readonly server: ServerRecord };

/** Default and largest number of items on a page. Source: HTTP API spec §8.1. */
export const DEFAULT_LIMIT = 50;
export const MAX_LIMIT = 200;

/** `limit` as it is used: the default for what is no positive number, and at most {@link MAX_LIMIT}. */
export function limitFrom(text: string | undefined): number {
  const limit = positive(text);
  return limit === undefined ? DEFAULT_LIMIT : Math.min(limit, MAX_LIMIT);
}

/** `page` as it is used: 1 for what is no positive number. */
export function pageFrom(text: string | undefined): number {
  return positive(text) ?? 1;
}

function positive(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,9}$/.test(text)) return undefined;
  const number = Number(text);
  return number >= 1 ? number : undefined;
}

/** One page of the servers, in the order of name and version. */
export function listServers(
  registry: Pick<Registry, 'records'>,
  query: ListingQuery,
): { readonly servers: readonly ServedRecord[]; readonly metadata: PageMetadata } {
  const latest = latestVersions(registry.records);
  const isLatest = ({ record }: ServerListed): boolean => latest.get(record.name) === record.version;
  const { version } = query;
  const found = registry.records.filter((listed) => {
    const { record, state } = listed;
    if (version === 'latest' ? !isLatest(listed) : version !== undefined && record.version !== version) return false;
    if (query.updatedSince !== undefined && !isSince(state.updatedAt ?? state.publishedAt, query.updatedSince))
      return false;
    return matches(query.search, record.name) && matches(query.q, record.name, record.description);
  });
  const { items, metadata } = pageOf(found, query, ({ record }) => `${record.name}:${record.version}`);
  return { servers: items.map((listed) => served(listed, isLatest(listed))), metadata };
}

/** One version of a server: `latest`, or an exact one. */
export function serverVersion(
  registry: Pick<Registry, 'records'>,
  name: string,
  version: string,
): ServedRecord | undefined {
  const all = versionsOf(registry, name);
  return version === 'latest' ? all[0] : all.find((each) => each.version === version);
}

/** All versions of a server, the latest first. A name without a namespace means the one server whose last part it is. */
export function versionsOf(registry: Pick<Registry, 'records'>, name: string): readonly ServedRecord[] {
  const full = fullName(registry, name);
  const own = registry.records.filter(({ record }) => record.name === full);
  const latest = latestVersions(own).get(full);
  return own
    .map((listed) => served(listed, listed.record.version === latest))
    .sort(
      (a, b) => Number(b.version === latest) - Number(a.version === latest) || compareVersions(b.version, a.version),
    );
}

function fullName({ records }: Pick<Registry, 'records'>, name: string): string {
  if (name.includes('/')) return name;
  const published = publishedName(name);
  const names = new Set(records.map(({ record }) => record.name).filter((each) => shortName(each) === name));
  if (names.has(published)) return published;
  const [only = name] = names;
  return names.size === 1 ? only : name;
}

/** One page of the skills. `q` is part of the name, namespace or description. */
export function listSkills(
  registry: Pick<Registry, 'skills'>,
  query: ListingQuery,
): { readonly skills: readonly SkillRecord[]; readonly metadata: PageMetadata } {
  const found = registry.skills.filter(({ name, namespace, description = '' }) =>
    matches(query.q ?? query.search, name, namespace, description),
  );
  const key = ({ namespace, name, version = '' }: SkillRecord) => `${namespace}/${name}:${version}`;
  const { items, metadata } = pageOf(found, query, key);
  return { skills: items, metadata };
}

/** The latest version of a skill. */
export function findSkill(
  registry: Pick<Registry, 'skills'>,
  namespace: string,
  name: string,
): SkillRecord | undefined {
  return registry.skills
    .filter((skill) => skill.namespace === namespace && skill.name === name)
    .sort((a, b) => compareVersions(b.version ?? '', a.version ?? ''))[0];
}

function served(listed: ServerListed, isLatest: boolean): ServedRecord {
  const { record } = listed;
  const _meta = { ...record._meta, [OFFICIAL]: officialMeta(listed, isLatest) };
  return { ...record, _meta, server: record };
}

/** What the registry says, else the highest version. */
function latestVersions(records: readonly ServerListed[]): ReadonlyMap<string, string> {
  const latest = new Map<string, { readonly version: string; readonly isSaid: boolean }>();
  for (const { record, state } of records) {
    const before = latest.get(record.name);
    const isSaid = state.isLatest === true;
    const isNewer = before === undefined || compareVersions(record.version, before.version) >= 0;
    if (isSaid || (isNewer && before?.isSaid !== true)) latest.set(record.name, { version: record.version, isSaid });
  }
  return new Map([...latest].map(([name, { version }]) => [name, version]));
}

function matches(wanted: string | undefined, ...texts: readonly string[]): boolean {
  if (wanted === undefined || wanted === '') return true;
  const lower = wanted.toLowerCase();
  return texts.some((text) => text.toLowerCase().includes(lower));
}

function isSince(time: string | undefined, since: string): boolean {
  return time !== undefined && Date.parse(time) >= Date.parse(since);
}

/**
 * A page by number, or the one after a cursor. A cursor is the key of the last item before it, so that a change of the list
 * between two requests skips or repeats no other item.
 */
function pageOf<T>(
  all: readonly T[],
  { page, limit, cursor }: ListingQuery,
  keyOf: (item: T) => string,
): { readonly items: readonly T[]; readonly metadata: PageMetadata } {
  const total = all.length;
  const start = cursor === undefined || cursor === '' ? (page - 1) * limit : startAfter(all, cursorKey(cursor), keyOf);
  const items = all.slice(start, start + limit);
  const last = items.at(-1);
  const hasMore = last !== undefined && start + items.length < total;
  return {
    items,
    metadata: {
      limit,
      page: cursor === undefined || cursor === '' ? page : Math.floor(start / limit) + 1,
      total,
      count: items.length,
      ...(hasMore ? { nextCursor: Buffer.from(keyOf(last)).toString('base64url') } : {}),
    },
  };
}

function cursorKey(cursor: string): string {
  return Buffer.from(cursor, 'base64url').toString('utf8');
}

/** The item after the one with this key; when it has gone, the first one whose name comes after it. */
function startAfter<T>(all: readonly T[], key: string, keyOf: (item: T) => string): number {
  const at = all.findIndex((item) => keyOf(item) === key);
  if (at >= 0) return at + 1;
  const name = key.slice(0, key.lastIndexOf(':'));
  const next = all.findIndex((item) => keyOf(item).slice(0, keyOf(item).lastIndexOf(':')) > name);
  return next < 0 ? all.length : next;
}
