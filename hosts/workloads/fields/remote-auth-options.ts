import { readList, readLoginTime, readPair, readPort, readSecretHeader, readWebUrl } from './option-values.ts';
import type { RunOption } from './run-option.ts';

/** Flags of requests to a remote server. */
export interface RemoteAuthFlags {
  readonly remoteForwardHeaders?: Readonly<Record<string, string>>;
  readonly remoteForwardHeadersSecret?: Readonly<Record<string, string>>;
  readonly remoteAuthBearerToken?: string;
  readonly remoteAuthBearerTokenFile?: string;
  readonly remoteAuth?: boolean;
  readonly remoteAuthIssuer?: string;
  readonly remoteAuthAuthorizeUrl?: string;
  readonly remoteAuthTokenUrl?: string;
  readonly remoteAuthClientId?: string;
  readonly remoteAuthClientSecret?: string;
  readonly remoteAuthClientSecretFile?: string;
  readonly remoteAuthCallbackPort?: number;
  readonly remoteAuthResource?: string;
  readonly remoteAuthScopeParamName?: string;
  readonly remoteAuthScopes?: readonly string[];
  /** Further parameters of the authorization request: of a registry entry, there is no option. */
  readonly remoteAuthParams?: Readonly<Record<string, string>>;
  readonly remoteAuthSkipBrowser?: boolean;
  /** Go duration. */
  readonly remoteAuthTimeout?: string;
}

/** Their options by help group. */
export const REMOTE_AUTH_OPTIONS: Readonly<Record<string, readonly RunOption[]>> = {
  'Remote server:': [
    {
      flags: '--remote-forward-headers <NAME=VALUE>',
      description: 'header for requests to a URL; may be repeated',
      read: readPair,
    },
    {
      flags: '--remote-forward-headers-secret <NAME=SECRET>',
      description: 'header for requests to a URL with the value of a secret of toolmgr secret; may be repeated',
      read: readSecretHeader,
    },
    { flags: '--remote-auth-bearer-token <TOKEN>', description: 'bearer token for a URL' },
    { flags: '--remote-auth-bearer-token-file <FILE>', description: 'file with the bearer token, read at each start' },
    {
      flags: '--remote-auth',
      description: 'log in by OAuth also when the server does not ask for it (default: when it asks)',
    },
    {
      flags: '--remote-auth-issuer <URL>',
      description: 'issuer where you log in (default: the one that the server names)',
      read: readWebUrl,
    },
    {
      flags: '--remote-auth-authorize-url <URL>',
      description: 'authorization endpoint, for OAuth without metadata',
      read: readWebUrl,
    },
    {
      flags: '--remote-auth-token-url <URL>',
      description: 'token endpoint, for OAuth without metadata',
      read: readWebUrl,
    },
    {
      flags: '--remote-auth-client-id <ID>',
      description: 'client ID at the issuer (default: a client is registered)',
    },
    { flags: '--remote-auth-client-secret <SECRET>', description: 'its client secret; prefer the file' },
    {
      flags: '--remote-auth-client-secret-file <FILE>',
      description: 'file with the client secret, read at each start',
    },
    {
      flags: '--remote-auth-callback-port <PORT>',
      description: 'port on this machine for the answer of the login (default: 8666)',
      read: readPort(1024),
    },
    {
      flags: '--remote-auth-resource <URI>',
      description: 'resource indicator, RFC 8707 (default: from the metadata of the server, else its URL)',
    },
    {
      flags: '--remote-auth-scope-param-name <NAME>',
      description: 'name of the parameter with the scopes in the authorization URL (default: scope)',
    },
    {
      flags: '--remote-auth-scopes <LIST>',
      description: 'scopes, comma-separated (default: those that the server names, else openid,profile,email for OIDC)',
      read: readList,
    },
    { flags: '--remote-auth-skip-browser', description: 'only print the URL of the login' },
    {
      flags: '--remote-auth-timeout <DURATION>',
      description: 'time for the login in the browser (default: 30s)',
      read: readLoginTime,
    },
  ],
};
