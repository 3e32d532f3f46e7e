import { linesOf } from './lines.ts';
import type { Json, Listed, McpAnswer, Progress } from './mcp-shapes.ts';
import { ApiProblem, problemFrom } from './problem.ts';
import { token } from './session.ts';

/** Where requests go. `bearer`: an access token for the endpoint itself, instead of the token of the page. */
export interface McpTarget {
  readonly path: string;
  readonly bearer?: string;
}

/**
 * Sends one request as MCP 2026-07-28: without a session, the facts of the client in `_meta`.
 * @throws ApiProblem when there is no JSON-RPC answer; 401 when the endpoint wants another token
 */
export async function sendMcp(
  target: McpTarget,
  method: string,
  params: Json,
  signal?: AbortSignal,
  onProgress?: (progress: Progress) => void,
): Promise<McpAnswer> {
  const meta = onProgress === undefined ? META : { ...META, progressToken: PROGRESS_TOKEN };
  const name = params.name ?? params.uri;
  const answer = await fetched(target.path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': headerValue(name) } : {}),
      ...bearerOf(target),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } }),
    signal: signal ?? null,
    redirect: 'error',
  });
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream || answer.body === null) return messageFrom(answer.status, await answer.text());
  for await (const line of linesOf(answer.body, MAX_LINE)) {
    if (!line.startsWith('data:')) continue;
    const message = parsed(line.slice(5));
    if (message !== undefined && ('result' in message || 'error' in message)) return message as unknown as McpAnswer;
    const told = message?.method === 'notifications/progress' ? progressOf(message.params) : undefined;
    if (told !== undefined) onProgress?.(told);
  }
  throw new ApiProblem('The endpoint ended its answer too early.', 0, 'unreachable');
}

/** All entries of a list: `tools/list` and the like. */
export async function listAll(
  target: McpTarget,
  method: string,
  member: string,
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const all: Listed[] = [];
  let cursor: unknown;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await sendMcp(target, method, cursor === undefined ? {} : { cursor }, signal);
    if ('error' in answer) throw new ApiProblem(answer.error.message, 200, 'mcp');
    const { [member]: entries, nextCursor } = answer.result;
    if (Array.isArray(entries)) all.push(...(entries as Listed[]));
    if (nextCursor === undefined) break;
    cursor = nextCursor;
  }
  return all;
}

const REVISION = '2026-07-28';
const MAX_LINE = 64 * 1024 * 1024; // characters of one answer
const MAX_PAGES = 100;
const PROGRESS_TOKEN = 'page';
const META: Json = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {}, url: {} } },
  'io.modelcontextprotocol/clientInfo': { name: 'toolmgr page', version: '1' },
};

function progressOf(params: unknown): Progress | undefined {
  const { progressToken, progress, total, message } = (params ?? {}) as Json;
  if (progressToken !== PROGRESS_TOKEN || typeof progress !== 'number') return undefined;
  return {
    progress,
    ...(typeof total === 'number' ? { total } : {}),
    ...(typeof message === 'string' ? { message } : {}),
  };
}

async function fetched(path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(path, { ...init, credentials: 'same-origin' });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiProblem('The endpoint does not answer. Is the host still running?', 0, 'unreachable');
  }
}

function bearerOf({ bearer = token.value }: McpTarget): Record<string, string> {
  return bearer === '' ? {} : { authorization: `Bearer ${bearer}` };
}

function messageFrom(status: number, text: string): McpAnswer {
  const message = parsed(text);
  if (status !== 401 && message !== undefined && ('result' in message || isError(message.error))) {
    return message as unknown as McpAnswer;
  }
  throw problemFrom(status, text);
}

function isError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error;
}

function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Json) : undefined;
  } catch {
    return undefined;
  }
}

/** A text as a header: itself, or in base64 when it has other characters (MCP 2026-07-28, header value encoding). */
function headerValue(text: string): string {
  if (/^[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text)) return text;
  const bytes = new TextEncoder().encode(text);
  return `=?base64?${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}?=`;
}
