import {
  changeConfig,
  readWorkload,
  type WorkloadSecretStore,
  workloadSecretStore,
} from '@toolmgr/plugins/kit/workloads';
import type { IssuedTokens } from './token-request.ts';

const MAX_LACKING = 64; // scopes that are kept for the next login

/** Names of the secrets of a login. */
export const LOGIN_SECRETS = {
  accessToken: 'OAUTH_ACCESS_TOKEN',
  refreshToken: 'OAUTH_REFRESH_TOKEN',
  clientSecret: 'OAUTH_CLIENT_SECRET',
  registrationToken: 'OAUTH_REGISTRATION_TOKEN',
} as const;

/** Tokens that are kept over restarts. */
export interface TokenStore {
  read(): Promise<Partial<IssuedTokens>>;
  /** Without a new refresh token the old one stays. @throws Error of the file system */
  write(tokens: IssuedTokens): Promise<void>;
  /** Removes the tokens, so that the next start of the workload begins with a login. */
  forget(): Promise<void>;
  /**
   * Keeps scopes for the next login. Resolves with whether it requests more than the last one did.
   * @throws Error of the file system
   */
  lacks(scopes: readonly string[]): Promise<boolean>;
}

/** The tokens of a workload: values are secrets, the expiry is in its run configuration. */
export function workloadTokenStore(
  state: string,
  workload: string,
  secrets: WorkloadSecretStore = workloadSecretStore(state, workload),
): TokenStore {
  const writeExpiry = (expiresAtMs: number | undefined): Promise<boolean> =>
    changeConfig(state, workload, (config) => {
      const { cached_token_expiry: _, ...login } = config.remote_auth_config ?? {};
      const expiry = expiresAtMs === undefined ? {} : { cached_token_expiry: new Date(expiresAtMs).toISOString() };
      return { ...config, remote_auth_config: { ...login, ...expiry } };
    });
  return {
    async read() {
      const [record, accessToken, refreshToken] = await Promise.all([
        readWorkload(state, workload),
        secrets.read(LOGIN_SECRETS.accessToken),
        secrets.read(LOGIN_SECRETS.refreshToken),
      ]);
      const expiry = record?.config?.remote_auth_config?.cached_token_expiry;
      return {
        ...(accessToken === undefined ? {} : { accessToken }),
        ...(refreshToken === undefined ? {} : { refreshToken }),
        ...(expiry === undefined ? {} : { expiresAtMs: Date.parse(expiry) }),
      };
    },
    async write({ accessToken, refreshToken, expiresAtMs }) {
      // first what cannot be requested again
      if (refreshToken !== undefined) await secrets.write(LOGIN_SECRETS.refreshToken, refreshToken);
      await secrets.write(LOGIN_SECRETS.accessToken, accessToken);
      await writeExpiry(expiresAtMs);
    },
    async forget() {
      await secrets.remove(LOGIN_SECRETS.accessToken);
      await secrets.remove(LOGIN_SECRETS.refreshToken);
      await writeExpiry(undefined);
    },
    async lacks(scopes) {
      let further: readonly string[] = [];
      await changeConfig(state, workload, (config) => {
        const { cached_scopes: requested = [], cached_lacking_scopes: lacking = [] } = config.remote_auth_config ?? {};
        further = scopes.filter((scope) => !requested.includes(scope));
        if (further.length === 0) return config;
        const all = [...new Set([...lacking, ...further])].slice(0, MAX_LACKING);
        return { ...config, remote_auth_config: { ...config.remote_auth_config, cached_lacking_scopes: all } };
      });
      return further.length > 0;
    },
  };
}
