import { isObject, type JsonObject } from '@toolmgr/core';
import { request } from 'undici';
import type { BackendReport, BackendWord } from '../../shared/running/backend-report.ts';
import { UsageError } from '../../shared/usage-error.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** A gateway as its status pages describe it. */
export interface StatusPages {
  readonly name: string;
  readonly url: string;
  readonly version: string;
  readonly backends: readonly BackendReport[];
}

/**
 * Reads `/status` and `/api/backends/health` of a gateway, which may be on another machine. They show no tools and no error texts.
 * @throws UsageError when nothing answers there, or these pages are closed
 */
export async function fetchStatusPages(
  endpoint: string,
  headers: Readonly<Record<string, string>>,
): Promise<StatusPages> {
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) {
    throw new UsageError(`--url ${endpoint} is not an http(s) URL`);
  }
  const [status, health] = await Promise.all([
    readPage(new URL('/status', endpoint), headers),
    readPage(new URL('/api/backends/health', endpoint), headers),
  ]);
  const checked = isObject(health.backends) ? health.backends : {};
  const listed = Array.isArray(status.backends) ? status.backends.filter(isObject) : [];
  return {
    name: String(status.group_ref ?? ''),
    url: endpoint,
    version: String(status.version ?? ''),
    backends: listed.map((backend) => reportOf(backend, checked[String(backend.name)])),
  };
}

function reportOf(listed: JsonObject, checked: unknown): BackendReport {
  const { lastTransitionTime, lastErrorCategory } = isObject(checked) ? checked : {};
  const health = String(listed.health);
  const category = typeof lastErrorCategory === 'string' ? lastErrorCategory : health;
  const state = WORDS[health] ?? 'starting';
  return {
    name: String(listed.name),
    transport: String(listed.transport),
    state,
    tools: null,
    since: typeof lastTransitionTime === 'string' ? lastTransitionTime : null,
    ...(typeof listed.mcp_revision === 'string' ? { revision: listed.mcp_revision } : {}),
    health,
    ...(state === 'retrying' || state === 'failed'
      ? { error: { category, message: `it is ${health}`, fix: 'read the log of the gateway' } }
      : {}),
  };
}

const WORDS: Readonly<Record<string, BackendWord>> = {
  healthy: 'ready',
  degraded: 'ready',
  unhealthy: 'retrying',
  unauthenticated: 'failed',
};

async function readPage(url: URL, headers: Readonly<Record<string, string>>): Promise<JsonObject> {
  const { statusCode, body } = await request(url, {
    headers,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
  }).catch(() => {
    throw new UsageError(`nothing answers at ${url.origin}`);
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_ANSWER_BYTES) throw new UsageError(`${url} sends more than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk as Buffer);
  }
  if (statusCode === 401 || statusCode === 403) {
    throw new UsageError(
      `${url.origin} asks for the token of its status pages: --header "Authorization: Bearer …", or --token-env NAME`,
    );
  }
  try {
    const value: unknown = statusCode === 200 ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : undefined;
    if (isObject(value)) return value;
  } catch {
    // no status page
  }
  throw new UsageError(`${url.origin} serves no status pages (HTTP ${statusCode} at ${url.pathname})`);
}
