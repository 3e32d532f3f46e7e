import { Buffer } from 'node:buffer';
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { LIMITS } from '../limits.ts';
import type { GitJob } from './git-job.ts';

/** The transport of isomorphic-git over the client that refuses private addresses. */
export interface GitTransport extends HttpClient, AsyncDisposable {}

const MAX_REDIRECTS = 3;

/**
 * Sends the requests for one repository. A redirect of the first request is followed within the origin, as servers do for renamed
 * repositories; the list of refs is read once.
 */
export function gitTransport(job: GitJob): GitTransport {
  const { allowPrivateAddresses } = job;
  const http = createRemoteHttp({
    allowPrivateAddresses,
    ...(allowPrivateAddresses ? { allowHttp: 'loopback' } : {}),
    timeoutMs: LIMITS.gitMs,
    maxBytes: LIMITS.gitPackBytes,
  });
  const { origin } = new URL(job.url);
  let base = job.url;
  let refs: GitHttpResponse | undefined;
  let isAuthorized = false;
  const send = async (wanted: GitHttpRequest): Promise<GitHttpResponse> => {
    const body = wanted.body === undefined ? undefined : await joined(wanted.body);
    const { method = 'GET' } = wanted;
    const headers = Object.fromEntries(
      Object.entries(wanted.headers ?? {}).filter(([name]) => name.toLowerCase() !== 'authorization'),
    );
    const isPost = method === 'POST';
    for (let step = 0; ; step++) {
      const url = `${base}${wanted.url.slice(job.url.length)}`;
      const {
        status,
        headers: answered,
        body: bytes,
      } = await http.send(url, {
        method: isPost ? 'POST' : 'GET',
        headers: { ...headers, ...(isAuthorized && job.authorization ? { authorization: job.authorization } : {}) },
        ...(body === undefined ? {} : { body }),
        takesRedirect: true,
      });
      if (status === 401 && !isAuthorized && job.authorization !== undefined) {
        isAuthorized = true;
        continue;
      }
      const moved = status >= 300 && status < 400 && !isPost && step < MAX_REDIRECTS ? answered.location : undefined;
      if (typeof moved === 'string') {
        base = movedBase(moved, url, origin);
        continue;
      }
      return {
        url,
        method,
        statusCode: status,
        statusMessage: String(status),
        headers: Object.fromEntries(Object.entries(answered).map(([name, value]) => [name, String(value)])),
        body: [bytes] as unknown as AsyncIterableIterator<Uint8Array>,
      };
    }
  };
  return {
    async request(wanted) {
      if (wanted.method === 'POST') return send(wanted);
      refs ??= await send(wanted);
      return refs;
    },
    [Symbol.asyncDispose]: () => http.close(),
  };
}

const REFS = '/info/refs';

function movedBase(location: string, from: string, origin: string): string {
  const url = URL.parse(location, from);
  if (url === null || url.origin !== origin || !url.pathname.endsWith(REFS))
    throw Object.assign(new Error('redirects'), { code: 'GIT_REDIRECT' });
  return `${url.origin}${url.pathname.slice(0, -REFS.length)}`;
}

async function joined(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}
