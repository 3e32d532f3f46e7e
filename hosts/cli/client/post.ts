import { isObject, type JsonObject, type JsonValue } from '@toolmgr/core';
import { type Dispatcher, request } from 'undici';
import { UsageError } from '../../shared/usage-error.ts';
import { createSseReader } from './sse-messages.ts';

const MAX_ANSWER_BYTES = 104_857_600;

/** One endpoint and how to reach it. */
export interface Endpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Dispatcher;
  /** Longest silence: until the head of an answer, and between two parts of it. */
  readonly timeoutMs: number;
}

/** What came back: HTTP status, session id, and the JSON-RPC response when there was one. */
export interface Posted {
  readonly status: number;
  readonly sessionId: string | undefined;
  readonly response: JsonObject | undefined;
  /** What `WWW-Authenticate` says. */
  readonly challenge: string | undefined;
}

/**
 * POSTs one JSON-RPC message and reads its answer, JSON or event stream. Messages before the response go to `onMessage`.
 * @throws UsageError when nothing answers, or too slowly, or no MCP
 */
export async function post(
  endpoint: Endpoint,
  headers: Readonly<Record<string, string>>,
  message: JsonObject,
  onMessage: (message: JsonObject) => void = () => {},
): Promise<Posted> {
  const answer = await send(endpoint, headers, message);
  const id = message.id;
  let response: JsonObject | undefined;
  const take = (text: string): void => {
    const value = parse(text);
    if (!isObject(value)) return;
    if (value.method !== undefined) onMessage(value);
    else if (value.id === id || value.id === null) response ??= value;
  };
  const isStream = String(answer.headers['content-type'] ?? '').startsWith('text/event-stream');
  await readText(answer.body, isStream ? createSseReader(take) : undefined, take, endpoint);
  const session = answer.headers['mcp-session-id'];
  const challenge = answer.headers['www-authenticate'];
  return {
    status: answer.statusCode,
    sessionId: typeof session === 'string' ? session : undefined,
    response,
    challenge: Array.isArray(challenge) ? challenge.join(', ') : challenge,
  };
}

async function send(
  { url, headers: own, dispatcher, timeoutMs }: Endpoint,
  headers: Readonly<Record<string, string>>,
  message: JsonObject,
): Promise<Dispatcher.ResponseData> {
  try {
    return await request(url, {
      method: 'POST',
      dispatcher,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
        ...own,
      },
      body: JSON.stringify(message),
    });
  } catch (cause) {
    throw unreachable(url, timeoutMs, cause);
  }
}

async function readText(
  body: Dispatcher.ResponseData['body'],
  stream: ((chunk: string) => void) | undefined,
  whole: (text: string) => void,
  { url, timeoutMs }: Endpoint,
): Promise<void> {
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += (chunk as Buffer).length;
      if (bytes > MAX_ANSWER_BYTES) throw new UsageError(`${url} answered more than ${MAX_ANSWER_BYTES} bytes`);
      const part = decoder.decode(chunk as Buffer, { stream: true });
      if (stream === undefined) text += part;
      else stream(part);
    }
  } catch (cause) {
    throw cause instanceof UsageError ? cause : unreachable(url, timeoutMs, cause);
  }
  if (stream === undefined) whole(text);
}

function unreachable(url: string, timeoutMs: number, cause: unknown): UsageError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ECONNREFUSED') {
    return new UsageError(
      `nothing answers at ${url}; start a gateway (toolmgr up FILE) or give its address with --url`,
    );
  }
  if (code.includes('TIMEOUT')) {
    return new UsageError(`${url} was silent for ${timeoutMs / 1000} s; --timeout 5m waits longer`);
  }
  return new UsageError(`${url} cannot be reached (${code === '' ? String(cause) : code})`);
}

function parse(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
