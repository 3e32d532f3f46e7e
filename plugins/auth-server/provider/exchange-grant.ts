import type Provider from 'oidc-provider';
import { errors } from 'oidc-provider';
import type { Delegation } from '../delegation/delegation.ts';
import { GrantRefusal } from '../delegation/grant-refusal.ts';
import { EXCHANGE_PARAMETERS, type ExchangeParameters, TOKEN_EXCHANGE } from '../delegation/token-exchange.ts';

/** Registers the grant of RFC 8693. The library authenticates the client and checks that it is registered for the grant. */
export function registerExchangeGrant(provider: Provider, { exchange }: Pick<Delegation, 'exchange'>): void {
  provider.registerGrantType<ExchangeParameters>(
    TOKEN_EXCHANGE,
    async (ctx) => {
      const { client, params } = ctx.oidc;
      const outcome = await exchange({ id: client.clientId, scope: client.scope }, params);
      if (outcome instanceof GrantRefusal) throw new errors.CustomOIDCProviderError(outcome.error, outcome.description);
      ctx.body = outcome;
    },
    EXCHANGE_PARAMETERS,
    ['resource', 'audience'],
  );
}
