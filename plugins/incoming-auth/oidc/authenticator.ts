import {
  type Core,
  createOutageLog,
  GatewayFault,
  type JsonObject,
  type RouteTable,
  readCaBundle,
  type Secret,
  type Slots,
} from '@toolmgr/core';
import { readTokenFile } from '@toolmgr/plugins/kit/credentials';
import type { TokenIssuer } from '@toolmgr/plugins/kit/extension-points';
import { createFetchKeys, createSigningKeys } from '@toolmgr/plugins/kit/issuer-keys';
import { plainIssuer } from '@toolmgr/plugins/kit/oauth';
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import { readSecret } from '@toolmgr/plugins/kit/secrets';
import { createConcurrencySlots, NoFreeSlot } from './concurrency-slots.ts';
import { type OidcConfig, remoteRules } from './config.ts';
import { introspect } from './introspect.ts';
import { findOwnIssuer, keysInProcess } from './own-issuer.ts';
import type { Objection } from './refusals.ts';
import { createResourceMetadata } from './resource-metadata.ts';
import { createTokenVerifier, type TokenVerifier } from './token-verifier.ts';
import { createToolScopes, type ToolScopes } from './tool-scopes.ts';
import { jwtHeader, verifyJwt, type WaitInSlot } from './verify-jwt.ts';
import { withBearer } from './with-bearer.ts';

/** The authenticator of one gateway; refuses everything before `start`. */
export interface OidcAuthenticator {
  mount(routes: RouteTable): void;
  /**
   * Reads the CA bundle and the secret, and starts to fetch the keys without waiting.
   * @throws GatewayFault PLAN_INVALID, SECRET_MISSING
   */
  start(): Promise<void>;
  close(): Promise<void>;
  known: TokenVerifier['known'];
  verify: TokenVerifier['verify'];
  /** Absent when no tool needs a scope. */
  readonly toolScopes: ToolScopes | undefined;
}

const PROVIDER_TIMEOUT_MS = 5_000;
const OUTAGE_REPEAT_MS = 60_000;
const PROVIDER_MAX_BYTES = 256 * 1024;
const MAX_INTROSPECTIONS = 256;
const MAX_INTROSPECTIONS_PER_NETWORK = 128;
const MAX_WAITING_FOR_KEYS = 1_024; // they share one fetch
const MAX_WAITING_FOR_KEYS_PER_NETWORK = 512;

/** What the authenticator uses of a gateway. */
export interface AuthenticatorCore extends Pick<Core, 'log' | 'now'> {
  readonly slots: Pick<Slots, 'secretSources'>;
  readonly slot: Core['slot'];
}

/** Creates the authenticator of `incoming-auth/oidc`. */
export function createAuthenticator(core: AuthenticatorCore, config: OidcConfig): OidcAuthenticator {
  const resourceMetadata = createResourceMetadata(config);
  let connection: ProviderConnection | undefined;
  const verifier = (): TokenVerifier => {
    if (connection === undefined)
      throw new GatewayFault('PLAN_INCOMPLETE', 'incoming-auth/oidc was used before its start');
    return connection.verifier;
  };
  return {
    mount: (routes) => resourceMetadata.mount(routes),
    async start() {
      const { clientSecretEnv: name } = config;
      const secret = name === undefined ? undefined : await readSecret(core.slots, name, SECRET_SETTING);
      const ca = config.caBundlePath === undefined ? undefined : readCaBundle(config.caBundlePath, CA_SETTING);
      const { jwksAuthTokenFile: file } = config;
      const token = file === undefined ? undefined : renewedToken(file);
      const own = findOwnIssuer(core, config);
      if (own !== undefined && config.jwksUrl !== undefined) {
        core.log.warn('incomingAuth.oidc.jwksUrl is not used: the issuer is the authorization server of this gateway');
      }
      connection = connectToProvider(core, config, resourceMetadata.challenge, { secret, token }, ca, own);
    },
    async close() {
      await connection?.close();
    },
    known: (inbound) => verifier().known(inbound),
    verify: async (inbound) => verifier().verify(inbound),
    toolScopes: createToolScopes(config, resourceMetadata),
  };
}

/** The token in a file that is replaced from time to time; the last one while it cannot be read. @throws like readTokenFile */
function renewedToken(file: string): () => Secret {
  let last = readTokenFile(file, TOKEN_SETTING);
  return () => {
    try {
      last = readTokenFile(file, TOKEN_SETTING);
    } catch {
      // it is being replaced
    }
    return last;
  };
}

