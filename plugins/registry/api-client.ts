import { GatewayFault, isObject, type JsonObject } from '@toolmgr/core';
import { plainUrl, type RemoteHttp } from '../shared/safe-http/remote-http.ts';
import { MAX_DOCUMENT_BYTES, MAX_ENTRIES } from './read-document.ts';

const PAGE = 100;

/**
 * The latest version of every server of a registry server, as one document.
 *
 * Source: API of the official MCP registry, v0.1: `GET /v0.1/servers?cursor=&limit=&version=latest`.
 * @throws GatewayFault REMOTE_REFUSED or REMOTE_UNAVAILABLE
 */
export async function fetchListing(http: RemoteHttp, base: string, signal: AbortSignal): Promise<string> {
  return fetchPages(http, base, {}, signal);
}

/**
 * The entries that a name can mean, as one document: the entry itself, or those that the server finds.
 * @throws GatewayFault like {@link fetchListing}
 */
export async function fetchEntryDocument(
  http: RemoteHttp,
  base: string,
  name: string,
  signal: AbortSignal,
): Promise<string> {
  if (!name.includes('/')) return fetchPages(http, base, { search: name }, signal);
  const url = `${base}/v0.1/servers/${encodeURIComponent(name)}/versions/latest`;
  const answer = await http.send(url, { headers: { accept: 'application/json' }, signal });
  if (answer.status === 404) return fetchPages(http, base, { search: name.slice(name.indexOf('/') + 1) }, signal);
  return JSON.stringify({ servers: [http.json(answer, url)] });
}

async function fetchPages(
  http: RemoteHttp,
  base: string,
  query: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  const servers: unknown[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let bytes = 0;
  do {
    const parameters = new URLSearchParams({ limit: String(PAGE), version: 'latest', ...query });
    if (cursor !== undefined) parameters.set('cursor', cursor);
    const url = `${base}/v0.1/servers?${parameters}`;
    const answer = await http.send(url, { headers: { accept: 'application/json' }, signal });
    bytes += answer.body.length;
    const page: JsonObject = http.json(answer, url);
    if (!Array.isArray(page.servers)) throw unavailable(url, 'answered without a list of servers');
    servers.push(...page.servers);
    if (bytes > MAX_DOCUMENT_BYTES || servers.length > MAX_ENTRIES) throw unavailable(url, 'lists too many servers');
    cursor = nextCursor(page);
    if (cursor !== undefined && cursors.has(cursor)) throw unavailable(url, 'repeats a page of its list');
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return JSON.stringify({ servers });
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
