import { readFile, stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { explainCause } from '@toolmgr/core';
import { createRemoteHttp, type RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { plainUrl, remoteUrlProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import { fetchEntryDocument, fetchListing } from './api-client.ts';
import { builtInRegistry } from './built-in/built-in.ts';
import { type Cached, openCache } from './cache.ts';
import { type DocumentRules, MAX_DOCUMENT_BYTES, MAX_LISTING_BYTES, readRegistryDocument } from './read-document.ts';
import type { Registry } from './registry-data.ts';
import { isTransient, kindOf, type SourceProblem, StatusFault } from './source-problem.ts';

/** Where a registry comes from. `url` is a document, `api` the base URL of a registry server. */
export type RegistrySource =
  | { readonly type: 'default' }
  | { readonly type: 'file'; readonly path: string }
  | { readonly type: 'url'; readonly url: string }
  | { readonly type: 'api'; readonly url: string };

/** How a registry is loaded. */
export interface LoadOptions extends DocumentRules {
  /** Folder of the cache; nothing is cached without it. */
  readonly cacheDir?: string;
  /** Asks the source although the cached copy is fresh. */
  readonly refresh?: boolean;
  readonly signal?: AbortSignal;
  readonly nowMs?: number;
  /** Access token for this registry and no other server. @throws NeedsSignIn when there is none */
  readonly bearer?: (signal: AbortSignal) => Promise<string>;
}

/** A registry with what a user should know about the copy, or why there is none. */
export type LoadedRegistry = { readonly registry: Registry; readonly notes: readonly string[] } | SourceProblem;

const REQUEST_MS = 10_000;
/** All pages of a listing, one after the other. */
const LISTING_MS = 180_000;
/** A listing of a registry server is asked again after this time. */
const API_FRESH_MS = 3_600_000;

/** The server of the official MCP registry. */
export const OFFICIAL_REGISTRY = 'https://registry.modelcontextprotocol.io';

/**
 * Reads what a user wrote as a registry: `default`, `official`, an absolute path, a URL that ends with `.json`, or the URL of a
 * registry server.
 */
export function sourceFromText(
  text: string,
  { allowPrivateAddresses = false }: DocumentRules = {},
): RegistrySource | { readonly reason: string } {
  if (text === 'default') return { type: 'default' };
  if (text === 'official') return { type: 'api', url: OFFICIAL_REGISTRY };
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) {
    return isAbsolute(text)
      ? { type: 'file', path: text }
      : { reason: 'expected default, official, the path of a JSON file or an https URL' };
  }
  const problem = remoteUrlProblem(text, { allowHttp: allowPrivateAddresses, allowPrivateAddresses });
  if (problem !== undefined) {
    const hint = allowPrivateAddresses ? '' : ' (--allow-private-ip allows http and private addresses)';
    return { reason: `${problem}${hint}` };
  }
  const isDocument = new URL(text).pathname.endsWith('.json');
  return isDocument ? { type: 'url', url: text } : { type: 'api', url: text.replace(/\/+$/, '') };
}

/** A source in messages. */
export function describeSource(source: RegistrySource): string {
  if (source.type === 'default') return 'the built-in registry';
  return source.type === 'file' ? `the registry ${source.path}` : `the registry ${plainUrl(source.url)}`;
}

/** Loads a whole registry. A copy of the cache is used, with a note, when its source does not answer. */
export async function loadRegistry(source: RegistrySource, options: LoadOptions = {}): Promise<LoadedRegistry> {
  if (source.type === 'default') return { registry: builtInRegistry(), notes: [] };
  if (source.type === 'file') return readFileSource(source.path, options);
  const cache = openCache(options.cacheDir, options.nowMs ?? Date.now());
  const before = await cache.read(source.url);
  const isFresh = source.type === 'api' && before !== undefined && before.ageMs < API_FRESH_MS;
  if (isFresh && options.refresh !== true) return readCopy(source, before.document, options, []);
  return withHttp(source, options, before, async (http) => {
    const headers = await headersOf(options);
    const document =
      source.type === 'api'
        ? { text: await fetchListing(http, source.url, headers, signalOf(options, LISTING_MS)) }
        : await fetchDocument(http, source.url, before, headers, signalOf(options, REQUEST_MS));
    const read = readCopy(source, document.text, options, []);
    if ('registry' in read) await cache.write(source.url, document.text, document.etag);
    return read;
  });
}

/**
 * Loads at least the entries that `name` can mean. A registry server is asked for these only, unless a fresh listing is cached.
 */
export async function loadRegistryFor(
  source: RegistrySource,
  name: string,
  options: LoadOptions = {},
): Promise<LoadedRegistry> {
  if (source.type !== 'api') return loadRegistry(source, options);
  const cache = openCache(options.cacheDir, options.nowMs ?? Date.now());
  const before = await cache.read(source.url);
  if (before !== undefined && before.ageMs < API_FRESH_MS && options.refresh !== true) {
    return readCopy(source, before.document, options, []);
  }
  return withHttp(source, options, before, async (http) => {
    const headers = await headersOf(options);
    const text = await fetchEntryDocument(http, source.url, name, headers, signalOf(options, LISTING_MS));
    return readCopy(source, text, options, []);
  });
}

async function headersOf({ bearer, ...options }: LoadOptions): Promise<Readonly<Record<string, string>>> {
  if (bearer === undefined) return {};
  return { authorization: `Bearer ${await bearer(signalOf(options, REQUEST_MS))}` };
}

async function withHttp(
  source: Extract<RegistrySource, { url: string }>,
  options: LoadOptions,
  before: Cached | undefined,
  load: (http: RemoteHttp) => Promise<LoadedRegistry>,
): Promise<LoadedRegistry> {
  const { allowPrivateAddresses = false } = options;
  const rules = { allowHttp: allowPrivateAddresses, allowPrivateAddresses };
  const http = createRemoteHttp({ ...rules, timeoutMs: REQUEST_MS, maxBytes: MAX_DOCUMENT_BYTES });
  try {
    return await load(http);
  } catch (cause) {
    const why = explainCause(cause);
    if (before === undefined || !isTransient(cause)) {
      return { problem: `${describeSource(source)}: ${why}`, kind: kindOf(cause) };
    }
    const day = new Date(before.fetchedAtMs).toISOString().slice(0, 10);
    return readCopy(source, before.document, options, [
      `${describeSource(source)} is not available (${why}); the copy of ${day} is used`,
    ]);
  } finally {
    await http.close();
  }
}

function readCopy(
  source: RegistrySource,
  text: string,
  rules: DocumentRules,
  notes: readonly string[],
): LoadedRegistry {
  const read = readRegistryDocument(text, source.type === 'api' ? { ...rules, maxLength: MAX_LISTING_BYTES } : rules);
  return 'problem' in read
    ? { problem: `${describeSource(source)} ${read.problem}`, kind: 'invalid' }
    : { registry: read.registry, notes };
}

async function fetchDocument(
  http: RemoteHttp,
  url: string,
  before: Cached | undefined,
  given: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly etag?: string }> {
  const headers: Record<string, string> = { accept: 'application/json', ...given };
  if (before?.etag !== undefined) headers['if-none-match'] = before.etag;
  const answer = await http.send(url, { headers, signal });
  const etag = typeof answer.headers.etag === 'string' ? answer.headers.etag : undefined;
  if (answer.status === 304 && before !== undefined) return { text: before.document, etag: etag ?? before.etag };
  if (answer.status !== 200) throw new StatusFault(url, answer.status);
  return { text: answer.body.toString('utf8'), ...(etag === undefined ? {} : { etag }) };
}

async function readFileSource(path: string, rules: DocumentRules): Promise<LoadedRegistry> {
  const source = { type: 'file', path } as const;
  try {
    const file = await stat(path);
    if (!file.isFile()) return { problem: `${describeSource(source)} is not a regular file`, kind: 'missing' };
    if (file.size > MAX_DOCUMENT_BYTES) {
      return { problem: `${describeSource(source)} is larger than ${MAX_DOCUMENT_BYTES} bytes`, kind: 'invalid' };
    }
    return readCopy(source, await readFile(path, 'utf8'), rules, []);
  } catch (cause) {
    const isAbsent = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const why = isAbsent ? 'there is no such file; expected a registry document in JSON' : explainCause(cause);
    return { problem: `${describeSource(source)} cannot be read: ${why}`, kind: 'missing' };
  }
}

function signalOf({ signal }: LoadOptions, timeoutMs: number): AbortSignal {
  const late = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? late : AbortSignal.any([signal, late]);
}
