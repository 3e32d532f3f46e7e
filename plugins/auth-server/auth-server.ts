import type { Core, RouteTable } from '@toolmgr/core';
import type { TokenIssuer } from '@toolmgr/plugins/kit/extension-points';

import type { Accounts } from './accounts/accounts.ts';
import { createAccountsAndTokens } from './accounts/accounts-and-tokens.ts';
import { type CallerTokens, whoIs } from './accounts/upstream-tokens.ts';
import { type Clients, createClients } from './clients/clients.ts';
import { type AuthServerConfig, supportedScopes } from './config.ts';
import { type Delegation, openDelegation } from './delegation/delegation.ts';
import { failedRequestPage } from './pages/failed-request-page.ts';
import { createAddressLimits, limitedTable } from './provider/address-limits.ts';
import { createAnswerFollowUps } from './provider/after-answer.ts';
import { registerExchangeGrant } from './provider/exchange-grant.ts';
import type { Interactions } from './provider/interactions.ts';
import { createInteractions } from './provider/oidc-interactions.ts';
import { createOidcServer, type OidcServer } from './provider/oidc-server.ts';
import { mountOidcRoutes } from './provider/routes.ts';
import { readServerSecrets, type ServerSecrets } from './provider/server-secrets.ts';
import type { Report } from './report.ts';
import { nextProvider } from './sign-in/chain.ts';
import type { SignInParts } from './sign-in/context.ts';
import { createSignIn, type SignIn } from './sign-in/sign-in.ts';
import { createAuthStorage } from './storage/create-auth-storage.ts';
import { openKeptMemoryStorage } from './storage/kept-memory-storage.ts';
import type { AuthStorage } from './storage/storage.ts';
import { createUpstreams } from './upstreams/create-upstreams.ts';
import type { Upstream } from './upstreams/upstream.ts';

/** A running authorization server. */
export interface AuthServer {
  readonly interactions: Interactions;
  readonly accounts: Accounts;
  readonly oidc: OidcServer;
  readonly issuer: TokenIssuer;
  readonly upstreamTokens: CallerTokens;
  /** Mounts the endpoints and the pages. */
  mount(routes: RouteTable): void;
  close(): Promise<void>;
}

/** Parts that tests replace. */
export interface ReplacedParts {
  readonly storage?: AuthStorage;
  readonly upstreams?: readonly Upstream[];
  createSignIn?(parts: SignInParts): SignIn;
}

/**
 * Reads the secrets, opens the storage and makes all parts of the authorization server.
 * @throws GatewayFault SECRET_MISSING, PLAN_INCOMPLETE, PLAN_INVALID, STORE_UNAVAILABLE; then nothing stays open
 */
