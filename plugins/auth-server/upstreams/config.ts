import { z } from 'zod';
import { remoteUrlProblem } from '../../shared/safe-http/remote-url.ts';
import { secretReference } from '../../shared/secret-reference.ts';

const text = z.string();
const httpUrl = z.string().regex(/^https?:\/\/[^\s/]/, 'expected a URL that starts with http:// or https://');
const longest2048 = (schema: z.ZodString) => schema.max(2048, 'expected at most 2048 characters');
const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected a scope without spaces, quotes and backslashes'); // RFC 6749 §3.3

/** Parameters that the authorization request sets itself. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...['response_type', 'client_id', 'redirect_uri', 'scope', 'state'],
  ...['code_challenge', 'code_challenge_method', 'nonce'],
]);

const additionalAuthorizationParams = z
  .record(z.string(), z.string())
  .default({})
  .superRefine((given, context) => {
    for (const key of Object.keys(given).filter((name) => OWN_PARAMETERS.has(name))) {
      context.addIssue({
        code: 'custom',
        path: [key],
        message: 'is set by the authorization request itself; remove it',
      });
    }
  })
  .describe('further parameters of the authorization request, such as access_type: offline');

const redirectUri = httpUrl.optional().describe('redirect URI; default `{resourceUrl}/oauth/callback`');
const clientSecretRef = secretReference.optional().describe('client secret; without it the client is public (PKCE)');

const fieldList = (field: string) =>
  z.array(text.min(1)).min(1).default([field]).describe('fields in order; the first that is not empty counts');

const userInfo = z.strictObject({
  endpointUrl: httpUrl.describe('URL that answers who the person is'),
  httpMethod: z.enum(['GET', 'POST']).default('GET').describe('method of the request'),
  additionalHeaders: z.record(z.string(), z.string()).default({}).describe('further headers of the request'),
  fieldMapping: z
    .strictObject({ subjectFields: fieldList('sub'), nameFields: fieldList('name'), emailFields: fieldList('email') })
    .prefault({})
    .describe('fields of the answer'),
});

const identityPath = text.min(1, 'expected a path that is not empty; leave the key out instead').max(256);

const identityFromToken = z.strictObject({
  subjectPath: identityPath.describe('path in the token response, such as `access_token|@upstreamjwt|sub`'),
  namePath: identityPath.optional().describe('path of the name'),
  emailPath: identityPath.optional().describe('path of the email'),
});

const tokenResponseMapping = z.strictObject({
  accessTokenPath: text.min(1).describe('path of the access token'),
  expiresInPath: text.min(1).default('expires_in').describe('path of the lifetime in seconds'),
  refreshTokenPath: text.min(1).default('refresh_token').describe('path of the refresh token'),
  scopePath: text.min(1).default('scope').describe('path of the granted scopes'),
});

const dcrConfig = z
  .strictObject({
    discoveryUrl: longest2048(
      z.string().regex(/^https:\/\/[^\s/].*[^/]$/, 'expected an https URL without trailing slash'),
    )
      .optional()
      .describe('metadata document with the endpoints'),
    registrationEndpoint: longest2048(z.string().regex(/^https:\/\/[^\s/]/, 'expected an https URL'))
      .optional()
      .describe('URL of RFC 7591 registration'),
    initialAccessTokenRef: secretReference.optional().describe('bearer token of the registration request'),
    softwareId: text.max(255).optional().describe('software_id of the registration'),
    softwareStatement: text.max(16_384).optional().describe('software_statement of the registration; not confidential'),
  })
  .superRefine(({ discoveryUrl, registrationEndpoint }, context) => {
    if ((discoveryUrl === undefined) !== (registrationEndpoint === undefined)) return;
    context.addIssue({ code: 'custom', message: 'expected one of discoveryUrl and registrationEndpoint' });
  });

const oauth2Config = z
  .strictObject({
    authorizationEndpoint: httpUrl.describe('URL that the browser is sent to'),
    tokenEndpoint: httpUrl.describe('URL that codes are exchanged at'),
    clientId: text.default('').describe('client id at the provider; empty with dcrConfig'),
    clientSecretRef,
    redirectUri,
    scopes: z.array(scope).default([]).describe('requested scopes'),
    additionalAuthorizationParams,
    dcrConfig: dcrConfig.optional().describe('register as a client at the provider (RFC 7591)'),
    identityFromToken: identityFromToken.optional().describe('read the identity from the token response'),
    tokenResponseMapping: tokenResponseMapping.optional().describe('fields of an unusual token response'),
    userInfo: userInfo.optional().describe('ask the provider who the person is'),
  })
  .superRefine(({ clientId, dcrConfig: registration, scopes }, context) => {
    const wrong = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (registration === undefined && clientId === '') wrong('clientId', 'missing, expected a text or dcrConfig');
    if (registration !== undefined && clientId !== '') wrong('clientId', 'must be empty with dcrConfig');
    if (registration?.registrationEndpoint !== undefined && scopes.length === 0) {
      wrong('scopes', 'missing; dcrConfig.registrationEndpoint needs explicit scopes');
    }
  });

const oidcConfig = z.strictObject({
  issuerUrl: z
    .string()
    .superRefine((url, context) => {
      const problem = remoteUrlProblem(url, { allowHttp: 'loopback', allowPrivateAddresses: true });
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .describe('issuer of the provider; its discovery document has the endpoints'),
  clientId: text.min(1, 'expected a text that is not empty').describe('client id at the provider'),
  clientSecretRef,
  redirectUri,
  scopes: z.array(scope).default(['openid', 'offline_access']).describe('requested scopes'),
  additionalAuthorizationParams,
  subjectClaim: text
    .max(128)
    .regex(/^([A-Za-z_][A-Za-z0-9_]*)?$/, 'expected letters, digits and underscores, not beginning with a digit')
    .default('')
    .describe('claim that identifies people; empty means `sub`'),
  userInfoOverride: userInfo.optional().describe('another userinfo endpoint than the discovered one'),
});

/** One provider. Source: vmcp spec §2 upstreamProviders. */
export const upstreamProvider = z
  .strictObject({
    name: z
      .string()
      .max(63)
      .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 'expected 1 to 63 lower-case letters, digits and "-" (a DNS label)')
      .describe('name of the provider, unique'),
    type: z.enum(['oidc', 'oauth2']).describe('OpenID Connect with discovery, or OAuth 2.0'),
    oidcConfig: oidcConfig.optional().describe('required for type oidc'),
    oauth2Config: oauth2Config.optional().describe('required for type oauth2'),
    // extensions
    loginPolicy: z
      .enum(['required', 'onDemand'])
      .default('required')
      .describe('everyone signs in here, or people connect it when a call needs it'),
    allowPrivateIp: z.boolean().default(false).describe('allow private addresses of the provider'),
    caBundlePath: text
      .min(1)
      .optional()
      .describe("PEM file with CA certificates for the provider, instead of the system's"),
  })
  .superRefine((given, context) => {
    const { own, other } =
      given.type === 'oidc'
        ? ({ own: 'oidcConfig', other: 'oauth2Config' } as const)
        : ({ own: 'oauth2Config', other: 'oidcConfig' } as const);
    const wrong = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (given[own] === undefined) wrong(own, `missing; type ${given.type} needs it`);
    if (given[other] !== undefined) wrong(other, `has no effect with type ${given.type}; remove it`);
  });

/** Parsed settings of one provider. */
export type UpstreamConfig = z.output<typeof upstreamProvider>;
