import { type AuthStrategy, type Core, explainIssues, GatewayFault, type Log, type Slots } from '@toolmgr/core';
import { createCredentialCache, createExchangeAuthorizer, upstreamSubjects } from '@toolmgr/plugins/kit/credentials';
import type { UpstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { ambiguousProvider, upstreamTokensFor, warnWithoutInjection } from '@toolmgr/plugins/kit/oauth/settings';
import { readSecret } from '@toolmgr/plugins/kit/secrets';
import { type XaaOptions, xaaOptions } from './config.ts';
import { type AssertionExchange, createAssertionExchange } from './two-steps.ts';

/** What {@link createXaa} needs. */
export interface XaaParts {
  readonly slots: Pick<Slots, 'secretSources'>;
  readonly slot: Core['slot'];
  readonly log: Log;
  now(): number;
}

/**
 * Creates the strategy `xaa`. The gateway's own requests, e.g. for lists, use a token of its own of the backend's authorization
 * server when it has a client secret there, and no credential otherwise.
 */
export function createXaa(parts: XaaParts): AuthStrategy & { close(): Promise<void> } {
  const { slots, log, now } = parts;
  const opened: AssertionExchange[] = [];
  const secretOf = async (value: string | undefined, variable: string | undefined, setting: string) =>
    value ?? (variable === undefined ? undefined : (await readSecret(slots, variable, setting)).reveal());
  return {
    async prepare(given, where) {
      const read = xaaOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, xaaOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const options = read.data;
      const { server, provider } = providerOf(parts, options, where);
      if (server.isInjectionDisabled) {
        warnWithoutInjection(log, 'xaa', where);
        return { headerNames: ['authorization'], apply: () => undefined };
      }
      const { idpClientSecret, idpClientSecretEnv, targetClientSecret, targetClientSecretEnv } = options;
      const exchange = createAssertionExchange(
        options,
        {
          idp: await secretOf(idpClientSecret, idpClientSecretEnv, `${where}.idpClientSecretEnv`),
          target: await secretOf(targetClientSecret, targetClientSecretEnv, `${where}.targetClientSecretEnv`),
        },
        now,
      );
      opened.push(exchange);
      return createExchangeAuthorizer({
        headerName: 'authorization',
        subjects: upstreamSubjects(server, provider, 'idToken', now),
        cache: createCredentialCache<string>(now, 'assertion exchanges'),
        what: 'a token from an identity assertion',
        log,
        exchange: exchange.exchange,
        own: exchange.own,
      });
    },
    async close() {
      await Promise.allSettled(opened.map((exchange) => exchange.close()));
    },
  };
}

function providerOf(
  core: Pick<Core, 'slot'>,
  { subjectProviderName }: XaaOptions,
  where: string,
): { readonly server: UpstreamTokens; readonly provider: string } {
  const server = upstreamTokensFor(core, subjectProviderName, { where, option: 'subjectProviderName' });
  const provider = subjectProviderName ?? server?.providers[0];
  if (server === undefined || provider === undefined) {
    const message = `${where}: xaa needs the ID token of an upstream provider, and there is no authorization server`;
    throw new GatewayFault('AUTH_STRATEGY_INVALID', message);
  }
  if (subjectProviderName === undefined && server.providers.length > 1) {
    throw new GatewayFault('AUTH_STRATEGY_INVALID', `${where}: ${ambiguousProvider(server.providers)}`);
  }
  return { server, provider };
}
