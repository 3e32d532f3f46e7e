import { type AuthStrategy, type Core, explainIssues, GatewayFault, type Log, type Slots } from '@toolmgr/core';
import {
  createCredentialCache,
  createExchangeAuthorizer,
  OWN_TOKENS,
  type SubjectTokens,
  upstreamSubjects,
} from '@toolmgr/plugins/kit/credentials';
import { refuseWithoutInjection, upstreamTokensFor } from '@toolmgr/plugins/kit/oauth/settings';
import { readSecret } from '@toolmgr/plugins/kit/secrets';
import { ID_TOKEN, type TokenExchangeOptions, tokenExchangeOptions } from './config.ts';
import { createTokenRequests, type TokenRequests } from './token-request.ts';

/** What {@link createTokenExchange} needs. */
export interface TokenExchangeParts {
  readonly slots: Pick<Slots, 'secretSources'>;
  readonly slot: Core['slot'];
  readonly log: Log;
  now(): number;
}

/** The strategy, with a method to close its connections. */
export interface TokenExchange extends AuthStrategy {
  close(): Promise<void>;
}

/**
 * Creates the strategy `token_exchange`: exchanges each caller's token for one that the backend accepts (RFC 8693). It is the token
 * that the caller got from an upstream provider when there is an authorization server, else that of the request.
 *
 * The gateway's own requests, e.g. for lists, use a token of its own with a client secret (client credentials), and no
 * credential otherwise.
 */
export function createTokenExchange(parts: TokenExchangeParts): TokenExchange {
  const opened: TokenRequests[] = [];
  return {
    async prepare(given, where) {
      const read = tokenExchangeOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, tokenExchangeOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const subjects = subjectsOf(parts, read.data, where);
      const { clientSecret, clientSecretEnv, headerName } = read.data;
      const named =
        clientSecretEnv === undefined
          ? undefined
          : await readSecret(parts.slots, clientSecretEnv, `${where}.clientSecretEnv`);
      const requests = createTokenRequests(read.data, clientSecret ?? named?.reveal());
      opened.push(requests);
      return createExchangeAuthorizer({
        headerName: headerName.toLowerCase(),
        subjects,
        cache: createCredentialCache<string>(parts.now, 'token exchanges'),
        what: 'an exchanged token',
        log: parts.log,
        exchange: requests.exchange,
        own: requests.own,
      });
    },
    async close() {
      await Promise.allSettled(opened.map((requests) => requests.close()));
    },
  };
}

function subjectsOf(
  { slot, now }: TokenExchangeParts,
  { subjectProviderName, subjectTokenType }: TokenExchangeOptions,
  where: string,
): SubjectTokens {
  const server = upstreamTokensFor({ slot }, subjectProviderName, { where, option: 'subjectProviderName' });
  refuseWithoutInjection(server, 'token_exchange', where);
  const provider = subjectProviderName ?? server?.providers[0];
  if (server === undefined || provider === undefined) return OWN_TOKENS;
  return upstreamSubjects(server, provider, subjectTokenType === ID_TOKEN ? 'idToken' : 'accessToken', now);
}
