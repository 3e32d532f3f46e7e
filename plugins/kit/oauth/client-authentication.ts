import type { ClientAuth } from 'oauth4webapi';

/** Credentials of a client. Without a secret only the id is sent, without an id nothing. */
export interface ClientCredentials {
  readonly id: string | undefined;
  readonly secret: string | undefined;
  /** Default: HTTP Basic with a secret. */
  readonly method?: ClientAuthMethod;
}

/** How a client authenticates at the token endpoint. Source: RFC 7591 §2. */
export type ClientAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post';

/**
 * HTTP Basic, or `client_id` and the secret in the form. Source: RFC 6749 §2.3.1 and §3.2.1.
 *
 * Replaces the library's implementation, which encodes `-`, `_` and `.` of an id as %2D, %5F and %2E; servers that do not
 * decode the id reject it.
 */
export function clientAuthentication({ id, secret, method }: ClientCredentials): ClientAuth {
  return (_server, _client, form, headers) => {
    if (id === undefined) return;
    const sent = method === 'none' ? undefined : secret;
    if (sent !== undefined && method !== 'client_secret_post') return headers.set('authorization', basic(id, sent));
    form.set('client_id', id);
    if (sent !== undefined) form.set('client_secret', sent);
  };
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
