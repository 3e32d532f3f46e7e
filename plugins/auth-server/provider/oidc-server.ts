import type { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createOutageLog, explainCause, type JsonObject, type Log } from '@toolmgr/core';
import type { TokenIssuer } from '@toolmgr/plugins/kit/extension-points';
import Provider from 'oidc-provider';
import type { Report } from '../report.ts';
import { isStorageFault } from '../storage/storage-fault.ts';
import { audienceRules } from './audience-rules.ts';
import { createOauthSessions, type OauthSessions } from './oauth-sessions.ts';
import { INTERACTION_SECONDS, type OidcConfigurationParts, oidcConfiguration } from './oidc-configuration.ts';
import { adaptModels } from './oidc-models.ts';
import { createPendingRequests } from './pending-requests.ts';
import { createRefreshFamilies } from './refresh-families.ts';
import { registerRefreshGrant } from './refresh-grant.ts';
import { createRevocableTokens, type RevocableTokens } from './revocable-tokens.ts';
import { createSignedTexts } from './signed-texts.ts';

/** The OAuth library, configured. */
export interface OidcServer {
  readonly provider: Provider;
  readonly sessions: OauthSessions;
  readonly revocable: RevocableTokens;
  /** For `incoming-auth/oidc` of the same gateway. */
  readonly issuer: TokenIssuer;
  /** Answers one request of a library route. */
  readonly handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  /** Why the request of an answer with status 500 failed. */
  faultOf(request: IncomingMessage): unknown;
}

/** What the server needs. */
export interface OidcServerParts extends OidcConfigurationParts {
  readonly report: Report;
  readonly log: Log;
  /** Epoch milliseconds. */
  now(): number;
}

/** While the storage fails, one line in this time says so, not one for each request. */
const STORAGE_LOG_MS = 60_000;

/** Creates the server. Nothing is opened. */
export function createOidcServer(parts: OidcServerParts): OidcServer {
  const { issuer, secrets, storage, accounts, lifespans, report, log, now } = parts;
  const { accessTokenLifespan: accessMs, refreshTokenLifespan: refreshMs } = lifespans;
  const codes = createSignedTexts(secrets.hmacSecrets, 'codes');
  const families = createRefreshFamilies(
    storage,
    createSignedTexts(secrets.hmacSecrets, 'refresh tokens'),
    refreshMs,
    now,
  );
  const sessions = createOauthSessions(accounts, families, { ttlMs: Math.max(accessMs, refreshMs), report, now });
  const provider = new Provider(issuer, oidcConfiguration(parts));
  const publicKeys: readonly JsonObject[] = secrets.signingKeys.map(({ publicJwk }) => publicJwk);
  const revocable = createRevocableTokens(issuer, publicKeys, createSignedTexts(secrets.hmacSecrets, 'revocations'));
  adaptModels(provider, { codes, families, sessions, revocable });
  const [signing] = secrets.signingKeys;
  const audiences = audienceRules(parts.allowedAudiences, parts.supportedScopes, Math.ceil(accessMs / 1000), signing);
  registerRefreshGrant(provider, { families, sessions, accounts, audiences });
  const pending = createPendingRequests(INTERACTION_SECONDS * 1000, now);
  provider.on('interaction.started', ({ oidc, req }) => {
    const { Interaction: begun } = oidc.entities;
    if (begun === undefined) return;
    for (const uid of pending.began(begun.uid, req.socket.remoteAddress)) {
      provider.Interaction.adapter.destroy(uid)?.catch(() => {}); // it ends by itself
    }
  });
  provider.on('interaction.ended', ({ oidc }) => pending.ended(oidc.entities.Interaction?.uid ?? ''));
  const faults = new WeakMap<IncomingMessage, unknown>();
  const storageOutage = createOutageLog(parts, {
    began: 'requests of the authorization server fail, because its storage does not answer or is full',
    over: 'requests of the authorization server succeed again',
    repeatMs: STORAGE_LOG_MS,
  });
  provider.on('server_error', (ctx, cause) => {
    faults.set(ctx.req, cause);
    if (isStorageFault(cause)) return storageOutage.failed(cause);
    log.error('a request of the authorization server failed', { path: ctx.path, cause: explainCause(cause) });
  });
  // an event of Koa, which the types leave out; without a listener Koa prints the error
  (provider as EventEmitter).on('error', (cause: unknown) =>
    log.error('the authorization server failed', { cause: explainCause(cause) }),
  );
  provider.on('grant.success', ({ oidc: { client } }) => {
    storageOutage.over();
    if (client === undefined) return;
    parts.clients.used(client.clientId).catch((cause: unknown) => {
      log.warn('the use of a client was not recorded', { cause: explainCause(cause) });
    });
  });
  const callback = provider.callback();
  return {
    provider,
    sessions,
    revocable,
    issuer: { audiences: parts.allowedAudiences, keys: async () => publicKeys, isWithdrawn: sessions.isWithdrawn },
    handle: async (request, response) => callback(request, response),
    faultOf: (request) => faults.get(request),
  };
}
