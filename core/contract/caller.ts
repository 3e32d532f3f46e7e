import type { JsonObject } from './json.ts';
import type { Secret } from './secret.ts';

/** Who asks. Made by an incoming-auth plugin, never by the client's own words. */
export interface Caller {
  /** Issuer of the identity; `''` for an anonymous caller. */
  readonly issuer: string;
  /** Subject within the issuer; `'anonymous'` for an anonymous caller. */
  readonly subject: string;
  /** `issuer + NUL + subject`: what sessions, sealed state and pools are bound to. */
  readonly key: string;
  readonly name?: string;
  /** Verified claims, `{}` for an anonymous caller. */
  readonly claims: JsonObject;
  /** The token that proved the identity, for strategies that exchange it. Never forwarded as it is. */
  readonly token?: Secret;
  /** `WWW-Authenticate` of a 403 answer to this caller: where it learns how to get another token (RFC 9728 §5.1). */
  readonly challenge?: string;
}
