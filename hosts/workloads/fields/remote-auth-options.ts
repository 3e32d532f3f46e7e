import { SECRET_KEY } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import { callbackPort, resourceUri, secretRef } from './body-values.ts';
import { forwardedName, forwardedValue } from './forwarded-header.ts';
import { readList, readLoginTime, readPair, readPort, readSecretHeader, readWebUrl } from './option-values.ts';
import type { RunOption } from './run-option.ts';

/** Options of requests to a remote server, by help group. */
export const REMOTE_AUTH_OPTIONS = {
  'Remote server:': [
    {
      flags: '--remote-forward-headers <NAME=VALUE>',
      stored: 'header_forward.add_plaintext_headers',
      description: 'header for requests to a URL; may be repeated',
      read: readPair,
      hidden: 'map',
      body: {
        name: 'header_forward.add_plaintext_headers',
        says: 'headers with their values',
        accepts: z.record(forwardedName, forwardedValue),
      },
    },
    {
      flags: '--remote-forward-headers-secret <NAME=SECRET>',
      stored: 'header_forward.add_headers_from_secret',
      description: 'header for requests to a URL with the value of a secret of toolmgr secret; may be repeated',
      read: readSecretHeader,
      body: {
        name: 'header_forward.add_headers_from_secret',
        says: 'headers with names of stored secrets',
        accepts: z.record(forwardedName, z.string().regex(SECRET_KEY, 'expected the name of a stored secret')),
      },
    },
    {
      flags: '--remote-auth-bearer-token <TOKEN>',
      stored: 'remote_auth_config.bearer_token',
      as: 'secret',
      description: 'bearer token for a URL',
      body: {
        name: 'oauth_config.bearer_token',
        says: 'token that is sent instead of a login',
        accepts: secretRef,
        shows: secretRef.optional(),
      },
    },
    {
      flags: '--remote-auth-bearer-token-file <FILE>',
      stored: 'remote_auth_config.bearer_token_file',
      as: 'secretFile',
      description: 'file with the bearer token, read at each start',
    },
    {
      flags: '--remote-auth',
      stored: 'remote_auth_config.required',
      description: 'log in by OAuth also when the server does not ask for it (default: when it asks)',
    },
    {
      flags: '--remote-auth-issuer <URL>',
      stored: 'remote_auth_config.issuer',
      description: 'issuer where you log in (default: the one that the server names)',
      read: readWebUrl,
      body: { name: 'oauth_config.issuer', says: 'issuer of the authorization server' },
    },
    {
      flags: '--remote-auth-authorize-url <URL>',
      stored: 'remote_auth_config.authorize_url',
      description: 'authorization endpoint, for OAuth without metadata',
      read: readWebUrl,
      body: { name: 'oauth_config.authorize_url', says: 'authorization endpoint' },
    },
    {
      flags: '--remote-auth-token-url <URL>',
      stored: 'remote_auth_config.token_url',
      description: 'token endpoint, for OAuth without metadata',
      read: readWebUrl,
      body: { name: 'oauth_config.token_url', says: 'token endpoint' },
    },
    {
      flags: '--remote-auth-client-id <ID>',
      stored: 'remote_auth_config.client_id',
      description: 'client ID at the issuer (default: a client is registered)',
      body: { name: 'oauth_config.client_id', says: 'registered client; absent: one is registered' },
    },
    {
      flags: '--remote-auth-client-secret <SECRET>',
      stored: 'remote_auth_config.client_secret',
      as: 'secret',
      description: 'its client secret; prefer the file',
      body: {
        name: 'oauth_config.client_secret',
        says: 'secret of the client',
        accepts: secretRef,
        shows: secretRef.optional(),
      },
    },
    {
      flags: '--remote-auth-client-secret-file <FILE>',
      stored: 'remote_auth_config.client_secret_file',
      as: 'secretFile',
      description: 'file with the client secret, read at each start',
    },
    {
      flags: '--remote-auth-callback-port <PORT>',
      stored: 'remote_auth_config.callback_port',
      description: 'port on this machine for the answer of the login (default: 8666)',
      read: readPort(1024),
      body: {
        name: 'oauth_config.callback_port',
        says: 'port of the callback; 0: any free one',
        accepts: callbackPort,
      },
    },
    {
      flags: '--remote-auth-resource <URI>',
      stored: 'remote_auth_config.resource',
      description: 'resource indicator, RFC 8707 (default: from the metadata of the server, else its URL)',
      body: {
        name: 'oauth_config.resource',
        says: 'resource indicator (RFC 8707); default: from `url`',
        accepts: resourceUri,
      },
    },
    {
      flags: '--remote-auth-scope-param-name <NAME>',
      stored: 'remote_auth_config.scope_param_name',
      description: 'name of the parameter with the scopes in the authorization URL (default: scope)',
    },
    {
      flags: '--remote-auth-scopes <LIST>',
      stored: 'remote_auth_config.scopes',
      description: 'scopes, comma-separated (default: those that the server names, else openid,profile,email for OIDC)',
      read: readList,
      body: { name: 'oauth_config.scopes', says: 'scopes that are asked for' },
    },
    {
      flags: '--remote-auth-skip-browser',
      stored: 'remote_auth_config.skip_browser',
      description: 'only print the URL of the login',
      body: { name: 'oauth_config.skip_browser', says: 'no browser is opened; the URL is only shown' },
    },
    {
      flags: '--remote-auth-timeout <DURATION>',
      stored: 'remote_auth_config.timeout',
      description: 'time for the login in the browser (default: 30s)',
      read: readLoginTime,
    },
  ],
} as const satisfies Readonly<Record<string, readonly RunOption[]>>;
