import { createHash } from 'node:crypto';
import type { Core, Inbound, JsonObject } from '@toolmgr/core';
import type { TokenIssuer } from '@toolmgr/plugins/kit/extension-points';
import { readSecretReference } from '@toolmgr/plugins/kit/secrets';
import { createLocalJWKSet, type JWTVerifyGetKey } from 'jose';
import type { AuthStorage } from '../storage/storage.ts';
import { assertionRequestOf } from './assertion-request.ts';
import type { DelegateClientConfig, DelegationConfig } from './config.ts';
import type { GrantRefusal } from './grant-refusal.ts';
import { createIssueToken, type SigningKeyOfServer } from './issue-token.ts';
import { exchangeAssertion, JWT_BEARER } from './jwt-bearer.ts';
import { type ExchangeParameters, type ExchangeResponse, exchangeToken, TOKEN_EXCHANGE } from './token-exchange.ts';
import { createTrustedIssuers } from './trusted-issuers.ts';

/** Tokens with which programs act for people. */
export interface Delegation {
  /** Grants for the metadata of the server. */
  readonly grants: readonly string[];
  /** There are configured clients, which have secrets. */
  readonly hasClients: boolean;
  /** A configured client: metadata of RFC 7591, `client_secret` is the SHA-256 of the secret. */
  client(id: string): JsonObject | undefined;
  /** The grant of RFC 8693 for an authenticated client. `scope`: of its registration. */
  exchange(
    client: { readonly id: string; readonly scope: string | undefined },
    parameters: ExchangeParameters,
  ): Promise<ExchangeResponse | GrantRefusal>;
  /** Answers a token request with the grant of RFC 7523 that has no client; `undefined` for other requests. */
  assertion(inbound: Inbound, body: Buffer): Promise<JsonObject | GrantRefusal | undefined>;
  close(): Promise<void>;
}

/** What {@link openDelegation} needs. */
export interface DelegationInput {
  readonly config: Pick<DelegationConfig, 'delegateClients' | 'trustedIssuers' | 'delegationTokenLifespan'>;
  readonly issuer: string;
  readonly allowedAudiences: readonly string[];
  readonly accessTokenLifespanMs: number;
  readonly storage: AuthStorage;
  readonly signingKey: SigningKeyOfServer;
  /** Keys and revocations of this server. */
  readonly own: TokenIssuer;
}

/**
 * Reads the secrets of the clients. Keys of issuers are fetched on first use.
 * @throws GatewayFault SECRET_MISSING, PLAN_INCOMPLETE
 */
export async function openDelegation(
  core: Pick<Core, 'slots' | 'log' | 'now'>,
  { config, issuer, allowedAudiences, accessTokenLifespanMs, storage, signingKey, own }: DelegationInput,
): Promise<Delegation> {
  const { now } = core;
  const clients = new Map(
    await Promise.all(
      config.delegateClients.map(async (client, index) => {
        const where = `authServerConfig.delegateClients[${index}].clientSecretRef`;
        const secret = await readSecretReference(core.slots, client.clientSecretRef, where);
        return [client.clientId, { client, metadata: metadataOf(client, secret.reveal()) }] as const;
      }),
    ),
  );
  const trustedIssuers = createTrustedIssuers(core, config.trustedIssuers);
  const issue = createIssueToken(issuer, signingKey, now);
  const exchangeRules = {
    issuer,
    ownKeys: keysOf(own),
    allowedAudiences,
    trustedIssuers,
    isWithdrawn: (claims: JsonObject) => own.isWithdrawn(claims),
    maxLifetimeS: Math.floor(config.delegationTokenLifespan / 1000),
    issue,
    now,
  };
  const assertionRules = {
    tokenEndpoint: `${issuer}/oauth/token`,
    trustedIssuers,
    storage,
    maxLifetimeS: Math.floor(accessTokenLifespanMs / 1000),
    issue,
    now,
  };
  const takesAssertions = config.trustedIssuers.some(({ jwtBearer }) => jwtBearer !== undefined);
  return {
    grants: [TOKEN_EXCHANGE, ...(takesAssertions ? [JWT_BEARER] : [])],
    hasClients: clients.size > 0,
    client: (id) => clients.get(id)?.metadata,
    async exchange({ id, scope = '' }, parameters) {
      const configured = clients.get(id)?.client;
      const scopes = configured?.scopes ?? scope.split(' ');
      const audiences = configured?.audiences ?? allowedAudiences;
      return exchangeToken(
        { id, isConfigured: configured !== undefined, scopes, audiences },
        parameters,
        exchangeRules,
      );
    },
    async assertion(inbound, body) {
      const request = takesAssertions ? assertionRequestOf(inbound, body) : undefined;
      return request === undefined ? undefined : exchangeAssertion(request, assertionRules);
    },
    async close() {
      await Promise.all([...trustedIssuers.values()].map((each) => each.close()));
    },
  };
}

function metadataOf({ clientId }: DelegateClientConfig, secret: string): JsonObject {
  return {
    client_id: clientId,
    client_secret: createHash('sha256').update(secret).digest('hex'),
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: [TOKEN_EXCHANGE],
    response_types: [],
    redirect_uris: [],
  };
}

function keysOf(own: TokenIssuer): JWTVerifyGetKey {
  let pick: JWTVerifyGetKey | undefined;
  return async (header, token) => {
    pick ??= createLocalJWKSet({ keys: [...(await own.keys())] as never });
    return pick(header, token);
  };
}
