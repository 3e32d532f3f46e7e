import { type AuthStrategy, type BackendHealth, type Core, explainIssues, GatewayFault, type Log } from '@toolmgr/core';
import type { RemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { oauthClientOptions } from './config.ts';
import { createLackingScopes } from './lacking-scopes.ts';
import { createOauthHttp } from './oauth-http.ts';
import { createRefreshedTokens, type RefreshedTokens, type TokenState } from './refreshed-tokens.ts';
import { tokenEndpointOf } from './token-endpoint.ts';
import { requestTokens } from './token-request.ts';
import { workloadTokenStore } from './token-store.ts';

/** What {@link createOauthClient} needs. */
export interface OauthClientParts {
  readonly backends: Pick<Core['backends'], 'setHealth'>;
  readonly log: Log;
  now(): number;
}

/** The strategy, with a method to end its timers and connections. */
export interface OauthClient extends AuthStrategy {
  close(): Promise<void>;
}

/**
 * Creates the strategy `oauth_client`: adds the access token of a workload's login to all requests to its server.
 *
 * Its state is the health of the backend: `degraded` with the category `auth_retrying` while the token cannot be refreshed,
 * `unauthenticated` when a new login is needed, `scope_needed` when one with further scopes would help.
 */
export function createOauthClient({ backends, log, now }: OauthClientParts): OauthClient {
  const opened: { readonly tokens: RefreshedTokens; readonly http: RemoteHttp }[] = [];
  return {
    async prepare(given, where) {
      const read = oauthClientOptions.safeParse(given);
      if (!read.success) {
        const problems = explainIssues(where, oauthClientOptions, read.error);
        throw new GatewayFault('AUTH_STRATEGY_INVALID', problems.join('\n'));
      }
      const { stateDir, workload, remoteUrl, tokenUrl } = read.data;
      const http = await createOauthHttp([remoteUrl, tokenUrl]);
      const endpoint = await tokenEndpointOf(read.data, http, where);
      const served = new Set<string>();
      let health = healthOf('authenticated', now());
      const become = (next: BackendHealth): void => {
        health = next;
        for (const backend of served) backends.setHealth(backend, health);
      };
      const store = workloadTokenStore(stateDir, workload);
      const lackingScopes = createLackingScopes({
        ...{ store, workload, log },
        found: () => become({ ...healthOf('auth_retrying', now()), errorCategory: 'scope_needed' }),
      });
      const tokens = await createRefreshedTokens({
        store,
        refresh: (refreshToken, signal) =>
          requestTokens(endpoint, 'refresh_token', { refresh_token: refreshToken }, now, signal),
        logInAgain: `a new login is needed: toolmgr start ${workload}`,
        changed: (state) => become(healthOf(state, now())),
        log,
        now,
      });
      opened.push({ tokens, http });
      return {
        headerNames: ['authorization'],
        apply({ backend, headers }, { signal }) {
          if (!served.has(backend.name)) {
            served.add(backend.name);
            backends.setHealth(backend.name, health);
          }
          const header = tokens.current();
          if (header === undefined) {
            return tokens.obtain(signal).then((made) => {
              headers.authorization = made;
            });
          }
          headers.authorization = header;
        },
        refused: () => tokens.refused(),
        forbidden: (_backend, challenge) => lackingScopes(challenge),
      };
    },
    async close() {
      for (const { tokens } of opened) tokens.close();
      await Promise.allSettled(opened.map(({ http }) => http.close()));
    },
  };
}

const STATUS = { authenticated: 'healthy', auth_retrying: 'degraded', unauthenticated: 'unauthenticated' } as const;

function healthOf(state: TokenState, nowMs: number): BackendHealth {
  return {
    status: STATUS[state],
    consecutiveFailures: state === 'authenticated' ? 0 : 1,
    checkedMs: nowMs,
    errorCategory: state === 'authenticated' ? undefined : state,
    sinceMs: nowMs,
  };
}
