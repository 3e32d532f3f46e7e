import { isObject, parsedJson } from '@toolmgr/core';
import { request } from 'undici';
import { UsageError } from '../../shared/usage-error.ts';
import type { Explanation } from '../running/explain.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * Asks a running gateway about a tool. Only gateways bound to loopback answer, and only when their callers need no token.
 * @throws UsageError when nothing answers there, or something else does
 */
export async function fetchExplanation(tool: string, endpoint: string): Promise<Explanation> {
  if (!URL.canParse(endpoint)) throw new UsageError(`--url ${endpoint} is not a URL`);
  const url = new URL('/api/explain', endpoint);
  url.searchParams.set('tool', tool);
  const { statusCode, body } = await request(url, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS }).catch(() => {
    throw new UsageError(
      `nothing answers at ${url.origin}; start a gateway with toolmgr vmcp serve, or give a file with -c FILE`,
    );
  });
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_ANSWER_BYTES) break;
    chunks.push(chunk as Buffer);
  }
  const told = statusCode === 200 ? parsedJson(Buffer.concat(chunks).toString('utf8')) : undefined;
  if (isExplanation(told)) return told;
  if (statusCode === 401) {
    throw new UsageError(`${url.origin} asks for the token of its status pages; ask the file it serves: -c FILE`);
  }
  throw new UsageError(
    `${url.origin} does not explain tools; only vmcp gateways bound to loopback, whose callers need no token, do. With the file it serves: -c FILE`,
  );
}

function isExplanation(value: unknown): value is Explanation {
  return isObject(value) && typeof value.found === 'boolean' && Array.isArray(value.suggestions);
}
