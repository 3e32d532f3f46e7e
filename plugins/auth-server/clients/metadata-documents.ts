import { GatewayFault, networkOf } from '@toolmgr/core';
import { type ConnectRules, createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { LRUCache } from 'lru-cache';
import { type ClientMetadata, invalidMetadata, isRefusal, type MetadataRefusal } from './client-metadata.ts';
import type { ClientScopes } from './client-scopes.ts';
import { readDocument } from './metadata-document.ts';
import { unambiguousObject } from './unambiguous-object.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 10 * 1024;
const MAX_STALE_MS = 24 * 3_600_000; // a known document is used while its server is away
const RETRY_MS = 60_000; // between two fetches from a server that is away
const MAX_FETCHES = 32; // at one time
const MAX_FETCHES_PER_NETWORK = 4; // for requests of one network at one time

/** Clients that are known by the URL of a metadata document (CIMD). */
export interface MetadataDocuments {
  /**
   * The metadata of a client, or why it is refused. Concurrent requests share one fetch; refusals are not cached. While the
   * document cannot be fetched a cached one is used for another day: otherwise clients could not refresh their tokens.
   * `address`: of the connection that asks, for its share of fetches.
   */
  find(id: string, address: string | undefined): Promise<ClientMetadata | MetadataRefusal>;
  close(): Promise<void>;
}

/** What {@link createMetadataDocuments} needs. */
export interface DocumentRules {
  readonly scopes: ClientScopes;
  readonly ttlMs: number;
  readonly maxDocuments: number;
  /** Documents with a loopback address are fetched, because the issuer has one too. */
  readonly allowsLoopback: boolean;
  now(): number;
  /** Called when a document cannot be fetched. */
  failed(id: string, fault: GatewayFault): void;
  /** For tests: certificates and name resolution. */
  readonly connect?: Pick<ConnectRules, 'ca' | 'lookup'>;
}

interface CachedDocument {
  readonly metadata: ClientMetadata;
  readonly freshUntilMs: number;
  readonly usableUntilMs: number;
}

/** The owner took the document away, which ends the client. */
const GONE = new Set([404, 410]);
const NO_DOCUMENT = invalidMetadata('the URL has no JSON object without repeated members');

/** Creates the cache. It connects on the first request. */
export function createMetadataDocuments(rules: DocumentRules): MetadataDocuments {
  const { scopes, ttlMs, maxDocuments, allowsLoopback, now } = rules;
  const http = createRemoteHttp({
    ...rules.connect,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    allowLoopback: allowsLoopback,
    ...(allowsLoopback ? { allowHttp: 'loopback' as const } : {}),
  });
  const cached = new LRUCache<string, CachedDocument>({ max: maxDocuments });
  const inFlight = new Map<string, Promise<ClientMetadata | MetadataRefusal>>();
  const fetches = new Map<string, number>();

  const load = async (id: string): Promise<ClientMetadata | MetadataRefusal> => {
    const answer = await http.send(id, { headers: { accept: 'application/json', 'user-agent': 'toolmgr' } });
    const { status } = answer;
    if (status !== 200 && !GONE.has(status))
      throw new GatewayFault('REMOTE_UNAVAILABLE', `status ${status}, expected 200`);
    const document = status === 200 ? unambiguousObject(answer.body) : undefined;
    const metadata = document === undefined ? NO_DOCUMENT : readDocument(id, document, scopes);
    if (isRefusal(metadata)) cached.delete(id);
    else cached.set(id, { metadata, freshUntilMs: now() + ttlMs, usableUntilMs: now() + ttlMs + MAX_STALE_MS });
    return metadata;
  };
  /** A cached document whose server is away. */
  const stale = (id: string): ClientMetadata | undefined => {
    const known = cached.get(id);
    if (known === undefined || now() >= known.usableUntilMs) return undefined;
    cached.set(id, { ...known, freshUntilMs: now() + RETRY_MS });
    return known.metadata;
  };
  const loadOnce = async (id: string, network: string): Promise<ClientMetadata | MetadataRefusal> => {
    fetches.set(network, (fetches.get(network) ?? 0) + 1);
    try {
      return await load(id);
    } catch (cause) {
      if (!(cause instanceof GatewayFault)) throw cause;
      // the client is not told why: it may be an attacker who looks for addresses behind this server
      rules.failed(id, cause);
      return stale(id) ?? { ...invalidMetadata('the document cannot be fetched'), isTemporary: true };
    } finally {
      inFlight.delete(id);
      const left = (fetches.get(network) ?? 1) - 1;
      if (left === 0) fetches.delete(network);
      else fetches.set(network, left);
    }
  };
  return {
    async find(id, address) {
      const known = cached.get(id);
      if (known !== undefined && known.freshUntilMs > now()) return known.metadata;
      const running = inFlight.get(id);
      if (running !== undefined) return running;
      const network = networkOf(address);
      if (inFlight.size >= MAX_FETCHES || (fetches.get(network) ?? 0) >= MAX_FETCHES_PER_NETWORK) {
        return { ...invalidMetadata('too many documents are being fetched'), isTemporary: true };
      }
      const fetching = loadOnce(id, network);
      inFlight.set(id, fetching);
      return fetching;
    },
    close: () => http.close(),
  };
}
