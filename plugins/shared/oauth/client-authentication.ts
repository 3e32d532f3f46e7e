import type { ClientAuth } from 'oauth4webapi';

/** Credentials of a client. Without a secret only the id is sent, without an id nothing. */
export interface ClientCredentials {
  readonly id: string | undefined;
  readonly secret: string | undefined;
}

/**
 * HTTP Basic, or `client_id` in the form. Source: RFC 6749 §2.3.1 and §3.2.1.
 *
 * Replaces the library's implementation, which encodes `-`, `_` and `.` of an id as %2D, %5F and %2E; servers that do not
 * decode the id reject it.
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
