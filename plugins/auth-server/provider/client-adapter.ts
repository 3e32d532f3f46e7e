import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '@toolmgr/core';
import Provider, { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { ClientRefusal } from '../clients/clients.ts';

/** Where the OAuth server finds its clients. */
export interface ClientSource {
  /**
   * Metadata of RFC 7591 with `client_id`; `client_secret` is the SHA-256 of the secret in hexadecimal. A refusal: why the
   * client cannot be used. `address`: of the connection that asks.
   */
  find(id: string, address: string | undefined): Promise<JsonObject | ClientRefusal | undefined>;
  /** A client got a token. */
  used(id: string): Promise<void>;
}

/** 503 and no fault of this server: a client that gets `invalid_client` would forget its tokens. */
class ClientUnavailable extends errors.OIDCProviderError {
  constructor() {
    super(503, 'temporarily_unavailable');
    this.expose = true; // not reported as a failure of the server
  }
}

/** Finds clients for the OAuth library, which neither registers nor changes them. */
export function clientAdapter(clients: ClientSource): Adapter {
  const asked = new WeakMap<IncomingMessage, Map<string, ReturnType<ClientSource['find']>>>();
  /** The library asks again for a client that was refused, to write the answer: one request is one fetch of a document. */
  const findOnce = (id: string): ReturnType<ClientSource['find']> => {
    const request = Provider.ctx?.req;
    if (request === undefined) return clients.find(id, undefined);
    const ofRequest = asked.get(request) ?? new Map<string, ReturnType<ClientSource['find']>>();
    asked.set(request, ofRequest);
    const finding = ofRequest.get(id) ?? clients.find(id, request.socket.remoteAddress);
    ofRequest.set(id, finding);
    return finding;
  };
  return {
    async find(id) {
      const found = await findOnce(id);
      if (found === undefined) return undefined;
      if (found instanceof ClientRefusal) {
        throw found.isTemporary ? new ClientUnavailable() : new errors.InvalidClient(found.description);
      }
      // the library's own setting follows the signing key, which may have changed since the registration
      const { id_token_signed_response_alg: _, ...metadata } = found;
      return metadata as AdapterPayload;
    },
    upsert: refuse,
    consume: refuse,
    destroy: refuse,
    revokeByGrantId: refuse,
    findByUid: async () => undefined,
    findByUserCode: async () => undefined,
  };
}

async function refuse(): Promise<never> {
  throw new Error('clients are not changed by the OAuth library');
}
