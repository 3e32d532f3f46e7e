import { headerName } from '@toolmgr/plugins/kit/credentials';
import { clientProblem, scopes, tokenUrl } from '@toolmgr/plugins/kit/oauth';
import { z } from 'zod';

const TOKEN_TYPE = 'urn:ietf:params:oauth:token-type:'; // RFC 8693 §3
const SHORT_NAMES: ReadonlySet<string> = new Set(['access_token', 'id_token', 'jwt']);

/** The requested type, and the default type of the caller's token. */
export const ACCESS_TOKEN = `${TOKEN_TYPE}access_token`;
/** An ID token; only an upstream provider gives one. */
export const ID_TOKEN = `${TOKEN_TYPE}id_token`;
/** An alternative type of an access token that is a JWT (RFC 8693 §3). */
export const JWT = `${TOKEN_TYPE}jwt`;

/**
 * Options of `token_exchange`.
 *
 * Shape: `subjectTokenType` is a URI; the short names `access_token`, `id_token` and `jwt` are resolved.
 * Source: vmcp spec §2 outgoingAuth `tokenExchange`.
 */
export const tokenExchangeOptions = z
  .strictObject({
    tokenUrl: tokenUrl.describe('token endpoint; https, or http on this machine. Private addresses are allowed'),
    audience: z
      .string()
      .min(1)
      .optional()
      .describe('audience of the token: the name of the backend at the token endpoint'),
    clientId: z.string().min(1).optional().describe("the gateway's client id at the token endpoint"),
    clientSecret: z.string().min(1).optional().describe('its secret; prefer clientSecretEnv'),
    clientSecretEnv: z
      .string()
      .min(1)
      .optional()
      .describe('environment variable with the secret; read once at the start'),
    headerName: headerName.default('authorization').describe('header that carries the token, as `Bearer TOKEN`'),
    scopes: scopes.describe('scopes of the token'),
    subjectProviderName: z
      .string()
      .min(1, 'expected the name of an upstream provider')
      .optional()
      .describe(
        "upstream provider whose token is exchanged; default: the first one of the authorization server, without a server the caller's own token",
      ),
    subjectTokenType: z
      .string()
      .default(ACCESS_TOKEN)
      .transform((type) => (SHORT_NAMES.has(type) ? `${TOKEN_TYPE}${type}` : type))
      .refine((type) => URL.canParse(type), 'expected access_token, id_token, jwt or a URI')
      .describe("type of the caller's token: a URI, or `access_token`, `id_token`, `jwt`"),
  })
  .superRefine(({ clientId: id, clientSecret: secret, clientSecretEnv: secretEnv }, context) => {
    const message = clientProblem({ id, secret, secretEnv }, 'clientId');
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** The parsed options. */
export type TokenExchangeOptions = z.output<typeof tokenExchangeOptions>;
