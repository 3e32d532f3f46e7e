import { createHash } from 'node:crypto';
import { GatewayFault, isObject } from '@toolmgr/core';
import { createRemoteHttp, type RemoteAnswer, type RemoteHttp } from '../shared/safe-http/remote-http.ts';
import { type RegistryCredentials, registryCredentials } from './registry-credentials.ts';

/** A manifest or index with the digest of its bytes. */
export interface OciManifest {
  readonly digest: string;
  readonly bytes: Buffer;
  /** The parsed JSON object. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** Reads one repository of an OCI registry. What is read by digest has this digest. */
export interface OciClient extends AsyncDisposable {
  /** A manifest by tag or digest; `undefined` when there is none. @throws GatewayFault REMOTE_REFUSED or REMOTE_UNAVAILABLE */
  manifest(reference: string): Promise<OciManifest | undefined>;
  /** A blob by digest. @throws like {@link manifest} */
  blob(digest: string): Promise<Buffer>;
  /** Manifests that refer to another one; `undefined` when the registry has no such API. @throws like {@link manifest} */
  referrers(digest: string): Promise<readonly Readonly<Record<string, unknown>>[] | undefined>;
}

/** How a registry is reached. */
export interface OciOptions {
  /** Allows private addresses, and plain http at loopback addresses. */
  readonly allowPrivateAddresses: boolean;
  readonly signal: AbortSignal;
  readonly env?: NodeJS.ProcessEnv;
}

const MAX_BYTES = 4 * 1024 * 1024;
const REQUEST_MS = 15_000;
const MAX_REDIRECTS = 3;
const MANIFESTS = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

/**
 * Opens a repository. Credentials are those of `docker login` or `podman login`, and are sent to this registry and to the token
 * server that it names only.
 *
 * Source: OCI distribution specification 1.1; Docker registry token authentication.
 */
export function openRepository(registry: string, repository: string, options: OciOptions): OciClient {
  const host = registry === 'docker.io' ? 'registry-1.docker.io' : registry;
  // as engines do: a registry on this machine has no certificate
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(host);
  const { allowPrivateAddresses, signal } = options;
  const rules = { allowPrivateAddresses, allowHttp: isLocal && allowPrivateAddresses };
  const http = createRemoteHttp({ ...rules, timeoutMs: REQUEST_MS, maxBytes: MAX_BYTES });
  const base = `${isLocal ? 'http' : 'https'}://${host}/v2/${repository}`;
  let credentials: Promise<RegistryCredentials | undefined> | undefined;
  let authorization: string | undefined;
  const get = async (path: string, accept: string): Promise<RemoteAnswer> => {
    const send = (): Promise<RemoteAnswer> =>
      http.send(`${base}${path}`, {
        headers: { accept, ...(authorization === undefined ? {} : { authorization }) },
        signal,
        takesRedirect: true,
      });
    const first = await send();
    if (first.status !== 401 || authorization !== undefined) return followed(http, first, `${base}${path}`, signal);
    credentials ??= registryCredentials(registry, options.env);
    authorization = await authorizationFor(http, first, repository, await credentials, signal);
    return followed(http, await send(), `${base}${path}`, signal);
  };
  return {
    async manifest(reference) {
      const path = `/manifests/${reference}`;
      const answer = await get(path, MANIFESTS);
      if (answer.status === 404) return undefined;
      const digest = digestOf(bodyOf(answer, `${base}${path}`));
      if (reference.startsWith('sha256:') && digest !== reference)
        throw unavailable(`${base}${path}`, 'answered another manifest');
      return { digest, bytes: answer.body, value: http.json(answer, `${base}${path}`) };
    },
    async blob(digest) {
      const path = `/blobs/${digest}`;
      const bytes = bodyOf(await get(path, '*/*'), `${base}${path}`);
      if (digestOf(bytes) !== digest) throw unavailable(`${base}${path}`, 'answered another blob');
      return bytes;
    },
    async referrers(digest) {
      const path = `/referrers/${digest}`;
      const answer = await get(path, MANIFESTS);
      // registries without this API also answer 400, 403, 405 or an HTML page
      if (answer.status !== 200) return undefined;
      try {
        const { manifests } = http.json(answer, `${base}${path}`);
        return Array.isArray(manifests) ? manifests.filter(isObject) : undefined;
      } catch {
        return undefined;
      }
    },
    [Symbol.asyncDispose]: () => http.close(),
  };
}

/** Blobs are often at a storage service; it gets no credentials. */
async function followed(
  http: RemoteHttp,
  first: RemoteAnswer,
  from: string,
  signal: AbortSignal,
): Promise<RemoteAnswer> {
  let answer = first;
  let url = from;
  for (let step = 0; answer.status >= 300 && answer.status < 400; step++) {
    const { location } = answer.headers;
    if (step === MAX_REDIRECTS || typeof location !== 'string') throw unavailable(from, 'redirects without an end');
    url = new URL(location, url).href;
    answer = await http.send(url, { signal, takesRedirect: true });
  }
  return answer;
}

/** The header for a second try, from the challenge of the first. */
async function authorizationFor(
  http: RemoteHttp,
  { headers }: RemoteAnswer,
  repository: string,
  credentials: RegistryCredentials | undefined,
  signal: AbortSignal,
): Promise<string> {
  const challenge = String(headers['www-authenticate'] ?? '');
  const basic =
    credentials === undefined
      ? undefined
      : `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`;
  if (/^basic\b/i.test(challenge)) {
    if (basic === undefined)
      throw new GatewayFault('REMOTE_UNAVAILABLE', 'the registry asks for a login (docker login)');
    return basic;
  }
  const parameters = new Map(
    [...challenge.matchAll(/([a-z]+)="([^"]*)"/gi)].map(([, name = '', value = '']) => [name, value]),
  );
  const realm = parameters.get('realm');
  if (!/^bearer\b/i.test(challenge) || realm === undefined || !URL.canParse(realm)) {
    throw new GatewayFault('REMOTE_UNAVAILABLE', 'the registry asks for an authentication that is not known');
  }
  const url = new URL(realm);
  const service = parameters.get('service');
  if (service !== undefined) url.searchParams.set('service', service);
  url.searchParams.set('scope', `repository:${repository}:pull`);
  const answer = await http.send(url.href, { headers: basic === undefined ? {} : { authorization: basic }, signal });
  const { token, access_token: other } = http.json(answer, realm);
  const value = typeof token === 'string' ? token : other;
  if (typeof value === 'string' && /^[\x21-\x7e]+$/.test(value)) return `Bearer ${value}`;
  throw unavailable(realm, 'answered without a token');
}

function bodyOf({ status, body }: RemoteAnswer, url: string): Buffer {
  if (status === 200) return body;
  const hint = status === 401 || status === 403 ? ' (docker login gives access to private images)' : '';
  throw unavailable(url, `answered with status ${status}${hint}`);
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function unavailable(url: string, why: string): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `${new URL(url).origin}${new URL(url).pathname}: ${why}`);
}
