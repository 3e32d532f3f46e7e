import { remoteUrlProblem, withAdvice } from '@toolmgr/plugins/kit/safe-http/addresses';
import { z } from 'zod';

const text = z.string().min(1, 'expected a text that is not empty');
const httpUrl = z.string().regex(/^https?:\/\//, 'expected a URL that starts with http:// or https://');
const scope = z
  .string()
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'expected a scope without spaces, quotes and backslashes'); // RFC 6749 §3.3

const toolName = text.regex(/^[^*]*\*?[^*]*$/, 'expected the name of a tool with one * at most');

/**
 * `incomingAuth.oidc`.
 *
 * Source: vmcp spec §2 incomingAuth (inside config). `scopes` are advertised, never required; those of `toolScopes` are
 * required for their tools only.
 */
export const oidcConfig = z
  .strictObject({
    issuer: httpUrl.describe('issuer of accepted tokens; its discovery document has the URL of the keys'),
    clientId: text.describe("the gateway's client id at the introspection endpoint"),
    audience: text.describe('required audience of tokens'),
    clientSecretEnv: text
      .optional()
      .describe('environment variable with the secret for introspection; read at the start'),
    scopes: z.array(scope).default(['openid']).describe('advertised to clients (RFC 9728)'),
    toolScopes: z
      .record(toolName, z.array(scope).min(1))
      .optional()
      .describe(
        'scopes that tokens need for calls of tools, by name of the tool; one * in a name is any text. Other calls get 403 with insufficient_scope (extension)',
      ),
    resource: text.optional().describe('public URL of the endpoint (RFC 8707); default: the audience'),
    introspectionUrl: httpUrl.optional().describe('introspection endpoint for opaque tokens (RFC 7662)'),
    jwksUrl: httpUrl.optional().describe('URL of the keys; skips discovery'),
    caBundlePath: text.optional().describe("PEM file with CA certificates for the provider, instead of the system's"),
    jwksAuthTokenFile: text
      .optional()
      .describe(
        'file with a bearer token for requests of keys and discovery; read for each, because it may be renewed',
      ),
    requiredSubject: text
      .optional()
      .describe('only tokens with this `sub` are accepted, such as that of a service account (extension)'),
    insecureAllowHttp: z.boolean().default(false).describe('allow plain http URLs of the provider'),
    jwksAllowPrivateIp: z.boolean().default(false).describe('allow private addresses of the provider'),
    protectedResourceAllowPrivateIp: z.boolean().default(false).describe('the same as jwksAllowPrivateIp'),
  })
  .superRefine((given, context) => {
    const wrong = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [key], message });
    };
    const rules = remoteRules(given);
    for (const key of ['issuer', 'jwksUrl', 'introspectionUrl'] as const) {
      // an issuer on this machine may be this gateway itself, which is known at the start
      const mayBeOwn = key === 'issuer';
      const forUrl = mayBeOwn
        ? { ...rules, allowHttp: rules.allowHttp || ('loopback' as const), allowLoopback: true }
        : rules;
      const problem = given[key] === undefined ? undefined : remoteUrlProblem(given[key], forUrl);
      if (problem !== undefined) wrong(key, withAdvice(problem));
    }
    if (/[?#]/.test(given.issuer)) wrong('issuer', 'expected a URL without query and fragment');
    if (given.resource !== undefined && !isResourceUrl(given.resource)) {
      wrong('resource', 'expected an http or https URL without query and fragment');
    }
    if (given.clientSecretEnv !== undefined && given.introspectionUrl === undefined) {
      wrong('clientSecretEnv', 'is only sent to introspectionUrl, which is not set; remove one or add the other');
    }
  });

/** The parsed configuration. */
export type OidcConfig = z.output<typeof oidcConfig>;

/** Rules for requests to the provider. Each private-address flag applies to all of them. */
export function remoteRules(
  config: Pick<OidcConfig, 'insecureAllowHttp' | 'jwksAllowPrivateIp' | 'protectedResourceAllowPrivateIp'>,
) {
  return {
    allowHttp: config.insecureAllowHttp,
    allowPrivateAddresses: config.jwksAllowPrivateIp || config.protectedResourceAllowPrivateIp,
  };
}

/** Whether a text is a valid `resource` of metadata (RFC 9728 §1.2). */
export function isResourceUrl(value: string): boolean {
  const url = URL.parse(value);
  return url !== null && /^https?:$/.test(url.protocol) && !/[?#]/.test(value);
}
