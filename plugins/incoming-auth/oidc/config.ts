import { z } from 'zod';
import { remoteUrlProblem } from '../../shared/safe-http/remote-http.ts';

const text = z.string().min(1, 'expected a text that is not empty');
const httpUrl = z.string().regex(/^https?:\/\//, 'expected a URL that starts with http:// or https://');
const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected a scope without spaces, quotes and backslashes'); // RFC 6749 §3.3

/**
 * `incomingAuth.oidc`.
 *
 * Source: vmcp spec §2 incomingAuth (inside config). `scopes` are advertised, never demanded of a token.
 */
export const oidcConfig = z
  .strictObject({
    issuer: httpUrl.describe('whose tokens are taken; its discovery document names the keys'),
    clientId: text.describe('how the gateway names itself at the introspection endpoint'),
    audience: text.describe('what a token must be meant for'),
    clientSecretEnv: text
      .optional()
      .describe('environment variable with the secret for introspection; read at the start'),
    scopes: z.array(scope).default(['openid']).describe('advertised to clients (RFC 9728)'),
    resource: text.optional().describe('public URL of the endpoint (RFC 8707); default: the audience'),
    introspectionUrl: httpUrl.optional().describe('where opaque tokens are asked about (RFC 7662)'),
    jwksUrl: httpUrl.optional().describe('where the keys are; skips discovery'),
    caBundlePath: text.optional().describe('PEM file; replaces the roots of the system for requests to the provider'),
    jwksAuthTokenFile: text
      .optional()
      .describe('file with a bearer token for requests of keys and discovery; read once at the start'),
    insecureAllowHttp: z.boolean().default(false).describe('take plain http URLs of the provider'),
    jwksAllowPrivateIp: z.boolean().default(false).describe('the provider may have a private address'),
    protectedResourceAllowPrivateIp: z.boolean().default(false).describe('the same as jwksAllowPrivateIp'),
  })
  .superRefine((given, context) => {
    const wrong = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [key], message });
    };
    for (const key of ['issuer', 'jwksUrl', 'introspectionUrl'] as const) {
      const problem = given[key] === undefined ? undefined : remoteUrlProblem(given[key], remoteRules(given));
      if (problem !== undefined) wrong(key, advised(problem));
    }
    if (/[?#]/.test(given.issuer)) wrong('issuer', 'expected a URL without query and fragment');
    if (given.resource !== undefined && !isResourceUrl(given.resource)) {
      wrong('resource', 'expected an http or https URL without query and fragment');
    }
    if (given.clientSecretEnv !== undefined && given.introspectionUrl === undefined) {
      wrong('clientSecretEnv', 'is only sent to introspectionUrl, which is not set; remove one or add the other');
    }
  });

/** What was read. */
export type OidcConfig = z.output<typeof oidcConfig>;

/** What requests to the provider may do. Either private-address flag opens all of them: they go to one provider. */
export function remoteRules(
  config: Pick<OidcConfig, 'insecureAllowHttp' | 'jwksAllowPrivateIp' | 'protectedResourceAllowPrivateIp'>,
) {
  return {
    allowHttp: config.insecureAllowHttp,
    allowPrivateAddresses: config.jwksAllowPrivateIp || config.protectedResourceAllowPrivateIp,
  };
}

/** Whether a text can stand as the `resource` of metadata (RFC 9728 §1.2). */
export function isResourceUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(value);
}

/** The words of a refused URL, with the setting that would allow it. */
function advised(problem: string): string {
  if (problem.includes('plain http')) return `${problem} (insecureAllowHttp allows it, for development)`;
  return problem.startsWith('leads to') ? `${problem} (jwksAllowPrivateIp allows it)` : problem;
}
