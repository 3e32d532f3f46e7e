import { GatewayFault, networkOf } from '@toolmgr/core';
import { LRUCache } from 'lru-cache';
import type { ConnectRules } from '../../shared/safe-http/guarded-connector.ts';
import { createRemoteHttp } from '../../shared/safe-http/remote-http.ts';
import { type ClientMetadata, invalidMetadata, isRefusal, type MetadataRefusal } from './client-metadata.ts';
import type { ClientScopes } from './client-scopes.ts';
import { readDocument } from './metadata-document.ts';
import { unambiguousObject } from './unambiguous-object.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 10 * 1024;
const MAX_FETCHES = 32; // at one time
const MAX_FETCHES_PER_NETWORK = 4; // for requests of one network at one time

/** Clients that are known by the URL of a metadata document (CIMD). */
export interface MetadataDocuments {
  /**
   * The metadata of a client, or why it is refused. Concurrent requests share one fetch; refusals are not cached.
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
  const cached = new LRUCache<string, { readonly metadata: ClientMetadata; readonly untilMs: number }>({
    max: maxDocuments,
  });
  const inFlight = new Map<string, Promise<ClientMetadata | MetadataRefusal>>();
  const fetches = new Map<string, number>();

  const load = async (id: string): Promise<ClientMetadata | MetadataRefusal> => {
    const answer = await http.send(id, { headers: { accept: 'application/json', 'user-agent': 'toolmgr' } });
    if (answer.status !== 200)
      return invalidMetadata(`the document answers with status ${answer.status}, expected 200`);
    const document = unambiguousObject(answer.body);
    if (document === undefined) return invalidMetadata('the document is not one JSON object with members that differ');
    const metadata = readDocument(id, document, scopes);
    if (!isRefusal(metadata)) cached.set(id, { metadata, untilMs: now() + ttlMs });
    return metadata;
  };
  const loadOnce = async (id: string, network: string): Promise<ClientMetadata | MetadataRefusal> => {
    fetches.set(network, (fetches.get(network) ?? 0) + 1);
    try {
      return await load(id);
    } catch (cause) {
      if (!(cause instanceof GatewayFault)) throw cause;
      // the client is not told why: it may be an attacker who looks for addresses behind this server
      rules.failed(id, cause);
      return invalidMetadata('the document cannot be fetched');
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
      if (known !== undefined && known.untilMs > now()) return known.metadata;
      const running = inFlight.get(id);
      if (running !== undefined) return running;
      const network = networkOf(address);
      if (inFlight.size >= MAX_FETCHES || (fetches.get(network) ?? 0) >= MAX_FETCHES_PER_NETWORK) {
        return invalidMetadata('too many documents are being fetched; try again in a few seconds');
      }
      const fetching = loadOnce(id, network);
      inFlight.set(id, fetching);
      return fetching;
    },
    close: () => http.close(),
  };
}
