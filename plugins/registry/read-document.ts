import { isObject } from '@toolmgr/core';
import type { z } from 'zod';
import { remoteUrlProblem } from '../shared/safe-http/remote-http.ts';
import { imageServer, issueText, type RemoteServer, remoteServer } from './entry-schemas.ts';
import { isEntryName, shownText } from './entry-text.ts';
import { collectEntries, type Registry } from './registry-data.ts';
import { readServerRecord } from './server-record.ts';

/** Largest document. */
export const MAX_DOCUMENT_BYTES = 10 * 1024 * 1024;
/** Most entries of a registry. */
export const MAX_ENTRIES = 10_000;
const MAX_DEPTH = 64;

/** A registry, or why there is none. */
export type RegistryRead = { readonly registry: Registry } | { readonly problem: string };

/** Rules for the URLs in a document. */
export interface DocumentRules {
  /** Allows plain http and private addresses of remote servers. */
  readonly allowPrivateAddresses?: boolean;
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
  if (text.length > MAX_DOCUMENT_BYTES) return { problem: `is larger than ${MAX_DOCUMENT_BYTES} bytes` };
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
  }
  return { registry: found.registry(textOf(value.version), textOf(value.last_updated)) };
}

function readRecords(value: unknown, records: readonly unknown[], rules: DocumentRules): RegistryRead {
  if (records.length > MAX_ENTRIES) return { problem: `has more than ${MAX_ENTRIES} servers` };
  const found = collectEntries();
  for (const record of records) {
    const read = readServerRecord(record);
    if ('reason' in read) {
      found.leaveOut(read.name, read.reason);
      continue;
    }
    const { entry, isOlder } = read;
    const problem = entry.remote === undefined ? undefined : urlsProblem(entry.remote, rules);
    if (problem !== undefined) found.leaveOut(entry.name, problem);
    else found.add(entry, isOlder);
  }
  const document = isObject(value) ? value : {};
  const meta = isObject(document.meta) ? document.meta : {};
  return { registry: found.registry(textOf(document.version), textOf(meta.last_updated)) };
}

/** The `server.json` records of a document; `undefined` when it has another form. */
function recordsIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isObject(value)) return undefined;
  if (isObject(value.data) && Array.isArray(value.data.servers)) return value.data.servers;
  if (Array.isArray(value.servers)) return value.servers;
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