export async function openAuthServer(
  core: AuthServerCore,
  config: AuthServerConfig,
  replaced: ReplacedParts = {},
): Promise<AuthServer> {
  const { slots, log, now } = core;
  const { issuer, allowedAudiences, upstreamProviders } = config;
  const [resourceUrl = ''] = allowedAudiences;
  const secrets = await readServerSecrets(core, config);
  const storage = replaced.storage ?? (await openStorage(core, config));
  const opened: { close(): Promise<void> }[] = [storage];
  const close = async (): Promise<void> => {
    for (const each of opened.toReversed()) await each.close();
  };
  try {
    const upstreams =
      replaced.upstreams ??
      (await createUpstreams(upstreamProviders, { slots, storage, log, now, issuer, resourceUrl }));
    opened.push(...upstreams);
    const server = await composed(core, config, { secrets, storage, upstreams, ...replaced });
    opened.push(server);
    return { ...server, close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/** The memory of this process outlives a reload; a Redis does so by itself. */
async function openStorage(core: AuthServerCore, { issuer, storage }: AuthServerConfig): Promise<AuthStorage> {
  return storage.type === 'memory' ? openKeptMemoryStorage(issuer, core.now) : createAuthStorage(core, storage);
}

type AuthServerCore = Pick<Core, 'slots' | 'log' | 'now' | 'server'> & {
  readonly backends: Pick<Core['backends'], 'credentialsChanged'>;
  readonly report?: Report;
};

interface OpenedParts extends Pick<ReplacedParts, 'createSignIn'> {
  readonly secrets: ServerSecrets;
  readonly storage: AuthStorage;
  readonly upstreams: readonly Upstream[];
}

async function composed(core: AuthServerCore, config: AuthServerConfig, parts: OpenedParts): Promise<AuthServer> {
  const { log, now, report = () => {} } = core;
  const { issuer } = config;
  const { secrets, storage, upstreams } = parts;
  const browserBase = config.authorizationEndpointBaseUrl ?? issuer;
  const scopes = supportedScopes(config);
  const clients = createClients({ config, storage, supportedScopes: scopes, issuer, report, log, now });
  const { accounts, upstreamTokens, stop } = createAccountsAndTokens({
    issuer,
    storage,
    upstreams,
    log,
    connectUrl: (person, provider) => signIn.connectUrl(person, provider),
    changed: (person) => core.backends.credentialsChanged((caller) => whoIs(caller, issuer)?.person === person),
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
    clients: withDelegates(clients, () => delegation),
    needs: { needsSignIn: (person) => needsProvider(upstreams, accounts, person), needsConsent },
    errorPage: failedRequestPage,
    report,
    log,
    now,
  });
  const delegation = await openDelegation(core, {
    config,
    issuer,
    allowedAudiences: config.allowedAudiences,
    accessTokenLifespanMs: config.tokenLifespans.accessTokenLifespan,
    storage,
    signingKey: secrets.signingKeys[0],
    own: oidc.issuer,
  });
  registerExchangeGrant(oidc.provider, delegation);
  const interactions = createInteractions({ provider: oidc.provider, browserBase, needsConsent, now });
  const signIn = (parts.createSignIn ?? createSignIn)({
    browserBase,
    callbackUrls: callbackUrls(config),
    upstreams,
    accounts,
    interactions,
    storage,
    secrets,
    endSession: oidc.sessions.end,
    report,
    log,
    now,
  });
  const followUps = createAnswerFollowUps(log);
  const limit = createAddressLimits(now);
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
        assertion: delegation.assertion,
        metadata: metadataOf(config, browserBase, secrets, clients, delegation),
        followUps,
        limit,
      });
      signIn.mount(limitedTable(routes, limit, 'pages'));
    },
    async close() {
      stop();
      await followUps.close();
      await clients.close();
      await delegation.close();
    },
  };
}

/** A signed-in person has to go to a provider that everyone signs in at, because it is not connected any more. */
async function needsProvider(upstreams: readonly Upstream[], accounts: Accounts, person: string): Promise<boolean> {
  if (upstreams.length === 0) return false;
  const connections = await accounts.connections(person);
  return nextProvider(upstreams, { person, connected: [], connections }) !== undefined;
}

/** URLs of this gateway to which providers redirect. Source: vmcp spec §2, `redirectUri`. */
function callbackUrls({ upstreamProviders, allowedAudiences }: AuthServerConfig): readonly string[] {
  const [resource = ''] = allowedAudiences;
  const standard = `${resource.replace(/\/$/, '')}/oauth/callback`;
  const uris = upstreamProviders.map(({ oidcConfig, oauth2Config }) => (oidcConfig ?? oauth2Config)?.redirectUri);
  return [...new Set(uris.map((uri) => uri ?? standard))];
}

/** Configured clients besides those that registered themselves or have a document. */
function withDelegates(clients: Clients, delegation: () => Delegation): Pick<Clients, 'find' | 'used'> {
  return {
    find: async (id, address) => delegation().client(id) ?? clients.find(id, address),
    used: (id) => clients.used(id),
  };
}

function metadataOf(
  config: AuthServerConfig,
  browserBase: string,
  { signingKeys }: ServerSecrets,
  { allowsSecrets, allowsDocuments }: Clients,
  { grants, hasClients }: Delegation,
) {
  return {
    issuer: config.issuer,
    browserBase,
    supportedScopes: supportedScopes(config),
    signingAlgorithms: [...new Set(signingKeys.map(({ alg }) => alg))],
    allowsSecrets: allowsSecrets || hasClients,
    allowsDocuments,
    furtherGrants: grants,
  };
}
