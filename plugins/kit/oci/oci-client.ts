import { createHash } from 'node:crypto';
import { GatewayFault, isObject, present } from '@toolmgr/core';
import { createRemoteHttp, type RemoteAnswer, type RemoteHttp, type RemoteRequest } from '../safe-http/remote-http.ts';
import { authorizationFor } from './registry-authorization.ts';
import { RegistryFault } from './registry-fault.ts';

/** A manifest or index with the digest of its bytes. */
export interface OciManifest {
  readonly digest: string;
  readonly bytes: Buffer;
  /** The parsed JSON object. */
  readonly value: Readonly<Record<string, unknown>>;
}

/** Reads manifests and blobs by digest, from a registry or from a layout on disk. What it returns has this digest. */
export interface OciReader {
  /** A manifest by tag or digest; `undefined` when there is none. @throws GatewayFault REMOTE_REFUSED or REMOTE_UNAVAILABLE */
  manifest(reference: string): Promise<OciManifest | undefined>;
  /** A blob by digest. `maxBytes` replaces the limit of 4 MiB. @throws like {@link manifest} */
  blob(digest: string, maxBytes?: number): Promise<Buffer>;
}

/** Reads and writes one repository of an OCI registry. */
export interface OciClient extends OciReader, AsyncDisposable {
  /** Manifests that refer to another one; `undefined` when the registry has no such API. @throws like {@link manifest} */
  referrers(digest: string): Promise<readonly Readonly<Record<string, unknown>>[] | undefined>;
  /** Stores a blob unless the registry has it. @throws like {@link manifest} */
  pushBlob(bytes: Buffer): Promise<void>;
  /**
   * Stores a manifest under a tag or its digest. `listsSubject`: the registry lists it among the referrers of its `subject`.
   * @throws like {@link manifest}
   */
  pushManifest(reference: string, bytes: Buffer, mediaType: string): Promise<{ readonly listsSubject: boolean }>;
}

/** How a registry is reached. */
export interface OciOptions {
  /** Allows private addresses, and plain http at loopback addresses. */
  readonly allowPrivateAddresses: boolean;
  readonly signal: AbortSignal;
  /** Asks for the right to push too. */
  readonly pushes?: boolean;
  /** Limit of manifests in bytes. Default 4 MiB. */
  readonly maxManifestBytes?: number;
  /** Where the logins of the user are. */
  readonly env: NodeJS.ProcessEnv;
}

