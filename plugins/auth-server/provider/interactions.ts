import type { Inbound, ResponseHeaders } from '@toolmgr/core';

/** What the sign-in pages need of the OAuth server beneath them. */
export interface Interactions {
  /** The authorization request that waits for a person; `undefined` when the cookie is missing, foreign or expired. */
  find(inbound: Inbound): Promise<Interaction | undefined>;
  /**
   * Continues the authorization request in the browser of `inbound`.
   * @throws when the interaction of its cookie is gone
   */
  finish(inbound: Inbound, outcome: InteractionOutcome): Promise<BrowserAnswer>;
  /** The person who is signed in with this browser; `undefined` without a valid session cookie. */
  personOf(inbound: Inbound): Promise<string | undefined>;
  /** Signs a person in with this browser outside of an authorization request. Returns the cookies. */
  signIn(inbound: Inbound, person: string): Promise<ResponseHeaders>;
  /** Ends the browser's session. */
  signOut(inbound: Inbound): Promise<ResponseHeaders>;
}

/** An authorization request that needs a person. */
export interface Interaction {
  /** Last segment of the page's path. */
  readonly uid: string;
  readonly needs: 'login' | 'consent';
  readonly client: {
    readonly id: string;
    readonly name: string | undefined;
    readonly uri: string | undefined;
    /** Registered dynamically or by a metadata document: the person has to consent. */
    readonly isUnknown: boolean;
    /** It has a secret: no other program can use a code that is issued to it. */
    readonly hasSecret: boolean;
  };
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  /** `prompt=login` or `max_age`: the person has to sign in at the provider, also when they are signed in there. */
  readonly asksLogin: boolean;
  /** `max_age`, in seconds: how old a sign-in at the provider may be. */
  readonly maxAgeS?: number;
  /** `prompt=consent`: a remembered consent does not count. */
  readonly asksConsent: boolean;
  /** Signed in already (consent). */
  readonly person: string | undefined;
}

/** How an interaction ends. */
export type InteractionOutcome =
  | { readonly login: { readonly person: string } }
  | { readonly consent: true }
  /** OAuth error code (RFC 6749 §4.1.2.1) that the client gets, with a constant text. */
  | { readonly error: 'access_denied' | 'server_error' | 'temporarily_unavailable'; readonly description: string };

/** A redirect or a page for the browser. */
export interface BrowserAnswer {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body?: string;
}
