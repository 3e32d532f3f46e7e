import { GatewayFault, type JsonObject, readCaBundle } from '@toolmgr/core';
import { createRemoteHttp, jsonBody, type RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { plainUrl, type UrlRules } from '@toolmgr/plugins/kit/safe-http/addresses';
import type { CustomFetch } from 'openid-client';
import type { UpstreamConfig } from '../config.ts';
import { isShallow } from '../shallow.ts';
import { addressRules } from './provider-urls.ts';

/** Requests to one provider: by its rules for addresses, without redirects, with bounds of time and size. */
export type ProviderHttp = Pick<RemoteHttp, 'send' | 'close'>;

const TIMEOUT_MS = 15_000; // one request
const MAX_BYTES = 1024 * 1024; // one response

/** Creates the HTTP client of a provider. @throws GatewayFault for a CA bundle that cannot be read */
export function createProviderHttp(
  provider: UpstreamConfig,
  { followsWithinOrigin = false }: { readonly followsWithinOrigin?: boolean } = {},
): ProviderHttp {
  const { name, caBundlePath } = provider;
  const rulesOf = addressRules(provider);
  const ca = caBundlePath === undefined ? {} : { ca: readCaBundle(caBundlePath, `upstream ${name}: caBundlePath`) };
  const clients = new Map<UrlRules, RemoteHttp>();
  const clientFor = (url: string): RemoteHttp => {
    const rules = rulesOf(url);
    const client =
      clients.get(rules) ??
      createRemoteHttp({ ...rules, ...ca, followsWithinOrigin, timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES });
    clients.set(rules, client);
    return client;
  };
  return {
    async send(url, wanted = {}) {
      try {
        return await clientFor(url).send(url, { ...wanted, headers: { 'user-agent': 'toolmgr', ...wanted.headers } });
      } catch (cause) {
        if (!(cause instanceof GatewayFault)) throw cause;
        const advice = cause.message.includes(' leads to ')
          ? ` (allowPrivateAddresses of this upstream allows it)`
          : '';
        throw new GatewayFault(cause.code, `upstream ${name}: ${cause.message}${advice}`);
      }
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/**
 * The body of an answer as an object: JSON, or a form as some token endpoints answer.
 * @throws GatewayFault REMOTE_UNAVAILABLE, without the body
 */
export function objectIn(answer: Awaited<ReturnType<ProviderHttp['send']>>, url: string): JsonObject {
  const type = String(answer.headers['content-type'] ?? '');
  if (type.startsWith('application/x-www-form-urlencoded')) {
    return Object.fromEntries(new URLSearchParams(answer.body.toString('utf8')));
  }
  const body = jsonBody(answer, url);
  if (isShallow(body)) return body;
  throw new GatewayFault('REMOTE_UNAVAILABLE', `${plainUrl(url)}: answered with JSON that is nested too deeply`);
}

/**
 * The fetch function of the library. `read` selects the members of a successful answer, so that the library gets no others. Of an
 * unsuccessful answer it gets the status and the error code: the texts and headers of providers reach no message.
 */
export function libraryFetch(
  http: ProviderHttp,
  signal: AbortSignal,
  read: (body: JsonObject, url: string) => JsonObject,
): CustomFetch {
  return async (url, { method, headers, body, signal: timeout }) => {
    const answer = await http.send(url, {
      method: method === 'POST' ? 'POST' : 'GET',
      headers,
      ...(body === undefined || body === null ? {} : { body: String(body) }),
      signal: timeout === undefined ? signal : AbortSignal.any([signal, timeout]),
    });
    if (answer.status === 200 && answer.body.length === 0 && method === 'POST') return new Response(null); // revocation
    if (answer.status === 200) {
      const found = objectIn(answer, url);
      // some token endpoints report errors with status 200
      const isError = typeof found.error === 'string' && typeof found.access_token !== 'string';
      return isError ? errorAnswer(400, found) : Response.json(read(found, url));
    }
    return errorAnswer(answer.status, errorBody(answer, url));
  };
}

function errorAnswer(status: number, { error }: JsonObject): Response {
  const body = typeof error === 'string' ? { error } : {};
  return Response.json(body, { status: status > 199 && status < 600 && !BODILESS.has(status) ? status : 502 });
}

const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

function errorBody(answer: Awaited<ReturnType<ProviderHttp['send']>>, url: string): JsonObject {
  try {
    return objectIn(answer, url);
  } catch {
    return {};
  }
}
