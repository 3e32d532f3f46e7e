import type { RegisteredClient } from '@toolmgr/plugins/kit/oauth';

/** What the user configured for a login; everything else is discovered. */
export interface LoginSettings {
  /** A login also when the server does not ask for one. */
  readonly isRequired: boolean;
  readonly issuer?: string;
  /** With `tokenUrl`, instead of an issuer. */
  readonly authorizationUrl?: string;
  readonly tokenUrl?: string;
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly resource?: string;
  readonly scopes?: readonly string[];
  readonly scopeParameter?: string;
  readonly extraParameters?: Readonly<Record<string, string>>;
  /** Port of the callback server; it must be free when it is configured. */
  readonly callbackPort?: number;
  /** URL of a client metadata document, for servers that take one as client id. */
  readonly metadataUrl?: string;
}

/** A client that was registered at an earlier login. */
export interface CachedClient extends RegisteredClient {
  readonly issuer: string;
  /** Port in its redirect URI. */
  readonly port: number;
  /** What it may request; `undefined` when that is not known. */
  readonly scopes?: readonly string[];
}