const TOKEN_SETTING = 'incomingAuth.oidc.jwksAuthTokenFile';
const SECRET_SETTING = 'incomingAuth.oidc.clientSecretEnv';
const CA_SETTING = 'incomingAuth.oidc.caBundlePath';

interface ProviderConnection {
  readonly verifier: TokenVerifier;
  close(): Promise<void>;
}

function connectToProvider(
  { log, now }: Pick<Core, 'log' | 'now'>,
  config: OidcConfig,
  challenge: Parameters<typeof createTokenVerifier>[0]['challenge'],
  { secret: clientSecret, token }: { readonly secret: Secret | undefined; readonly token: (() => Secret) | undefined },
  ca: string | undefined,
  own: TokenIssuer | undefined,
): ProviderConnection {
  const remote = {
    ...remoteRules(config),
    timeoutMs: PROVIDER_TIMEOUT_MS,
    maxBytes: PROVIDER_MAX_BYTES,
    ...(ca === undefined ? {} : { ca }),
  };
  // separate clients, so that keys never wait for connections of introspection
  const keysHttp = token === undefined ? createRemoteHttp(remote) : withBearer(createRemoteHttp(remote), token);
  const http = createRemoteHttp(remote);
  const stopped = new AbortController();
  const outageOf = (what: string) =>
    createOutageLog(
      { log, now },
      { began: `${what} unavailable`, over: `${what} available again`, repeatMs: OUTAGE_REPEAT_MS },
    );
  const rules = {
    issuer: plainIssuer(config.issuer),
    audience: config.audience,
    onlyAccessTokens: own !== undefined,
  };
  const signingKeys = createSigningKeys({
    fetch: own === undefined ? createFetchKeys(config, keysHttp) : keysInProcess(own, config.issuer),
    now,
    outage: outageOf('the keys of the identity provider are'),
    onWithdrawn: () => verifier.forget(),
  });
  const { introspectionUrl, clientId } = config;
  const introspectionEndpoint =
    introspectionUrl === undefined ? undefined : { url: introspectionUrl, clientId, clientSecret, http };
  const introspection = outageOf('the introspection of tokens is');
  // separate slots, so that JWTs never wait for introspection
  const forIntrospection = createConcurrencySlots(MAX_INTROSPECTIONS, MAX_INTROSPECTIONS_PER_NETWORK);
  const forKeys = createConcurrencySlots(MAX_WAITING_FOR_KEYS, MAX_WAITING_FOR_KEYS_PER_NETWORK);
  const verifier = createTokenVerifier({
    issuer: rules.issuer,
    now,
    challenge,
    onKnown: signingKeys.freshen,
    ...(own === undefined ? {} : { isWithdrawn: (claims) => own.isWithdrawn(claims) }),
    async judge(token, network) {
      const header = jwtHeader(token);
      if (header !== undefined) {
        const waitInSlot: WaitInSlot = (work) => forKeys.within(network, work);
        const verdict = await verifyJwt(token, header, rules, signingKeys, now(), waitInSlot);
        return { verdict: ofSubject(verdict, config), isLookup: false };
      }
      if (introspectionEndpoint === undefined) return { verdict: 'opaque', isLookup: true };
      try {
        const ask = () => introspect(token, introspectionEndpoint, rules, now(), stopped.signal);
        const verdict = await forIntrospection.within(network, ask);
        introspection.over();
        return { verdict: ofSubject(verdict, config), isLookup: true };
      } catch (cause) {
        if (!(cause instanceof NoFreeSlot)) introspection.failed(cause);
        throw cause;
      }
    },
  });
  // logged by the outage log; the first token tries again. Keys in this process may not be read yet
  if (own === undefined) signingKeys.current().catch(() => {});
  return {
    verifier,
    async close() {
      stopped.abort();
      signingKeys.stop();
      await Promise.all([keysHttp.close(), http.close()]);
    },
  };
}

/** Refuses claims of another subject than the required one. */
function ofSubject(verdict: JsonObject | Objection, { requiredSubject }: OidcConfig): JsonObject | Objection {
  if (typeof verdict === 'string' || requiredSubject === undefined || verdict.sub === requiredSubject) return verdict;
  return 'subject';
}
