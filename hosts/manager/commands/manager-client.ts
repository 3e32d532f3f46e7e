import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { explainCause } from '@toolmgr/core';
import { UsageError } from '../../shared/usage-error.ts';
import type { Discovery } from '../server-files/discovery-file.ts';
import { openToken } from '../server-files/token-file.ts';

/** An answer of a manager. */
export interface ManagerAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Sends a request to a manager, with its token. */
export type AskManager = (
  method: string,
  path: string,
  given: { readonly body?: unknown; readonly signal?: AbortSignal | undefined },
) => Promise<ManagerAnswer>;

const HEALTH_MS = 5_000;
const ANSWER_MS = 720_000; // longer than the limit of long operations

/** The manager that a discovery file names; `undefined` when it does not run. @throws UsageError when its token is not safe */
export async function runningManager(found: Discovery, state: string): Promise<AskManager | undefined> {
  const health = await send(found.url, { method: 'GET', path: '/health', limitMs: HEALTH_MS }).catch(() => undefined);
  // the file may be of a killed manager, and another program may have its port: it must not get the token
  if (health?.headers['x-toolmgr-nonce'] !== found.nonce) return undefined;
  const token = found.url.startsWith('http') ? await openToken(state) : undefined;
  return (method, path, given) =>
    send(found.url, { method, path, ...given, token, limitMs: ANSWER_MS }).catch((cause: unknown) => {
      throw new UsageError(`the manager at ${found.url} did not answer: ${explainCause(cause)}`);
    });
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limitMs: number;
}

async function send(url: string, { method, path, body, token, signal, limitMs }: Sent): Promise<ManagerAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const late = AbortSignal.timeout(limitMs);
  const ends = signal === undefined ? late : AbortSignal.any([signal, late]);
  const place = url.startsWith('unix://') ? { socketPath: url.slice('unix://'.length) } : urlParts(url);
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const sent = request({ ...place, method, path, headers, agent: false, signal: ends }, resolve);
  sent.once('error', reject).end(body === undefined ? undefined : JSON.stringify(body));
  const answer = await promise;
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: await text(answer) };
}

function urlParts(url: string): { readonly hostname: string; readonly port: string } {
  const { hostname, port } = new URL(url);
  return { hostname: hostname.replace(/^\[|\]$/g, ''), port: port || '80' };
}
