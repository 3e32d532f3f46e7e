import { z } from 'zod';
import { oauth2Config } from './oauth2/oauth2-config.ts';
import { oidcConfig } from './oidc/oidc-config.ts';
import { addressRules, configuredUrlProblem, configuredUrls } from './provider/provider-urls.ts';

const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const MAX_PROVIDERS = 64;
const HOST = /^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

const upstreamProvider = z
  .strictObject({
    name: z
      .string()
      .regex(DNS_LABEL, 'expected a DNS label: 1 to 63 lower-case letters, digits and "-", not at its ends')
      .describe('unique name'),
    type: z.enum(['oidc', 'oauth2']).describe('OpenID Connect, or OAuth 2.0 alone'),
    oidcConfig: oidcConfig.optional().describe('required for type oidc'),
    oauth2Config: oauth2Config.optional().describe('required for type oauth2'),
    loginPolicy: z
      .enum(['required', 'onDemand'])
      .default('required')
      .describe('required: everyone signs in here; onDemand: connected later, when a call needs it. Our extension'),
    allowPrivateAddresses: z
      .union([
        z.boolean(),
        z.array(z.string().regex(HOST, 'expected a host such as idp.internal or idp.internal:8443')),
      ])
      .default(false)
      .describe(
        'private and loopback addresses: true for the hosts of the URLs in this provider, or a list of further hosts; also http on this machine. Our extension',
      ),
    insecureAllowHTTP: z
      .boolean()
      .default(false)
      .describe('plain http to other machines, for development. Our extension'),
    caBundlePath: z
      .string()
      .min(1)
      .optional()
      .describe("PEM file with CA certificates for the provider, instead of the system's. Our extension"),
  })
  .superRefine((given, context) => {
    const wrong = (path: readonly PropertyKey[], message: string): void => {
      context.addIssue({ code: 'custom', path: [...path], message });
    };
    const [own, other] = given.type === 'oidc' ? OIDC_KEYS : OAUTH2_KEYS;
    if (given[own] === undefined) wrong([own], `is required for type ${given.type}`);
    if (given[other] !== undefined) wrong([other], `must be absent for type ${given.type}`);
    const rulesOf = addressRules(given);
    for (const configured of configuredUrls(given)) {
      const problem = configuredUrlProblem(configured, rulesOf);
      if (problem !== undefined) wrong(configured.path, problem);
    }
  });

const OIDC_KEYS = ['oidcConfig', 'oauth2Config'] as const;
const OAUTH2_KEYS = ['oauth2Config', 'oidcConfig'] as const;

/** One provider, parsed. */
export type UpstreamConfig = z.output<typeof upstreamProvider>;

/** `upstreamProviders` of `authServerConfig`. Source: vmcp spec §2. */
export const upstreamProviders = z
  .array(upstreamProvider)
  .min(1, 'expected at least one provider')
  .max(MAX_PROVIDERS)
  .superRefine((given, context) => {
    for (const [index, { name }] of given.entries()) {
      if (given.findIndex((each) => each.name === name) === index) continue;
      context.addIssue({ code: 'custom', path: [index, 'name'], message: `"${name}" names another provider already` });
    }
    if (given[0]?.loginPolicy === 'onDemand') {
      const message = 'the first provider names the person and must be required; put a required one first';
      context.addIssue({ code: 'custom', path: [0, 'loginPolicy'], message });
    }
  });
