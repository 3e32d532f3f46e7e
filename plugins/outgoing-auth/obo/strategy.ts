import { type AuthStrategy, type Core, explainIssues, GatewayFault, type Log, type Slots } from '@toolmgr/core';
import {
  createCredentialCache,
  createExchangeAuthorizer,
  type Issued,
  OWN_TOKENS,
  upstreamSubjects,
} from '@toolmgr/plugins/kit/credentials';
import { type BackendTokens, bearerFrom, createBackendTokens } from '@toolmgr/plugins/kit/oauth';
import { upstreamTokensFor, warnWithoutInjection } from '@toolmgr/plugins/kit/oauth/settings';
import { readSecret } from '@toolmgr/plugins/kit/secrets';
import { type OboOptions, oboOptions } from './config.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'; // RFC 7523 §2.1

/** What {@link createObo} needs. */
export interface OboParts {
  readonly slots: Pick<Slots, 'secretSources'>;
  readonly slot: Core['slot'];
  readonly log: Log;
  now(): number;
}

/**
 * Creates the strategy `obo`: an access token of each caller becomes one for the backend, in the name of the same person. Without
 * `allow` every use is refused. Source: Microsoft identity platform, OAuth 2.0 On-Behalf-Of flow; vmcp spec §7.
 */
export function createObo(parts: OboParts, allow: boolean): AuthStrategy & { close(): Promise<void> } {
  const opened: BackendTokens[] = [];
  return {
    async prepare(given, where) {
      if (!allow) throw new GatewayFault('AUTH_STRATEGY_INVALID', `${where}: obo is refused as enterprise-required`);
      const read = oboOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, oboOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const { subjectTokenProviderName: provider, clientId, clientSecret, clientSecretEnv: env } = read.data;
      const server = upstreamTokensFor(parts, provider, { where, option: 'subjectTokenProviderName' });
      if (server?.isInjectionDisabled) {
        warnWithoutInjection(parts.log, 'obo', where);
        return { headerNames: ['authorization'], apply: () => undefined };
      }
      const named = env === undefined ? undefined : await readSecret(parts.slots, env, `${where}.clientSecretEnv`);
      const secret = clientSecret ?? named?.reveal();
      const endpoint = createBackendTokens({ url: read.data.tokenUrl, clientId, clientSecret: secret });
      opened.push(endpoint);
      return createExchangeAuthorizer({
        headerName: 'authorization',
        subjects:
          server === undefined || provider === undefined
            ? OWN_TOKENS
            : upstreamSubjects(server, provider, 'accessToken', parts.now),
        cache: createCredentialCache<string>(parts.now, 'on-behalf-of requests'),
        what: 'a token on behalf of the caller',
        log: parts.log,
        exchange: (subjectToken, backend) => onBehalfOf(endpoint, read.data, subjectToken, backend),
        own: undefined,
      });
    },
    async close() {
      await Promise.allSettled(opened.map((endpoint) => endpoint.close()));
    },
  };
}

async function onBehalfOf(
  endpoint: BackendTokens,
  { audience, scopes, cacheSkewSeconds }: OboOptions,
  assertion: string,
  backend: string,
): Promise<Issued<string>> {
  const fallback = audience === undefined ? '' : `${audience}/.default`;
  const scope = scopes.length === 0 ? fallback : scopes.join(' ');
  const form = {
    assertion,
    requested_token_use: 'on_behalf_of',
    ...(scope === '' ? {} : { scope }),
    ...(audience === undefined ? {} : { audience }),
  };
  const issued = bearerFrom(await endpoint.request(GRANT, form, backend), (sentence) =>
    endpoint.fault('AUTH_STRATEGY_FAILED', backend, sentence),
  );
  const { lifetimeMs } = issued;
  if (lifetimeMs === undefined) return issued;
  return { ...issued, lifetimeMs: Math.max(0, lifetimeMs - cacheSkewSeconds * 1000) };
}
