import type { ClientAuth } from 'oauth4webapi';

/** How a client is called at an authorization server. Without a secret it only says its id, without an id nothing. */
export interface ClientCredentials {
  readonly id: string | undefined;
  readonly secret: string | undefined;
}

/**
 * HTTP Basic, or `client_id` in the form. Source: RFC 6749 §2.3.1 and §3.2.1.
 *
 * Not the library's own: it writes `-`, `_` and `.` of an id as %2D, %5F and %2E, and servers that do not decode
 * the id do not know it then.
 */
export function clientAuthentication({ id, secret }: ClientCredentials): ClientAuth {
  return (_server, _client, form, headers) => {
    if (id !== undefined && secret !== undefined) headers.set('authorization', basic(id, secret));
    else if (id !== undefined) form.set('client_id', id);
  };
}

function basic(id: string, secret: string): string {
  return `Basic ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`;
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
