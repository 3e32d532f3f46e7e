import type { Secret } from '@toolmgr/core';
import { type ClientAuthMethod, clientAuthentication } from '@toolmgr/plugins/kit/oauth/settings';
import type { ClientAuth } from 'openid-client';
import { isTokenError } from '../failures.ts';

/** The gateway as a client of a provider. */
export interface ProviderClient {
  readonly id: string;
  /** Absent for a public client, which PKCE protects. */
  readonly secret?: Secret;
  /** How it authenticates; several are tried in this order when the provider says `invalid_client`. */
  readonly methods: readonly ClientAuthMethod[];
  /** The method that the provider accepted; it is the first from then on. Shared by all copies. */
  readonly accepted: { method?: ClientAuthMethod };
}

/** A configured client: the secret in the body, and HTTP Basic where the provider wants that. */
export function configuredClient(id: string, secret: Secret | undefined): ProviderClient {
  return secret === undefined
    ? { id, methods: ['none'], accepted: {} }
    : { id, secret, methods: ['client_secret_post', 'client_secret_basic'], accepted: {} };
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
  const { id, secret, accepted } = client;
  const methods = client.methods.toSorted((one, other) => rank(one, accepted) - rank(other, accepted));
  for (const [index, method] of methods.entries()) {
    try {
      const answer = await send(clientAuthentication({ id, secret: secret?.reveal(), method }) as ClientAuth);
      if (index > 0) accepted.method = method;
      return answer;
    } catch (cause) {
      const isLast = index === methods.length - 1;
      if (isLast || !isTokenError(cause, (error) => error === 'invalid_client')) throw cause;
    }
  }
  throw new Error('a client without a method of authentication');
}

function rank(method: ClientAuthMethod, accepted: ProviderClient['accepted']): number {
  return method === accepted.method ? 0 : 1;
}
