import { isObject, present } from '@toolmgr/core';
import { issueText } from '../entry-schemas.ts';
import { isSettableVariable, shownText } from '../entry-text.ts';
import { isWebUrl } from '../web-url.ts';
import { type ServerRecord, type SkillRecord, serverRecord, skillRecord } from './record-shapes.ts';

/** What a registry says about a record. Source: API of the official registry, `_meta`. */
export interface RecordState {
  readonly status: 'active' | 'deprecated';
  readonly publishedAt?: string;
  readonly updatedAt?: string;
  /** Absent: the registry does not say. */
  readonly isLatest?: boolean;
}

/** A record of a registry. */
export interface ServerListed {
  readonly record: ServerRecord;
  readonly state: RecordState;
}

/** Key of what a registry says in `_meta`. */
export const OFFICIAL = 'io.modelcontextprotocol.registry/official';

/** Longest description that is passed on; longer ones are cut. */
const MAX_DESCRIPTION = 2_000;
/** Largest record as JSON text. */
const MAX_RECORD_CHARS = 256 * 1024;

/** Names of the registry-server API. Source: server.json schema 2025-12-11. */
export function isRecordName(name: string): boolean {
  return name.length <= 200 && /^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(name) && !name.includes('..');
}

/**
 * Reads a whole record, for readers of the registry-server API. Text is passed on as it is, within bounds; URLs that are no web
 * addresses and unknown members are left out.
 *
 * Forms: a `server.json`, or `{ server, _meta }`.
 */
export function readListedServer(value: unknown): ServerListed | { readonly reason: string } {
  const server = isObject(value) && isObject(value.server) ? value.server : value;
  if (!isObject(server)) return { reason: 'is not an object' };
  const cleaned = {
    ...server,
    description: cut(server.description),
    version: server.version ?? '1.0.0',
    repository: withWebUrl(server.repository),
    websiteUrl: webUrl(server.websiteUrl),
    icons: iconsOf(server.icons),
    packages: packagesOf(server.packages),
    _meta: metaOf(server._meta),
  };
  const read = serverRecord.safeParse(cleaned);
  if (!read.success) return { reason: issueText(read.error) };
  const record = present(read.data);
  if (!isRecordName(record.name)) return { reason: 'its name is not NAMESPACE/NAME' };
  const variable = forbiddenVariable(record);
  if (variable !== undefined) return { reason: `a registry must not set or ask for ${variable}` };
  if (JSON.stringify(record).length > MAX_RECORD_CHARS)
    return { reason: `is larger than ${MAX_RECORD_CHARS} characters` };
  return { record, state: stateOf(value) };
}

/** Reads a skill. */
export function readSkill(value: unknown): SkillRecord | { readonly name: string; readonly reason: string } {
  if (!isObject(value)) return { name: 'a skill', reason: 'is not an object' };
  const name = typeof value.name === 'string' ? shownText(value.name).slice(0, 200) : 'a skill without a name';
  const cleaned = {
    ...value,
    ...(value.description === undefined ? {} : { description: cut(value.description) }),
    repository: withWebUrl(value.repository),
    icons: Array.isArray(value.icons) ? value.icons.filter((icon) => isObject(icon) && isHttps(icon.src)) : undefined,
  };
  const read = skillRecord.safeParse(cleaned);
  if (!read.success) return { name, reason: issueText(read.error) };
  const skill = present(read.data);
  if (!isRecordName(`${skill.namespace}/${skill.name}`)) return { name, reason: 'its namespace or name is not valid' };
  if (JSON.stringify(skill).length > MAX_RECORD_CHARS) {
    return { name, reason: `is larger than ${MAX_RECORD_CHARS} characters` };
  }
  return skill;
}

/** The record with what its registry says, as the API of the official registry has it in `_meta`. */
export function officialMeta({ state }: ServerListed, isLatest: boolean): Readonly<Record<string, unknown>> {
  const { status, publishedAt, updatedAt } = state;
  return {
    status,
    ...present({ publishedAt, updatedAt }),
    isLatest,
  };
}

function stateOf(value: unknown): RecordState {
  const outer = isObject(value) && isObject(value._meta) ? value._meta : {};
  const official = isObject(outer[OFFICIAL]) ? outer[OFFICIAL] : {};
  const server = isObject(value) && isObject(value.server) ? value.server : isObject(value) ? value : {};
  const status = String(official.status ?? server.status ?? 'active').toLowerCase();
  return {
    status: status === 'deprecated' ? 'deprecated' : 'active',
    ...timeOf('publishedAt', official.publishedAt),
    ...timeOf('updatedAt', official.updatedAt),
    ...(typeof official.isLatest === 'boolean' ? { isLatest: official.isLatest } : {}),
  };
}

function timeOf(name: 'publishedAt' | 'updatedAt', value: unknown): { readonly [name: string]: string } {
  return typeof value === 'string' && value.length < 64 && !Number.isNaN(Date.parse(value)) ? { [name]: value } : {};
}

function cut(value: unknown): unknown {
  return typeof value === 'string' ? value.slice(0, MAX_DESCRIPTION) : (value ?? '');
}

function webUrl(value: unknown): unknown {
  return typeof value === 'string' && isWebUrl(value) ? value : undefined;
}

function withWebUrl(repository: unknown): unknown {
  if (!isObject(repository)) return undefined;
  const { url, ...others } = repository;
  return typeof url === 'string' && !isWebUrl(url) ? others : repository;
}

function iconsOf(icons: unknown): unknown {
  if (!Array.isArray(icons)) return undefined;
  const usable = icons.filter((icon) => isObject(icon) && isHttps(icon.src));
  return usable.length === 0 ? undefined : usable;
}

function isHttps(src: unknown): boolean {
  return typeof src === 'string' && src.length <= 255 && URL.parse(src)?.protocol === 'https:';
}

/** Older records have no transport. */
function packagesOf(packages: unknown): unknown {
  if (!Array.isArray(packages)) return undefined;
  return packages.map((each) => (isObject(each) ? { ...each, transport: each.transport ?? { type: 'stdio' } } : each));
}

/** Only members that are objects. The key `__proto__` is no member. */
function metaOf(meta: unknown): unknown {
  if (!isObject(meta)) return undefined;
  const kept = Object.entries(meta).filter(
    ([key, value]) => isObject(value) && key !== '__proto__' && key !== OFFICIAL,
  );
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function forbiddenVariable({ packages = [] }: ServerRecord): string | undefined {
  const all = packages.flatMap(({ environmentVariables = [] }) => environmentVariables);
  const found = all.find(
    ({ name = '', isRequired, value, default: fallback }) =>
      !isSettableVariable(name) && (isRequired === true || value !== undefined || fallback !== undefined),
  );
  return found?.name;
}
