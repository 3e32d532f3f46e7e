import { isObject } from '@toolmgr/core';
import { remoteUrlProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import type { z } from 'zod';
import { imageServer, issueText, type RemoteServer, remoteServer } from './entry-schemas.ts';
import { isEntryName, shownText } from './entry-text.ts';
import { readListedServer, readSkill, type ServerListed } from './records/read-record.ts';
import { recordFromEntry } from './records/record-from-entry.ts';
import type { SkillRecord } from './records/record-shapes.ts';
import { collectEntries, type EntryCollection, type Registry, type RegistryGroup } from './registry-data.ts';
import { readServerRecord } from './server-record.ts';

/** Largest document. */
export const MAX_DOCUMENT_BYTES = 10 * 1024 * 1024;
/** Largest listing of a registry server, all its pages together. */
export const MAX_LISTING_BYTES = 64 * 1024 * 1024;
/** Most entries of a registry. 10,000 take a quarter of a second to read. */
export const MAX_ENTRIES = 50_000;
const MAX_DEPTH = 64;
const MAX_DESCRIPTION = 2_000;

/** A registry, or why there is none. */
export type RegistryRead = { readonly registry: Registry } | { readonly problem: string };

/** Rules for the URLs in a document. */
export interface DocumentRules {
  /** Allows plain http and private addresses of remote servers. */
  readonly allowPrivateAddresses?: boolean;
  /** Most characters. Default: {@link MAX_DOCUMENT_BYTES}. */
  readonly maxLength?: number;
}

/**
 * Reads a registry document.
 *
 * Forms: the registry of the contract (`servers` and `remote_servers` by name, `groups`); a document with
 * `data.servers`; a list of the official registry (`servers` with `server.json` records); one `server.json`. An entry that is
 * not valid or not safe is left out with its reason, and the others are used.
 * Source: HTTP API spec §2 "RegistryData"; reference workload-api §6.1.
 */
export function readRegistryDocument(text: string, rules: DocumentRules = {}): RegistryRead {
  const { maxLength = MAX_DOCUMENT_BYTES } = rules;
  if (text.length > maxLength) return { problem: `is larger than ${maxLength} bytes` };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { problem: 'is not JSON' };
  }
  return readRegistryValue(value, rules);
}

/** Like {@link readRegistryDocument}, from a parsed value. */
export function readRegistryValue(value: unknown, rules: DocumentRules = {}): RegistryRead {
  if (isTooDeep(value)) return { problem: `is nested deeper than ${MAX_DEPTH} levels` };
  const records = recordsIn(value);
  if (records !== undefined) return readRecords(value, records, rules);
  if (isObject(value) && (isObject(value.servers) || isObject(value.remote_servers) || Array.isArray(value.groups))) {
    return readContractDocument(value, rules);
  }
  return { problem: 'is not a registry document: expected servers, remote_servers or data.servers' };
}

function readContractDocument(value: Readonly<Record<string, unknown>>, rules: DocumentRules): RegistryRead {
  const found = collectEntries();
  const groups: RegistryGroup[] = [];
  const sections = [value, ...(Array.isArray(value.groups) ? value.groups.filter(isObject) : [])];
  let count = 0;
  for (const section of sections) {
    const images = isObject(section.servers) ? Object.entries(section.servers) : [];
    const remotes = isObject(section.remote_servers) ? Object.entries(section.remote_servers) : [];
    count += images.length + remotes.length;
    if (count > MAX_ENTRIES) return { problem: `has more than ${MAX_ENTRIES} servers` };
    for (const [name, given] of images) {
      const read = checked(name, imageServer, given);
      if ('reason' in read) found.leaveOut(name, read.reason);
      else found.add({ name, image: read.value });
    }
    for (const [name, given] of remotes) {
      const read = checked(name, remoteServer, given);
      const problem = 'reason' in read ? read.reason : urlsProblem(read.value, rules);
      if (problem !== undefined) found.leaveOut(name, problem);
      else if ('value' in read) found.add({ name, remote: read.value });
    }
    if (section === value) continue;
    const names = [...images, ...remotes].map(([name]) => name);
    const description = typeof section.description === 'string' ? section.description : '';
    groups.push({ name: textOf(section.name), description: shownText(description).slice(0, MAX_DESCRIPTION), names });
  }
  const read = found.registry({
    version: textOf(value.version),
    lastUpdated: textOf(value.last_updated),
    skills: skillsOf(value, found),
  });
  const has = new Set(read.entries.map(({ name }) => name));
  const records = read.entries.map(recordFromEntry);
  return {
    registry: {
      ...read,
      records,
      groups: groups.map((group) => ({ ...group, names: group.names.filter((name) => has.has(name)) })),
    },
  };
}

