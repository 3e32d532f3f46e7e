import { z } from 'zod';

const text = z.string();
const texts = z.array(text);

const obo = z.strictObject({
  tokenUrl: text,
  audience: text.optional(),
  clientId: text.optional(),
  clientSecret: text.optional(),
  clientSecretEnv: text.optional(),
  scopes: texts.optional(),
  cacheSkewSeconds: z.int().min(0).max(2_147_483_647).default(0),
  subjectTokenProviderName: text.optional(),
});

const xaa = z.strictObject({
  idpTokenUrl: text,
  targetAudience: text,
  targetTokenUrl: text,
  idpClientId: text.optional(),
  idpClientSecret: text.optional(),
  idpClientSecretEnv: text.optional(),
  targetClientId: text.optional(),
  targetClientSecret: text.optional(),
  targetClientSecretEnv: text.optional(),
  targetResource: text.optional(),
  scopes: texts.optional(),
  subjectProviderName: text.optional(),
  subjectTokenType: z.literal('urn:ietf:params:oauth:token-type:id_token').optional(),
  insecureTargetTokenUrl: z.boolean().default(false),
});

const LATER = 'is not available yet: it comes with the embedded authorization server';

/**
 * Strategies of the contract that are not available yet. Their options are checked, and their use is refused by name. Remove
 * a strategy from this list when its plugin exists.
 */
export const ABSENT_STRATEGIES = [
  {
    type: 'obo',
    options: 'obo',
    schema: obo,
    why: 'is refused as enterprise-required: the default build does not have it', // vmcp spec §7
  },
  { type: 'xaa', options: 'xaa', schema: xaa, why: LATER },
] as const;
