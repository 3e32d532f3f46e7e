import { unknownUpstream } from '@toolmgr/plugins/kit/oauth/settings';
import { z } from 'zod';
import { clientsShape } from './clients/config.ts';
import { delegationFields } from './delegation/config.ts';
import { delegationProblems } from './delegation/cross-checks.ts';
import { plainHttpProblem, providerConfig } from './provider/config.ts';
import { storageConfig } from './storage/config.ts';
import { type UpstreamConfig, upstreamProviders } from './upstreams/config.ts';

/** Scopes that every installation supports. */
const STANDARD_SCOPES = ['openid', 'profile', 'email', 'offline_access'];

/**
 * `authServerConfig`: every field of the contract, and our extensions.
 *
 * Shape: durations in milliseconds; `primaryUpstreamProvider` may be empty, see {@link primaryOf}.
 * Source: vmcp spec §2 spec.authServerConfig.
 */
export const authServerConfig = z
  .strictObject({
    ...providerConfig,
    upstreamProviders: upstreamProviders.describe('identity providers that people sign in to, in this order'),
    primaryUpstreamProvider: z
      .string()
      .default('')
      .describe('provider whose claims policies read; empty means the first'),
    disableUpstreamTokenInjection: z
      .boolean()
      .default(false)
      .describe('backends get no credential of the caller: no Authorization, Cookie and Proxy-Authorization'),
    connectTool: z
      .boolean()
      .default(true)
      .describe('offer the tool connect_account when a provider has loginPolicy onDemand (our extension)'),
    ...clientsShape,
    ...delegationFields,
    storage: storageConfig.prefault({}).describe('where records are kept'),
  })
  .superRefine((given, context) => {
    const wrong = (path: PropertyKey[], message: string): void => context.addIssue({ code: 'custom', path, message });
    for (const key of ['issuer', 'authorizationEndpointBaseUrl'] as const) {
      const url = given[key];
      const problem = url === undefined ? undefined : plainHttpProblem(url, given.insecureAllowHTTP);
      if (problem !== undefined) wrong([key], problem);
    }
    const names = given.upstreamProviders.map(({ name }) => name);
    const { primaryUpstreamProvider: primary } = given;
    if (primary !== '' && !names.includes(primary)) wrong(['primaryUpstreamProvider'], unknownUpstream(primary, names));
    const supported = supportedScopes(given);
    for (const [index, scope] of given.baselineClientScopes.entries()) {
      if (supported.includes(scope)) continue;
      const message = `"${scope}" is not a supported scope; supported: ${supported.join(', ')}`;
      wrong(['baselineClientScopes', index], message);
    }
    for (const { path, message } of delegationProblems(given, { ...given, supportedScopes: supported })) {
      wrong([...path], message);
    }
  });

/** The parsed configuration. */
export type AuthServerConfig = z.output<typeof authServerConfig>;

/** Scopes that clients may request: the standard ones, those of the resource and those of the upstream providers. */
export function supportedScopes({
  scopesSupported,
  upstreamProviders,
}: Pick<AuthServerConfig, 'scopesSupported' | 'upstreamProviders'>): readonly string[] {
  return [...new Set([...STANDARD_SCOPES, ...scopesSupported, ...upstreamProviders.flatMap(scopesOf)])];
}

function scopesOf({ oidcConfig, oauth2Config }: UpstreamConfig): readonly string[] {
  return (oidcConfig ?? oauth2Config)?.scopes ?? [];
}

/** Name of the provider whose claims policies read. */
export function primaryOf(config: Pick<AuthServerConfig, 'primaryUpstreamProvider' | 'upstreamProviders'>): string {
  const { primaryUpstreamProvider: given, upstreamProviders } = config;
  return given === '' ? (upstreamProviders[0]?.name ?? '') : given;
}
