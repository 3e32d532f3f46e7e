import type { JsonObject } from './json.ts';
import type { Secret } from './secret.ts';

/** The identity of a client. Made by an incoming-auth plugin, never from what the client claims. */
export interface Caller {
  /** Issuer of the identity; `''` for an anonymous caller. */
  readonly issuer: string;
  /** Subject within the issuer; `'anonymous'` for an anonymous caller. */
  readonly subject: string;
  /**
   * `issuer + NUL + subject`, and for a delegated identity a digest of who acts: sessions, streams, own lists, sealed state and
   * pools are bound to it, so that a program with a delegated token uses nothing of the person's.
   */
  readonly key: string;
  /** The key without who acts; absent when it is the same. Shares and rates count by it: no person gets more by delegating. */
  readonly subjectKey?: string;
  readonly name?: string;
  /** Verified claims, `{}` for an anonymous caller. */
  readonly claims: JsonObject;
  /** The token that proved the identity, for strategies that exchange it. Never forwarded unchanged. */
  readonly token?: Secret;
  /** `WWW-Authenticate` of a 403 response to this caller: tells it how to get another token (RFC 9728 §5.1). */
  readonly challenge?: string;
  /** Whether the token was withdrawn since; absent when its issuer does not say. Ends open streams. May reject for a while. */
  isWithdrawn?(): boolean | Promise<boolean>;
}
