import { GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import type { RemoteAnswer, RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { plainUrl } from '@toolmgr/plugins/kit/safe-http/addresses';
import { MAX_ENTRIES, MAX_LISTING_BYTES } from './read-document.ts';
import { StatusFault } from './source-problem.ts';

const PAGE = 100;

/**
 * The latest version of every server of a registry server, as one document.
 *
 * Source: API of the official MCP registry, v0.1: `GET /v0.1/servers?cursor=&limit=&version=latest`.
 * @throws GatewayFault REMOTE_REFUSED or REMOTE_UNAVAILABLE
 */
export async function fetchListing(
  http: RemoteHttp,
  base: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<string> {
  const servers = await fetchPages(http, base, headers, {}, signal);
  return JSON.stringify({ servers, skills: await fetchSkills(http, base, headers, signal) });
}

/** Headers of each request. */
type Headers = Readonly<Record<string, string>>;

/**
 * The entries that a name can mean, as one document: the entry itself, or those that the server finds.
 * @throws GatewayFault like {@link fetchListing}
 */
export async function fetchEntryDocument(
  http: RemoteHttp,
  base: string,
  name: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<string> {
  const search = (text: string) => fetchPages(http, base, headers, { search: text }, signal);
  if (!name.includes('/')) return JSON.stringify({ servers: await search(name) });
  const url = `${base}/v0.1/servers/${encodeURIComponent(name)}/versions/latest`;
  const answer = await http.send(url, { headers: { accept: 'application/json', ...headers }, signal });
  const isMissing = answer.status === 404;
  const servers = isMissing ? await search(name.slice(name.indexOf('/') + 1)) : [objectOf(http, answer, url)];
  return JSON.stringify({ servers });
}

/** Skills of a registry server; none where the server does not have this extension of its API. */
async function fetchSkills(
  http: RemoteHttp,
  base: string,
  headers: Headers,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const skills: unknown[] = [];
  for (let page = 1; page <= MAX_SKILL_PAGES; page++) {
    const url = `${base}/v0.1/x/dev.toolmgr/skills?limit=${PAGE}&page=${page}`;
    const answer = await http.send(url, { headers: { accept: 'application/json', ...headers }, signal });
    if (answer.status >= 400 && answer.status < 500 && page === 1) return [];
    const { skills: found, metadata } = objectOf(http, answer, url);
    if (!Array.isArray(found)) throw unavailable(url, 'answered without a list of skills');
    if (skills.length + found.length > MAX_ENTRIES) throw unavailable(url, 'lists too many skills');
    skills.push(...found);
    const total = isObject(metadata) && typeof metadata.total === 'number' ? metadata.total : 0;
    if (found.length === 0 || skills.length >= total) return skills;
  }
  return skills;
}

const MAX_SKILL_PAGES = MAX_ENTRIES / PAGE;

function objectOf(http: RemoteHttp, answer: RemoteAnswer, url: string): JsonObject {
  if (answer.status !== 200) throw new StatusFault(url, answer.status);
  return http.json(answer, url);
}

async function fetchPages(
  http: RemoteHttp,
  base: string,
  headers: Headers,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<readonly unknown[]> {
  const servers: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let bytes = 0;
  do {
    const parameters = new URLSearchParams({ limit: String(PAGE), version: 'latest', ...query });
    if (cursor !== undefined) parameters.set('cursor', cursor);
    const url = `${base}/v0.1/servers?${parameters}`;
    const answer = await http.send(url, { headers: { accept: 'application/json', ...headers }, signal });
    bytes += answer.body.length;
    const page = objectOf(http, answer, url);
    if (!Array.isArray(page.servers)) throw unavailable(url, 'answered without a list of servers');
    if (bytes > MAX_LISTING_BYTES || servers.length + page.servers.length > MAX_ENTRIES)
      throw unavailable(url, 'lists too many servers');
    servers.push(...page.servers);
    cursor = nextCursor(page);
    if (cursor !== undefined && cursors.has(cursor)) throw unavailable(url, 'repeats a page of its list');
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return servers;
}

/** `nextCursor`, or `next_cursor` of older servers. */
function nextCursor({ metadata }: JsonObject): string | undefined {
  if (!isObject(metadata)) return undefined;
  const next = metadata.nextCursor ?? metadata.next_cursor;
  return typeof next === 'string' && next !== '' ? next : undefined;
}

function unavailable(url: string, why: string): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `${plainUrl(url)}: ${why}`);
}
