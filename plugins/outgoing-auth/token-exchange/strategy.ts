import {
  type AuthContext,
  type Authorizer,
  type AuthStrategy,
  explainIssues,
  GatewayFault,
  type Log,
} from '@toolmgr/core';
import {
  type Cached,
  type CredentialCache,
  type CredentialSource,
  createCredentialCache,
} from '../../shared/credential-cache.ts';
import { createCredentialKeys } from '../../shared/credential-keys.ts';
import { readSecret, type SecretSlots } from '../../shared/read-secret.ts';
import { tokenExchangeOptions } from './config.ts';
import { createTokenRequests, type TokenRequests } from './token-request.ts';

/** What {@link createTokenExchange} needs. */
export interface TokenExchangeParts {
  readonly slots: SecretSlots;
  readonly log: Log;
  now(): number;
}

/** The strategy, with a method to close its connections. */
export interface TokenExchange extends AuthStrategy {
  close(): Promise<void>;
}

/**
 * Creates the strategy `token_exchange`: exchanges each caller's token for one that the backend accepts (RFC 8693).
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
      const { clientSecret, clientSecretEnv } = read.data;
      const named =
        clientSecretEnv === undefined
          ? undefined
          : await readSecret(parts.slots, clientSecretEnv, `${where}.clientSecretEnv`);
      const secret = clientSecret ?? named?.reveal();
      const requests = createTokenRequests(read.data, secret);
      opened.push(requests);
      return createAuthorizer(
        requests,
        createCredentialCache<string>(parts.now, 'token exchanges'),
        read.data.headerName.toLowerCase(),
        parts.log,
      );
    },
    async close() {
      await Promise.allSettled(opened.map((requests) => requests.close()));
    },
  };
}

function createAuthorizer(
  requests: TokenRequests,
  cache: CredentialCache<string>,
  headerName: string,
  log: Log,
): Authorizer {
  const keyOf = createCredentialKeys();
  const setHeader = (headers: Record<string, string>, { value }: Cached<string>): void => {
    if (value !== undefined) headers[headerName] = value;
  };
  return {
    headerNames: [headerName],
    perCaller: true,
    apply({ backend, headers }, authContext) {
      const { token } = authContext.caller;
      if (token === undefined) {
        if (authContext.purpose !== 'discovery') throw withoutToken(backend.name);
        if (requests.own === undefined) return;
      }
      const key = keyOf(backend.name, authContext.caller);
      const kept = cache.find(key);
      if (kept !== undefined) return setHeader(headers, kept);
      const wanted =
        token === undefined ? ownToken(requests, backend.name, log) : exchanged(requests, backend.name, authContext);
      return cache.obtain(key, wanted, authContext.signal).then((made) => setHeader(headers, made));
    },
    refused: (backend, caller) =>
      (caller.token !== undefined || requests.own !== undefined) && cache.renew(keyOf(backend.name, caller)),
  };
}

function exchanged(requests: TokenRequests, backend: string, { caller }: AuthContext): CredentialSource<string> {
  const { exp } = caller.claims;
  return {
    make: () => requests.exchange(caller.token?.reveal() ?? '', backend),
    untilMs: typeof exp === 'number' ? exp * 1000 : undefined,
  };
}

function ownToken(requests: TokenRequests, backend: string, log: Log): CredentialSource<string> {
  return {
    async make() {
      const issued = await requests.own?.(backend);
      if (issued === undefined) {
        log.warn('lists are read without a credential: the token endpoint issues none for the gateway itself', {
          backend,
        });
      }
      return issued;
    },
    untilMs: undefined,
  };
}

function withoutToken(backend: string): GatewayFault {
  return new GatewayFault(
    'AUTH_STRATEGY_REFUSED',
    `backend "${backend}" needs an exchanged token, but this caller has no token`,
  );
}
