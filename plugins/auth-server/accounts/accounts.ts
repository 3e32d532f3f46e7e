import type { UpstreamGrant, UpstreamIdentity, UpstreamTokenSet } from '../upstreams/upstream.ts';

/**
 * People, their sessions and their upstream tokens.
 *
 * A person is an id of ours (UUID): the `sub` of issued tokens. It belongs to one identity of the first required provider. Tokens
 * of upstreams belong to the person, so all MCP clients of one person use the same connection. A session is one sign-in of one
 * client: the `tsid` claim of its tokens; a session that ended gets no upstream tokens.
 */
export interface Accounts {
  /** The person of an identity of the first provider; created when it is new. Name and email are updated. */
  personOf(provider: string, identity: UpstreamIdentity): Promise<Person>;
  person(id: string): Promise<Person | undefined>;
  /** Stores what a provider granted. Without a new refresh token the earlier one of the same client is kept. */
  connect(person: string, provider: string, grant: UpstreamGrant): Promise<void>;
  /** Forgets the tokens of one provider, after an attempt to revoke them there. */
  disconnect(person: string, provider: string, signal: AbortSignal): Promise<void>;
  /** Connections of a person, for pages and for the choice of the next provider. Without tokens. */
  connections(person: string): Promise<readonly Connection[]>;
  /** Begins a session. `ttlMs`: lifetime of its refresh tokens; every refresh extends it. */
  openSession(session: Session, ttlMs: number): Promise<void>;
  session(tsid: string): Promise<Session | undefined>;
  /** The sessions of a person that have not ended, for the page that lists them. */
  sessions(person: string): Promise<readonly Session[]>;
  extendSession(tsid: string, ttlMs: number): Promise<void>;
  /**
   * Ends a session: its refresh tokens are refused. The upstream tokens of a person without sessions are deleted. Returns the session;
   * `undefined` when it had ended before.
   */
  endSession(tsid: string): Promise<Session | undefined>;
}

/** Someone who signed in. */
export interface Person {
  /** UUID. */
  readonly id: string;
  readonly name?: string;
  readonly email?: string;
}

/** One sign-in of one MCP client. */
export interface Session {
  /** Random, the `tsid` claim. */
  readonly id: string;
  readonly person: string;
  readonly clientId: string;
  /** As the client registered it: not verified. */
  readonly clientName?: string;
  /** Epoch milliseconds. */
  readonly startedMs: number;
}

/** What a person connected. */
export interface Connection {
  readonly provider: string;
  /** Name, email or subject at the provider. */
  readonly account: string;
  readonly scope?: string;
  /** Epoch milliseconds. */
  readonly connectedMs: number;
  /** End of the access token, epoch milliseconds; absent when the provider does not say. */
  readonly expiresMs?: number;
  /** The access token is valid, or a refresh token may get another one. */
  readonly isUsable: boolean;
  readonly isRefreshable: boolean;
}

/** A row of upstream tokens with what is needed to refresh it. */
export interface TokenRow {
  readonly identity: UpstreamIdentity;
  readonly tokens: UpstreamTokenSet;
  /** Epoch milliseconds of the sign-in at the provider. */
  readonly connectedMs: number;
  /** Epoch milliseconds when the access token was issued: at the sign-in or at the last refresh. */
  readonly issuedMs: number;
  /**
   * `refused`: the refresh token is not accepted any more; `unchecked`: refreshed tokens whose check did not finish, only the
   * refresh token may be used; `invalid`: the check failed, no token may be used.
   */
  readonly problem?: 'refused' | 'unchecked' | 'invalid';
}
