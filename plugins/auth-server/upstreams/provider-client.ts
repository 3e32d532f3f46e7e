import type { Secret } from '@toolmgr/core';
import type { ClientAuth } from 'openid-client';
import { type ClientAuthMethod, clientAuthentication } from '../../shared/oauth/client-authentication.ts';
import { isTokenError } from './failures.ts';

/** The gateway as a client of a provider. */
export interface ProviderClient {
  readonly id: string;
  /** Absent for a public client, which PKCE protects. */
  readonly secret?: Secret;
  /** How it authenticates; several are tried in this order when the provider says `invalid_client`. */
  readonly methods: readonly ClientAuthMethod[];
}

/** A configured client: the secret in the body, and HTTP Basic where the provider wants that. */
export function configuredClient(id: string, secret: Secret | undefined): ProviderClient {
  return secret === undefined
    ? { id, methods: ['none'] }
    : { id, secret, methods: ['client_secret_post', 'client_secret_basic'] };
}

/** The client with the methods that the metadata of its provider lists. A list without any of them is not trusted. */
export function supportedBy(client: ProviderClient, supported: readonly string[] | undefined): ProviderClient {
  const methods = client.methods.filter((method) => supported?.includes(method));
  return methods.length === 0 ? client : { ...client, methods };
}

/**
 * Sends a token request with one method after the other. A provider checks the client before the code or the refresh token,
 * so that a refused method does not consume them.
 */
export async function authenticated<T>(client: ProviderClient, send: (auth: ClientAuth) => Promise<T>): Promise<T> {
  for (const [index, method] of client.methods.entries()) {
    try {
      return await send(clientAuthentication({ id: client.id, secret: client.secret?.reveal(), method }) as ClientAuth);
    } catch (cause) {
      const isLast = index === client.methods.length - 1;
      if (isLast || !isTokenError(cause, (error) => error === 'invalid_client')) throw cause;
    }
  }
  throw new Error('a client without a method of authentication');
}
