import { defineHook, type Inbound } from '@toolmgr/core';

/**
 * A person signed in, connected an account, agreed to a client or ended a session; or a client registered. Reported by the authorization
 * server, for audits.
 */
export interface SignInChanged {
  readonly change:
    | 'sign_in'
    | 'account_connected'
    | 'account_disconnected'
    | 'consent'
    | 'client_registered'
    | 'session_revoked';
  /** `denied`: an identity provider refused the sign-in, or the person did not agree. */
  readonly outcome: 'success' | 'denied';
  /** `sub` of the person's tokens. */
  readonly person?: string;
  /** `client_id`. */
  readonly client?: string;
  /** Name of the identity provider. */
  readonly upstream?: string;
  readonly scopes?: readonly string[];
  readonly reason?: string;
  /** The request of the browser or client; absent for what the server does by itself. */
  readonly inbound?: Inbound;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** Called by the authorization server. */
export const signInChanged = defineHook<SignInChanged>('signInChanged', 'event');
