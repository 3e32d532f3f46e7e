import { clientProblem, filled, scopes, tokenUrl } from '@toolmgr/plugins/kit/oauth';
import { z } from 'zod';

/** Configuration of the plugin. Source: vmcp spec §7 (the default build refuses the strategy). */
export const oboConfig = z.strictObject({
  allow: z
    .boolean()
    .default(false)
    .describe('makes the strategy work; by default it is refused as enterprise-required'),
});

/** Options of `obo`. Source: vmcp spec §2 outgoingAuth `obo`. */
export const oboOptions = z
  .strictObject({
    tokenUrl: tokenUrl.describe('token endpoint; https, or http on this machine. Private addresses are allowed'),
    audience: filled
      .optional()
      .describe('application of the backend; without scopes the scope AUDIENCE/.default is requested'),
    clientId: filled.optional().describe("the gateway's client id at the token endpoint"),
    clientSecret: filled.optional().describe('its secret; prefer clientSecretEnv'),
    clientSecretEnv: filled.optional().describe('environment variable with the secret; read once at the start'),
    scopes: scopes.describe('scopes of the token'),
    cacheSkewSeconds: z
      .int()
      .min(0)
      .max(2_147_483_647)
      .default(0)
      .describe('how long before its end a cached token is no longer used'),
    subjectTokenProviderName: filled
      .optional()
      .describe("upstream provider whose access token is the assertion; default: the caller's own token"),
  })
  .superRefine(({ clientId: id, clientSecret: secret, clientSecretEnv: secretEnv }, context) => {
    const message = clientProblem({ id, secret, secretEnv }, 'clientId');
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });

/** The parsed options. */
export type OboOptions = z.output<typeof oboOptions>;