const MAX_BYTES = 4 * 1024 * 1024;
const REQUEST_MS = 15_000;
const BLOB_MS = 300_000;
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
  const { allowPrivateAddresses, signal, maxManifestBytes = MAX_BYTES } = options;
  const rules = { allowPrivateAddresses, allowHttp: isLocal && allowPrivateAddresses };
  const http = createRemoteHttp({ ...rules, timeoutMs: REQUEST_MS, maxBytes: MAX_BYTES });
  const origin = `${isLocal ? 'http' : 'https'}://${host}`;
  const base = `${origin}/v2/${repository}`;
  let authorization: string | undefined;
  let asked: Promise<string> | undefined;
  const exchange = async (url: string, wanted: RemoteRequest): Promise<RemoteAnswer> => {
    const send = (): Promise<RemoteAnswer> => {
      const isSame = authorization !== undefined && new URL(url).origin === origin;
      const headers = { ...wanted.headers, ...(isSame ? { authorization } : {}) };
      return http.send(url, { ...wanted, headers, signal, takesRedirect: true });
    };
    const first = await send();
    if (first.status !== 401 || authorization !== undefined) return first;
    asked ??= authorizationFor(http, first, { registry, repository, ...options });
    authorization = await asked;
    return send();
  };
  const get = async (path: string, wanted: RemoteRequest): Promise<RemoteAnswer> => {
    const url = `${base}${path}`;
    return followed(http, await exchange(url, wanted), url, { ...wanted, signal });
  };
  return {
    async manifest(reference) {
      const path = `/manifests/${reference}`;
      const answer = await get(path, { headers: { accept: MANIFESTS }, maxBytes: maxManifestBytes });
      if (answer.status === 404) return undefined;
      const digest = digestOf(bodyOf(answer, `${base}${path}`));
      if (reference.startsWith('sha256:') && digest !== reference)
        throw unavailable(`${base}${path}`, 'answered another manifest');
      return { digest, bytes: answer.body, value: http.json(answer, `${base}${path}`) };
    },
    async blob(digest, maxBytes = MAX_BYTES) {
      const path = `/blobs/${digest}`;
      const wanted = { headers: { accept: '*/*' }, maxBytes, timeoutMs: BLOB_MS };
      const bytes = bodyOf(await get(path, wanted), `${base}${path}`);
      if (digestOf(bytes) !== digest) throw unavailable(`${base}${path}`, 'answered another blob');
      return bytes;
    },
    async referrers(digest) {
      const path = `/referrers/${digest}`;
      const answer = await get(path, { headers: { accept: MANIFESTS } });
      // registries without this API also answer 400, 403, 405 or an HTML page
      if (answer.status !== 200) return undefined;
      try {
        const { manifests } = http.json(answer, `${base}${path}`);
        return Array.isArray(manifests) ? manifests.filter(isObject) : undefined;
      } catch {
        return undefined;
      }
    },
    async pushBlob(bytes) {
      const digest = digestOf(bytes);
      const known = await exchange(`${base}/blobs/${digest}`, { method: 'HEAD', headOnly: true });
      if (known.status === 200) return;
      const begun = await exchange(`${base}/blobs/uploads/`, { method: 'POST' });
      const { location } = begun.headers;
      if (begun.status !== 202 || typeof location !== 'string') throw refused(begun, `${base}/blobs/uploads/`);
      const url = new URL(location, base);
      url.searchParams.set('digest', digest);
      const stored = await exchange(url.href, {
        method: 'PUT',
        headers: { 'content-type': 'application/octet-stream' },
        body: bytes,
        timeoutMs: BLOB_MS,
      });
      if (stored.status !== 201) throw refused(stored, url.href);
    },
    async pushManifest(reference, bytes, mediaType) {
      const url = `${base}/manifests/${reference}`;
      const headers = { 'content-type': mediaType };
      const answer = await exchange(url, { method: 'PUT', headers, body: bytes });
      if (answer.status !== 201) throw refused(answer, url);
      return { listsSubject: answer.headers['oci-subject'] !== undefined };
    },
    [Symbol.asyncDispose]: () => http.close(),
  };
}

/** Blobs are often at a storage service; it gets no credentials. */
async function followed(
  http: RemoteHttp,
  first: RemoteAnswer,
  from: string,
  { signal, maxBytes, timeoutMs }: RemoteRequest,
): Promise<RemoteAnswer> {
  let answer = first;
  let url = from;
  for (let step = 0; answer.status >= 300 && answer.status < 400; step++) {
    const { location } = answer.headers;
    if (step === MAX_REDIRECTS || typeof location !== 'string' || !URL.canParse(location, url))
      throw unavailable(from, 'redirects without an end');
    url = new URL(location, url).href;
    answer = await http.send(url, {
      takesRedirect: true,
      ...present({ signal, maxBytes, timeoutMs }),
    });
  }
  return answer;
}

function bodyOf(answer: RemoteAnswer, url: string): Buffer {
  if (answer.status === 200) return answer.body;
  throw refused(answer, url);
}

function refused({ status }: RemoteAnswer, url: string): RegistryFault {
  const hint = status === 401 || status === 403 ? ' (docker login gives access to private images)' : '';
  return new RegistryFault(status, `${plain(url)}: answered with status ${status}${hint}`);
}

/** The digest of bytes: `sha256:` and 64 hex digits. */
export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function unavailable(url: string, why: string): GatewayFault {
  return new GatewayFault('REMOTE_UNAVAILABLE', `${plain(url)}: ${why}`);
}

function plain(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
