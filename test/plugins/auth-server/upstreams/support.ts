import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { JsonObject } from '@toolmgr/core';
import { onTestFinished } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import type { AuthStorage } from '../../../../plugins/auth-server/storage/storage.ts';
import { upstreamProviders } from '../../../../plugins/auth-server/upstreams/config.ts';
import { createUpstreams } from '../../../../plugins/auth-server/upstreams/create-upstreams.ts';
import type { Upstream, UpstreamGrant, UpstreamLeg } from '../../../../plugins/auth-server/upstreams/upstream.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { pluginCore } from '../../../support/plugin-core.ts';

export const GATEWAY = 'https://gateway.example';
export const CALLBACK = `${GATEWAY}/oauth/callback`;

/** Every line that was logged. */
export type LogLines = string[];

export interface UpstreamOptions {
  readonly storage?: AuthStorage;
  readonly environment?: NodeJS.ProcessEnv;
  readonly log?: LogLines;
  readonly now?: () => number;
}

/** The upstream of one provider's configuration. Loopback addresses are allowed unless the provider says otherwise. */
export async function upstreamOf(provider: JsonObject, options: UpstreamOptions = {}): Promise<Upstream> {
  const { environment = {}, log = [], now = Date.now } = options;
  const storage = options.storage ?? createMemoryStorage(now);
  const { slots } = pluginCore(environment);
  const line = (message: string, fields?: JsonObject): void => void log.push(`${message} ${JSON.stringify(fields)}`);
  const [upstream] = await createUpstreams(
    upstreamProviders.parse([{ name: 'corp', allowPrivateAddresses: true, ...provider }]),
    {
      slots,
      storage,
      now,
      log: { debug: line, info: line, warn: line, error: line },
      issuer: GATEWAY,
      resourceUrl: GATEWAY,
    },
  );
  if (upstream === undefined) throw new Error('no upstream');
  onTestFinished(() => upstream.close());
  return upstream;
}

export const soon = (): AbortSignal => AbortSignal.timeout(20_000);

export function newLeg(): UpstreamLeg {
  const text = () => randomBytes(32).toString('base64url');
  return { state: text(), nonce: text(), codeVerifier: text() };
}

/** Signs in as a browser that follows redirects does, up to the callback, and exchanges the answer. */
export async function signIn(upstream: Upstream, leg = newLeg()): Promise<UpstreamGrant> {
  return upstream.exchange(await callbackOf(await upstream.authorizationUrl(leg, soon())), leg, soon());
}

/** The query with which a provider sends the browser back. */
export async function callbackOf(authorizationUrl: string): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  let url = authorizationUrl;
  for (let hops = 0; hops < 12; hops++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`no redirect from ${url}: ${answer.status} ${await answer.text()}`);
    url = new URL(location, url).href;
    if (url.startsWith(`${CALLBACK}?`)) return new URL(url).searchParams;
  }
  throw new Error('too many redirects');
}

/** One request to a scripted provider. */
export interface Got {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  readonly form: URLSearchParams;
  readonly response: ServerResponse;
}

/** An HTTP server whose answers a test writes: by path, an object is sent as JSON. */
export async function scriptedProvider(
  answers: Readonly<Record<string, (got: Got) => unknown>>,
): Promise<{ readonly url: string; readonly got: Got[] }> {
  const all: Got[] = [];
  const server = await loopbackServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const [path = ''] = (request.url ?? '').split('?');
    const { method = '', headers } = request;
    const got = { method, path, headers, body, form: new URLSearchParams(body), response };
    all.push(got);
    const answer = await answers[path]?.(got);
    if (response.headersSent) return;
    if (answer === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { url: server.url, got: all };
}
