import { secretReference } from '@toolmgr/plugins/kit/secrets';
import { z } from 'zod';
import { authorizationParams, redirectUri, scopes, userInfo, webUrl } from '../config-fields.ts';

const SUBJECT_CLAIM = /^(?:[A-Za-z_][A-Za-z0-9_]{0,127})?$/;

/** `oidcConfig` of an upstream provider. Source: vmcp spec §2 `upstreamProviders`. */
export const oidcConfig = z
  .strictObject({
    issuerUrl: webUrl
      .refine((url) => !url.includes('?'), 'expected a URL without a query')
      .describe('issuer; its discovery document is read in the background'),
    clientId: z.string().min(1, 'expected a text that is not empty').describe("the gateway's client id at the issuer"),
    clientSecretRef: secretReference.optional().describe('its secret; not needed for a public client'),
    redirectUri: redirectUri.optional().describe('default: {resourceUrl}/oauth/callback'),
    scopes: scopes
      .default(['openid', 'offline_access'])
      .refine((given) => given.includes('openid'), 'expected openid among the scopes: without it there is no ID token')
      .describe('requested scopes; providers without offline_access (Google) need a list of their own'),
    additionalAuthorizationParams: authorizationParams.default({}),
    subjectClaim: z
      .string()
      .regex(SUBJECT_CLAIM, 'expected letters, digits and underscores, no digit first, at most 128 characters')
      .default('')
      .transform((claim) => claim || 'sub')
      .describe('claim of the ID token that identifies the person; a change makes every person a new one'),
    userInfoOverride: userInfo.optional().describe('endpoint that is asked instead of the discovered one'),
  })
  .superRefine(({ subjectClaim, userInfoOverride }, context) => {
    const [first, ...more] = userInfoOverride?.fieldMapping.subjectFields ?? ['sub'];
    if (subjectClaim === 'sub' || (first === 'sub' && more.length === 0)) return;
    const message = 'set only one of subjectClaim and userInfoOverride.fieldMapping.subjectFields';
    context.addIssue({ code: 'custom', path: ['subjectClaim'], message });
  });

/** The parsed `oidcConfig`. */
export type OidcUpstreamConfig = z.output<typeof oidcConfig>;
