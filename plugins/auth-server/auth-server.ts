import type { Core, RouteTable, TokenIssuer, UpstreamTokens } from '@toolmgr/core';
import type { Accounts } from './accounts/accounts.ts';
import { createAccountsAndTokens } from './accounts/accounts-and-tokens.ts';
import { UNSEALED } from './accounts/token-rows.ts';
import { type Clients, createClients } from './clients/clients.ts';
import { type AuthServerConfig, primaryOf, supportedScopes } from './config.ts';
import { failedRequestPage } from './pages/failed-request-page.ts';
import { createAnswerFollowUps } from './provider/after-answer.ts';
import type { Interactions } from './provider/interactions.ts';
import { createInteractions } from './provider/oidc-interactions.ts';
import { createOidcServer, type OidcServer } from './provider/oidc-server.ts';
import { mountOidcRoutes } from './provider/routes.ts';
import { readServerSecrets, type ServerSecrets } from './provider/server-secrets.ts';
import { createMemoryStorage } from './storage/memory-storage.ts';
import type { AuthStorage } from './storage/storage.ts';
import type { Upstream } from './upstreams/upstream.ts';

/** A running authorization server. */
export interface AuthServer {
  readonly interactions: Interactions;
  readonly accounts: Accounts;
  readonly oidc: OidcServer;
  readonly issuer: TokenIssuer;
  readonly upstreamTokens: UpstreamTokens;
  /** Mounts the endpoints and the pages. */
  mount(routes: RouteTable): void;
  close(): Promise<void>;
}

/** What the sign-in pages are made from. */
export interface SignInParts {
  readonly issuer: string;
  /** Base URL of all pages, as browsers see it. */
  readonly browserBase: string;
  readonly upstreams: readonly Upstream[];
  readonly accounts: Accounts;
  readonly interactions: Interactions;
  readonly storage: AuthStorage;
  readonly secrets: ServerSecrets;
}

/** The pages on which people sign in. */
export interface SignInPages {
  mount(routes: RouteTable): void;
  /** A link with which a person connects one provider. */
  connectUrl(person: string, provider: string): string;
  /** A signed-in person has to sign in again before a client gets a code. */
  needsSignIn(person: string): Promise<boolean>;
}

/** What differs between the plugin and tests. */
export interface AuthServerModules {
  openStorage?(): Promise<AuthStorage>;
  readonly upstreams: readonly Upstream[];
  createSignIn(parts: SignInParts): SignInPages;
}

/**
 * Reads the secrets, opens the storage and makes all parts of the authorization server.
 * @throws GatewayFault SECRET_MISSING, PLAN_INCOMPLETE, PLAN_INVALID, STORE_UNAVAILABLE
 */
export async function openAuthServer(
  core: Pick<Core, 'slots' | 'log' | 'now'>,
  config: AuthServerConfig,
  modules: AuthServerModules = MODULES,
): Promise<AuthServer> {
  const { log, now } = core;
  const { issuer } = config;
  const { upstreams } = modules;
  const browserBase = config.authorizationEndpointBaseUrl ?? issuer;
  const secrets = await readServerSecrets(core, config);
  const storage = (await modules.openStorage?.()) ?? createMemoryStorage(now);
  const scopes = supportedScopes(config);
  const clients = createClients({ config, storage, supportedScopes: scopes, issuer, log, now });
  const { accounts, upstreamTokens } = createAccountsAndTokens({
    issuer,
    storage,
    seal: UNSEALED,
    upstreams,
    primary: primaryOf(config),
    log,
    connectUrl: (person, provider) => signIn.connectUrl(person, provider),
    now,
  });
  const needsConsent = (): boolean => true;
  const oidc = createOidcServer({
    issuer,
    browserBase,
    allowedAudiences: config.allowedAudiences,
    supportedScopes: scopes,
    lifespans: config.tokenLifespans,
    secrets,
    storage,
    accounts,
    clients,
    needs: { needsSignIn: (person) => signIn.needsSignIn(person), needsConsent },
    errorPage: failedRequestPage,
    log,
    now,
  });
  const interactions = createInteractions({ provider: oidc.provider, browserBase, needsConsent, now });
  const signIn = modules.createSignIn({ issuer, browserBase, upstreams, accounts, interactions, storage, secrets });
  const followUps = createAnswerFollowUps(log);
  return {
    interactions,
    accounts,
    oidc,
    issuer: oidc.issuer,
    upstreamTokens,
    mount(routes) {
      mountOidcRoutes(routes, {
        issuer,
        browserBase,
        server: oidc,
        register: clients.register,
        metadata: metadataOf(config, browserBase, secrets, clients),
        followUps,
      });
      signIn.mount(routes);
    },
    async close() {
      await followUps.close();
      await clients.close();
      await storage.close();
    },
  };
}

/** Without upstreams and pages for now: they are added with their folders. */
const MODULES: AuthServerModules = {
  upstreams: [],
  createSignIn: () => ({ mount: () => {}, connectUrl: () => '', needsSignIn: async () => false }),
};

function metadataOf(
  config: AuthServerConfig,
  browserBase: string,
  { signingKeys }: ServerSecrets,
  { allowsSecrets, allowsDocuments }: Clients,
) {
  return {
    issuer: config.issuer,
    browserBase,
    supportedScopes: supportedScopes(config),
    signingAlgorithms: [...new Set(signingKeys.map(({ alg }) => alg))],
    allowsSecrets,
    allowsDocuments,
    furtherGrants: [],
  };
}
