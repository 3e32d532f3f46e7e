import { secretReference } from '@toolmgr/plugins/kit/secrets';
import { goDuration } from '@toolmgr/plugins/kit/settings';
import { z } from 'zod';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** An issuer-style URL (RFC 8414): http or https, without query, fragment and trailing slash. Source: vmcp spec, notation. */
export const issuerUrl = z.string().refine(isIssuerStyle, {
  error: 'expected an http or https URL without query, fragment, user name and trailing slash',
});

/** Why plain http is refused; `undefined` when it is not. It is allowed on this machine, elsewhere with `insecureAllowHTTP`. */
export function plainHttpProblem(url: string, insecureAllowHttp: boolean): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.protocol === 'https:' || insecureAllowHttp || isLoopback(parsed)) return undefined;
  return 'expected https; plain http is allowed for localhost only (insecureAllowHTTP allows it, for trusted networks)';
}

/** Source: vmcp spec §2 `tokenLifespans`. The contract has no bounds; these keep a mistake in the unit from being accepted. */
export const tokenLifespansConfig = z.strictObject({
  accessTokenLifespan: lifespan('1h', MINUTE, 24 * HOUR, 'from 1m to 24h').describe('lifetime of access tokens'),
  refreshTokenLifespan: lifespan('168h', HOUR, 30 * DAY, 'from 1h to 720h').describe(
    'time after which an unused refresh token ends',
  ),
  authCodeLifespan: lifespan('10m', MINUTE / 2, 10 * MINUTE, 'from 30s to 10m').describe(
    'time in which a code can be exchanged',
  ),
});

/** Parsed lifetimes in milliseconds. */
export type TokenLifespans = z.output<typeof tokenLifespansConfig>;

/** Issuer, keys and lifetimes: what the OAuth server itself reads. Source: vmcp spec §2 spec.authServerConfig. */
export const providerConfig = {
  issuer: issuerUrl.describe('URL of this server and `iss` of its tokens'),
  authorizationEndpointBaseUrl: issuerUrl
    .optional()
    .describe('base URL of the authorization endpoint in the metadata; default: the issuer'),
  insecureAllowHTTP: z.boolean().default(false).describe('allow an http issuer that is not localhost'),
  signingKeySecretRefs: z
    .array(secretReference)
    .max(16)
    .default([])
    .describe('private keys (PEM) for tokens: the first signs, all verify; none: a new key at each start'),
  hmacSecretRefs: z
    .array(secretReference)
    .max(16)
    .default([])
    .describe(
      'secrets of at least 32 bytes for codes and refresh tokens: the first signs, all verify; none: a new one at each start',
    ),
  tokenLifespans: tokenLifespansConfig.prefault({}).describe('lifetimes of tokens and codes'),
  // extensions
  allowedAudiences: z
    .array(z.string().refine(isHttpUrl, { error: 'expected an http or https URL without query and fragment' }))
    .min(1, 'expected at least one audience')
    .describe(
      'resources (RFC 8707) that tokens may be issued for, first the URL of the MCP endpoint; a vmcp file adds that one, so the key may be left out',
    ),
  scopesSupported: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected a scope without spaces, quotes and backslashes'))
    .default([])
    .describe('further scopes that clients may request; in a vmcp file those of incomingAuth.oidc'),
};

function lifespan(standard: string, leastMs: number, mostMs: number, range: string) {
  return goDuration
    .refine((ms) => ms >= leastMs && ms <= mostMs, { error: `expected a duration ${range}` })
    .prefault(standard);
}

function isIssuerStyle(text: string): boolean {
  return isHttpUrl(text) && !text.endsWith('/');
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null && /^https?:\/\//.test(text) && !/[?#\s]/.test(text) && url.username === '' && url.password === ''
  );
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}
