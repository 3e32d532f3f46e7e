import { type GatewayFault, type JsonObject, type Log, type RouteAnswer, throttledLine } from '@toolmgr/core';
import type { Report } from '../report.ts';
import type { AuthStorage } from '../storage/storage.ts';
import { createAddressLimit } from './address-limit.ts';
import { isRefusal } from './client-metadata.ts';
import { clientScopes } from './client-scopes.ts';
import type { ClientsConfig } from './config.ts';
import { isDocumentUrl } from './metadata-document.ts';
import { createMetadataDocuments, type DocumentRules } from './metadata-documents.ts';
import { createRegisteredClients } from './registered-clients.ts';
import { registrationEndpoint } from './registration-endpoint.ts';

const REGISTRATION_BURST = 20; // a company behind one address; Claude registers twice for each attempt
const REGISTRATIONS_PER_SECOND = 1;

/** The clients of the authorization server that its configuration does not name. */
export interface Clients {
  /** Answers `POST /oauth/register`. */
  readonly register: RouteAnswer;
  /** Whether clients may have a secret, for the metadata of the server. */
  readonly allowsSecrets: boolean;
  /** Whether URLs of metadata documents are client ids, for the metadata of the server. */
  readonly allowsDocuments: boolean;
  /**
   * A client by its id: metadata of RFC 7591 with `client_id`; `client_secret` is the SHA-256 of the secret. `undefined` for an
   * unknown one. `address`: of the connection that asks.
   */
  find(id: string, address: string | undefined): Promise<JsonObject | ClientRefusal | undefined>;
  /** A client got a token. */
  used(id: string): Promise<void>;
  close(): Promise<void>;
}

/** A metadata document that cannot be used. */
export class ClientRefusal {
  readonly description: string;
  /** The document may be available later: the client keeps its tokens. */
  readonly isTemporary: boolean;

  constructor(description: string, isTemporary = false) {
    this.description = description;
    this.isTemporary = isTemporary;
  }
}

/** What {@link createClients} needs. */
export interface ClientsInput {
  readonly config: ClientsConfig;
  readonly storage: AuthStorage;
  /** Scopes of the server. */
  readonly supportedScopes: readonly string[];
  /** The issuer's URL. */
  readonly issuer: string;
  readonly report: Report;
  readonly log: Log;
  now(): number;
  /** For tests: certificates and name resolution of fetches. */
  readonly connect?: DocumentRules['connect'];
}

/** Creates the clients. @throws GatewayFault PLAN_INVALID for a baseline scope that the server does not support */
export function createClients({
  config,
  storage,
  supportedScopes,
  issuer,
  report,
  log,
  now,
  connect,
}: ClientsInput): Clients {
  const { cimd, confidentialClients, baselineClientScopes } = config;
  const scopes = clientScopes(supportedScopes, baselineClientScopes);
  const registered = createRegisteredClients(storage, now);
  const limit = createAddressLimit(REGISTRATION_BURST, REGISTRATIONS_PER_SECOND, now);
  const allowsLoopback = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/]|$)/.test(issuer);
  const unfetched = throttledLine({ log, now }, 'a client metadata document cannot be fetched');
  const documents = createMetadataDocuments({
    scopes,
    ttlMs: cimd.cacheFallbackTtl,
    maxDocuments: cimd.cacheMaxSize,
    allowsLoopback,
    now,
    failed: (_id: string, fault: GatewayFault) => unfetched.add({ code: fault.code, error: fault.message }),
    ...(connect === undefined ? {} : { connect }),
  });
  return {
    register: registrationEndpoint(registered, { scopes, confidentialClients }, limit, report),
    allowsSecrets: confidentialClients,
    allowsDocuments: cimd.enabled,
    async find(id, address) {
      if (!/^https?:/.test(id)) return registered.find(id);
      if (!cimd.enabled || !isDocumentUrl(id, allowsLoopback)) return undefined;
      const metadata = await documents.find(id, address);
      if (!isRefusal(metadata)) return { ...metadata, client_id: id };
      return new ClientRefusal(metadata.description, metadata.isTemporary);
    },
    used: (id) => registered.used(id),
    async close() {
      unfetched.flush();
      await documents.close();
    },
  };
}
