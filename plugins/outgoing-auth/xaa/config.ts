import { clientProblem, filled, scopes, tokenUrl, tokenUrlProblem } from '@toolmgr/plugins/kit/oauth';
import { z } from 'zod';

/** The only type of subject token. Source: RFC 8693 §3. */
export const ID_TOKEN = 'urn:ietf:params:oauth:token-type:id_token';

/** Options of `xaa`. Source: vmcp spec §2 outgoingAuth `xaa`. */
export const xaaOptions = z
  .strictObject({
    idpTokenUrl: tokenUrl.describe('token endpoint of the identity provider; https, or http on this machine'),
    targetAudience: filled.describe("issuer of the backend's authorization server: the audience of the assertion"),
    targetTokenUrl: z
      .string()
      .describe("token endpoint of the backend's authorization server; https, or http on this machine"),
    idpClientId: filled.optional().describe("the gateway's client id at the identity provider"),
    idpClientSecret: filled.optional().describe('its secret; prefer idpClientSecretEnv'),
    idpClientSecretEnv: filled.optional().describe('environment variable with the secret; read once at the start'),
    targetClientId: filled.optional().describe("the gateway's client id at the backend's authorization server"),
    targetClientSecret: filled.optional().describe('its secret; prefer targetClientSecretEnv'),
    targetClientSecretEnv: filled.optional().describe('environment variable with the secret; read once at the start'),
    targetResource: filled
      .optional()
      .describe('resource (RFC 8707) in the request to the identity provider; the assertion has to name it'),
    scopes: scopes.describe("scopes of the token from the backend's authorization server"),
    subjectProviderName: filled
      .optional()
      .describe('upstream provider whose ID token is exchanged; default: the only one of the authorization server'),
    subjectTokenType: z.literal(ID_TOKEN).default(ID_TOKEN).describe('type of the token that is exchanged'),
    insecureTargetTokenUrl: z
      .boolean()
      .default(false)
      .describe('allows plain http for targetTokenUrl, for development only'),
  })
  .superRefine((given, context) => {
    const wrong = (message: string | undefined, path: string[] = []): void => {
      if (message !== undefined) context.addIssue({ code: 'custom', message, path });
    };
    wrong(tokenUrlProblem(given.targetTokenUrl, given.insecureTargetTokenUrl ? true : 'loopback'), ['targetTokenUrl']);
    for (const side of ['idp', 'target'] as const) {
      const { [`${side}ClientId` as const]: id } = given;
      const { [`${side}ClientSecret` as const]: secret, [`${side}ClientSecretEnv` as const]: secretEnv } = given;
      wrong(clientProblem({ id, secret, secretEnv }, `${side}ClientId`));
      const hasSecret = secret !== undefined || secretEnv !== undefined;
      if (id !== undefined && !hasSecret)
        wrong(`needs ${side}ClientSecret or ${side}ClientSecretEnv`, [`${side}ClientId`]);
    }
  });

/** The parsed options. */
export type XaaOptions = z.output<typeof xaaOptions>;