function readRecords(value: unknown, given: readonly unknown[], rules: DocumentRules): RegistryRead {
  if (given.length > MAX_ENTRIES) return { problem: `has more than ${MAX_ENTRIES} servers` };
  const found = collectEntries();
  const records: ServerListed[] = [];
  for (const record of given) {
    const listed = readListedServer(record);
    const read = readServerRecord(record);
    const name = 'name' in read ? read.name : read.entry.name;
    const reason = 'reason' in read ? read.reason : read.entry.remote && urlsProblem(read.entry.remote, rules);
    // what toolmgr cannot run other programs may run; what is not safe is not passed on
    const isPassedOn = reason === undefined || ('isOnlyUnknown' in read && read.isOnlyUnknown === true);
    if ('record' in listed && isPassedOn && remotesProblem(listed, rules) === undefined) records.push(listed);
    if (reason !== undefined) found.leaveOut(name, reason);
    else if ('entry' in read) found.add(read.entry, versionOf(listed, read.isOlder));
  }
  const document = isObject(value) ? value : {};
  const meta = isObject(document.meta) ? document.meta : {};
  const skills = skillsOf(document, found);
  return {
    registry: found.registry({
      version: textOf(document.version),
      lastUpdated: textOf(meta.last_updated),
      records,
      skills,
    }),
  };
}

/** An older version is replaced by any other one. */
function versionOf(listed: ServerListed | { readonly reason: string }, isOlder: boolean): string {
  return isOlder || !('record' in listed) ? '' : listed.record.version;
}

function remotesProblem({ record }: ServerListed, rules: DocumentRules): string | undefined {
  const { allowPrivateAddresses = false } = rules;
  for (const { url } of record.remotes ?? []) {
    for (const filled of filledUrls(url)) {
      const problem = remoteUrlProblem(filled, { allowHttp: allowPrivateAddresses, allowPrivateAddresses });
      if (problem !== undefined) return problem;
    }
  }
  return undefined;
}

/** A template of a URL with texts and numbers in its places. A host that is one variable can be any. */
function filledUrls(url: string): readonly string[] {
  const withText = url.replace(TEMPLATE, 'x');
  return /^https?:\/\/\{[^{}]*\}(?:[/:?#]|$)/i.test(url) ? [withText] : [withText, url.replace(TEMPLATE, '1')];
}

const TEMPLATE = /\{[^{}]*\}/g;

function skillsOf(document: Readonly<Record<string, unknown>>, found: EntryCollection): readonly SkillRecord[] {
  const given = isObject(document.data) ? document.data.skills : document.skills;
  if (!Array.isArray(given)) return [];
  const skills: SkillRecord[] = [];
  for (const each of given.slice(0, MAX_ENTRIES)) {
    const read = readSkill(each);
    if ('reason' in read) found.leaveOut(read.name, read.reason);
    else skills.push(read);
  }
  return skills;
}

/** The `server.json` records of a document; `undefined` when it has another form. */
function recordsIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  if (isObject(value.data) && Array.isArray(value.data.servers)) return value.data.servers;
  if (Array.isArray(value.servers)) return value.servers;
  const hasSkills = Array.isArray(value.skills) || (isObject(value.data) && Array.isArray(value.data.skills));
  if (hasSkills && !isObject(value.servers) && !isObject(value.remote_servers)) return [];
  const isRecord = typeof value.name === 'string' && (Array.isArray(value.packages) || Array.isArray(value.remotes));
  return isRecord || isObject(value.server) ? [value] : undefined;
}

function checked<S extends z.ZodType>(
  name: string,
  schema: S,
  given: unknown,
): { readonly value: z.output<S> } | { readonly reason: string } {
  if (!isEntryName(name)) return { reason: 'its name is not valid' };
  const read = schema.safeParse(given);
  return read.success ? { value: read.data } : { reason: issueText(read.error) };
}

/** The first URL of a remote server that the rules forbid: its own, or one of its login. */
function urlsProblem({ url, oauth_config: oauth = {} }: RemoteServer, rules: DocumentRules): string | undefined {
  const { allowPrivateAddresses = false } = rules;
  const urls = { url, issuer: oauth.issuer, authorize_url: oauth.authorize_url, token_url: oauth.token_url };
  for (const [name, value] of Object.entries(urls)) {
    if (value === undefined) continue;
    const problem = remoteUrlProblem(value, { allowHttp: allowPrivateAddresses, allowPrivateAddresses });
    if (problem !== undefined) return `${name}: ${problem}`;
  }
  return undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? shownText(value).slice(0, 64) : '';
}

/** Without recursion, because the depth is what is not known. */
function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((each) => (typeof each === 'object' && each !== null ? Object.values(each) : []));
  }
  return false;
}
