import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoopbackServer, loopbackServer } from './loopback-server.ts';

/** An image registry of a test in memory. */
export interface FakeRegistry extends LoopbackServer {
  /** `127.0.0.1:PORT`, for references. */
  readonly host: string;
  /** Stores a manifest, with a tag if given; returns its digest. */
  putManifest(manifest: object, tag?: string): string;
  /** Stores a blob; returns its digest. */
  putBlob(bytes: Buffer | string): string;
  /** Makes a tag lead to another manifest. */
  tag(name: string, digest: string): void;
  /** Replaces what is served for a digest, as a registry that lies. */
  corrupt(digest: string, bytes: string): void;
}

/** What the registry can do. */
export interface RegistryAbilities {
  /** Has the referrers API. */
  readonly referrers?: boolean;
  /** Asks for a token, with this login. */
  readonly login?: string;
  /** Serves blobs from another path, by a redirect. */
  readonly redirectsBlobs?: boolean;
}

const TOKEN = 'the-token';

/** Starts a registry. Source: OCI distribution specification 1.1. */
export async function startRegistry(abilities: RegistryAbilities = {}): Promise<FakeRegistry> {
  const contents = new Map<string, Buffer>();
  const tags = new Map<string, string>();
  const server = await loopbackServer((request, response) => {
    if (request.url?.startsWith('/token')) return sendToken(request, response, abilities);
    const stored = /^\/storage\/(.+)$/.exec(request.url ?? '')?.[1];
    if (stored !== undefined) {
      // a storage service must not get the token of the registry
      if (request.headers.authorization !== undefined) return void response.writeHead(400).end();
      return send(response, contents.get(stored));
    }
    const isAllowed = abilities.login === undefined || request.headers.authorization === `Bearer ${TOKEN}`;
    if (!isAllowed) {
      const challenge = `Bearer realm="http://${request.headers.host}/token",service="test"`;
      return void response.writeHead(401, { 'www-authenticate': challenge }).end();
    }
    const [, kind, reference = ''] = /^\/v2\/.+\/(manifests|blobs|referrers)\/(.+)$/.exec(request.url ?? '') ?? [];
    if (kind === 'referrers' && abilities.referrers === true) {
      return void response.end(JSON.stringify({ manifests: referrersOf(contents, reference) }));
    }
    if (kind === 'blobs' && abilities.redirectsBlobs === true) {
      return void response.writeHead(307, { location: `/storage/${reference}` }).end();
    }
    send(response, kind === 'referrers' ? undefined : contents.get(tags.get(reference) ?? reference));
  });
  const put = (bytes: Buffer): string => {
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    contents.set(digest, bytes);
    return digest;
  };
  return {
    ...server,
    host: `127.0.0.1:${server.port}`,
    putManifest(manifest, tag) {
      const digest = put(Buffer.from(JSON.stringify(manifest)));
      if (tag !== undefined) tags.set(tag, digest);
      return digest;
    },
    putBlob: (bytes) => put(Buffer.from(bytes)),
    tag: (name, digest) => void tags.set(name, digest),
    corrupt: (digest, bytes) => void contents.set(digest, Buffer.from(bytes)),
  };
}

function send(response: ServerResponse, bytes: Buffer | undefined): void {
  response.writeHead(bytes === undefined ? 404 : 200).end(bytes ?? '{}');
}

function sendToken(request: IncomingMessage, response: ServerResponse, { login }: RegistryAbilities): void {
  const isGood = request.headers.authorization === `Basic ${Buffer.from(login ?? '').toString('base64')}`;
  response.writeHead(isGood ? 200 : 401).end(JSON.stringify(isGood ? { token: TOKEN } : {}));
}

function referrersOf(contents: ReadonlyMap<string, Buffer>, digest: string): object[] {
  return [...contents].flatMap(([each, bytes]) => {
    try {
      const manifest = JSON.parse(bytes.toString()) as { readonly subject?: { readonly digest?: string } };
      return manifest.subject?.digest === digest
        ? [{ digest: each, mediaType: 'application/vnd.oci.image.manifest.v1+json' }]
        : [];
    } catch {
      return [];
    }
  });
}
