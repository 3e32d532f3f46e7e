import { secretReference } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import { authorizationParams, path, redirectUri, scopes, userInfo, webUrl } from '../config-fields.ts';

const MAX_PATH = 256;
const MAX_SOFTWARE_ID = 255;
const MAX_STATEMENT = 16_384;

const dcrConfig = z
  .strictObject({
    discoveryUrl: webUrl
      .refine((url) => !url.endsWith('/'), 'expected a URL without a slash at its end')
      .optional()
      .describe('metadata document of the provider, read with one GET: endpoints, authentication methods, scopes'),
    registrationEndpoint: webUrl
      .optional()
      .describe('registration endpoint, when the provider has no metadata document'),
    initialAccessTokenRef: secretReference.optional().describe('token that the registration request carries as bearer'),
    softwareId: z.string().min(1).max(MAX_SOFTWARE_ID).optional().describe('`software_id` of the registration'),
    softwareStatement: z
      .string()
      .min(1)
      .max(MAX_STATEMENT)
      .optional()
      .describe('`software_statement` of the registration; signed, not encrypted'),
  })
  .refine((given) => (given.discoveryUrl === undefined) !== (given.registrationEndpoint === undefined), {
    message: 'set exactly one of discoveryUrl and registrationEndpoint',
  });

const identityFromToken = z.strictObject({
  subjectPath: path.min(1).max(MAX_PATH).describe('path of the subject in the token response'),
  namePath: path.min(1).max(MAX_PATH).optional().describe('path of the name'),
  emailPath: path.min(1).max(MAX_PATH).optional().describe('path of the email address'),
});

const tokenResponseMapping = z.strictObject({
  accessTokenPath: path.min(1).describe('path of the access token in the token response'),
  expiresInPath: path.min(1).default('expires_in').describe('path of its lifetime in seconds'),
  refreshTokenPath: path.min(1).default('refresh_token').describe('path of the refresh token'),
  scopePath: path.min(1).default('scope').describe('path of the granted scopes'),
});

/** `oauth2Config` of an upstream provider. Source: vmcp spec §2 `upstreamProviders`. */
export const oauth2Config = z
  .strictObject({
    authorizationEndpoint: webUrl.optional().describe('required unless dcrConfig.discoveryUrl is set'),
    tokenEndpoint: webUrl.optional().describe('required unless dcrConfig.discoveryUrl is set'),
    clientId: z.string().optional().describe("the gateway's client id at the provider; not with dcrConfig"),
    clientSecretRef: secretReference.optional().describe('its secret; not needed for a public client'),
    redirectUri: redirectUri.optional().describe('default: {resourceUrl}/oauth/callback'),
    scopes: scopes.default([]).describe('requested scopes'),
    additionalAuthorizationParams: authorizationParams.default({}),
    dcrConfig: dcrConfig.optional().describe('registers a client at the provider (RFC 7591)'),
    identityFromToken: identityFromToken.optional().describe('reads the identity from the token response'),
    tokenResponseMapping: tokenResponseMapping.optional().describe('for a token response that is not standard'),
    userInfo: userInfo.optional().describe('endpoint with the identity, unless identityFromToken is set'),
  })
  .superRefine((given, context) => {
    const wrong = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [key], message });
    };
    const { dcrConfig: registration, clientId = '', clientSecretRef } = given;
    const isDiscovered = registration?.discoveryUrl !== undefined;
    for (const key of ['authorizationEndpoint', 'tokenEndpoint'] as const) {
      if (given[key] === undefined && !isDiscovered) wrong(key, 'is required: an http or https URL');
    }
    if (registration === undefined && clientId === '') wrong('clientId', 'is required, unless dcrConfig is set');
    if (registration === undefined) return;
    if (clientId !== '') wrong('clientId', 'must be empty, because dcrConfig registers a client');
    if (clientSecretRef !== undefined) wrong('clientSecretRef', 'must be absent, because dcrConfig registers a client');
    if (registration.registrationEndpoint !== undefined && given.scopes.length === 0) {
      wrong('scopes', 'is required with dcrConfig.registrationEndpoint, because no document names the scopes');
    }
  });

/** The parsed `oauth2Config`. */
export type Oauth2Config = z.output<typeof oauth2Config>;

/** The parsed `dcrConfig`. */
export type DcrConfig = z.output<typeof dcrConfig>;
