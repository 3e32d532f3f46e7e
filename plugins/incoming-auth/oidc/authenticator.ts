import { type Core, createOutageLog, GatewayFault, type RouteTable, readCaBundle, type Secret } from '@toolmgr/core';
import { plainIssuer } from '../../shared/oauth/oauth-requests.ts';
import { readSecret } from '../../shared/read-secret.ts';
import { createRemoteHttp } from '../../shared/safe-http/remote-http.ts';
import { readTokenFile } from '../../shared/token-file.ts';
import { type OidcConfig, remoteRules } from './config.ts';
import { introspect } from './introspect.ts';
import { createKeyRing } from './key-ring.ts';
import { createPlaces, NoPlace } from './places.ts';
import { createFetchKeys } from './provider-keys.ts';
import { createResourceFace } from './resource-metadata.ts';
import { createTokenVerifier, type TokenVerifier } from './token-verifier.ts';
import { jwtHeader, type Patience, verifyJwt } from './verify-jwt.ts';
import { withBearer } from './with-bearer.ts';

/** The door of one gateway: closed until `open`. */
export interface Door {
  mount(routes: RouteTable): void;
  /**
   * Reads the CA bundle and the secret, and begins to fetch the keys without waiting for them.
   * @throws GatewayFault PLAN_INVALID, SECRET_MISSING
   */
  open(): Promise<void>;
  close(): Promise<void>;
  known: TokenVerifier['known'];
  verify: TokenVerifier['verify'];
}

const PROVIDER_TIMEOUT_MS = 5_000;
const OUTAGE_REPEAT_MS = 60_000;
const PROVIDER_MAX_BYTES = 256 * 1024;
const MAX_INTROSPECTIONS = 256;
const MAX_INTROSPECTIONS_PER_NETWORK = 128;
const MAX_WAITING_FOR_KEYS = 1_024; // one fetch serves them all
const MAX_WAITING_FOR_KEYS_PER_NETWORK = 512;

/** Joins the parts of `incoming-auth/oidc`. */
export function createDoor(core: Pick<Core, 'log' | 'now' | 'slots'>, config: OidcConfig): Door {
  const face = createResourceFace(config);
  let opened: Opened | undefined;
  const verifier = (): TokenVerifier => {
    if (opened === undefined)
      throw new GatewayFault('PLAN_INCOMPLETE', 'incoming-auth/oidc was asked before its start');
    return opened.verifier;
  };
  return {
    mount: (routes) => face.mount(routes),
    async open() {
      const { clientSecretEnv: name } = config;
      const secret = name === undefined ? undefined : await readSecret(core.slots, name, PLACE_OF_SECRET);
      const ca = config.caBundlePath === undefined ? undefined : readCaBundle(config.caBundlePath, PLACE_OF_CA);
      const { jwksAuthTokenFile: file } = config;
      const token = file === undefined ? undefined : readTokenFile(file, 'incomingAuth.oidc.jwksAuthTokenFile');
      opened = openDesk(core, config, face.challenge, { secret, token }, ca);
    },
    async close() {
      await opened?.close();
    },
    known: (inbound) => verifier().known(inbound),
    verify: async (inbound) => verifier().verify(inbound),
  };
}

const PLACE_OF_SECRET = 'incomingAuth.oidc.clientSecretEnv';
const PLACE_OF_CA = 'incomingAuth.oidc.caBundlePath';

interface Opened {
  readonly verifier: TokenVerifier;
  close(): Promise<void>;
}

function openDesk(
  { log, now }: Pick<Core, 'log' | 'now'>,
  config: OidcConfig,
  challenge: Parameters<typeof createTokenVerifier>[0]['challenge'],
  { secret: clientSecret, token }: { readonly secret: Secret | undefined; readonly token: Secret | undefined },
  ca: string | undefined,
): Opened {
  const remote = {
    ...remoteRules(config),
    timeoutMs: PROVIDER_TIMEOUT_MS,
    maxBytes: PROVIDER_MAX_BYTES,
    ...(ca === undefined ? {} : { ca }),
  };
  // apart: the keys never wait for a connection behind introspection
  const keysHttp = token === undefined ? createRemoteHttp(remote) : withBearer(createRemoteHttp(remote), token);
  const http = createRemoteHttp(remote);
  const stopped = new AbortController();
  const outageOf = (what: string) =>
    createOutageLog(
      { log, now },
      { began: `${what} unavailable`, over: `${what} available again`, repeatMs: OUTAGE_REPEAT_MS },
    );
  const rules = { issuer: plainIssuer(config.issuer), audience: config.audience };
  const ring = createKeyRing({
    fetch: createFetchKeys(config, keysHttp),
    now,
    outage: outageOf('the keys of the identity provider are'),
    onWithdrawn: () => verifier.forget(),
  });
  const { introspectionUrl, clientId } = config;
  const asking = introspectionUrl === undefined ? undefined : { url: introspectionUrl, clientId, clientSecret, http };
  const introspection = outageOf('the introspection of tokens is');
  // apart: a token that only needs the keys never waits behind tokens that the provider is asked about
  const forIntrospection = createPlaces(MAX_INTROSPECTIONS, MAX_INTROSPECTIONS_PER_NETWORK);
  const forKeys = createPlaces(MAX_WAITING_FOR_KEYS, MAX_WAITING_FOR_KEYS_PER_NETWORK);
  const verifier = createTokenVerifier({
    issuer: rules.issuer,
    now,
    challenge,
    onKnown: ring.freshen,
    async judge(token, network) {
      const header = jwtHeader(token);
      if (header !== undefined) {
        const patience: Patience = (work) => forKeys.within(network, work);
        return { verdict: await verifyJwt(token, header, rules, ring, now(), patience), isLookup: false };
      }
      if (asking === undefined) return { verdict: 'opaque', isLookup: true };
      try {
        const ask = () => introspect(token, asking, rules, now(), stopped.signal);
        const verdict = await forIntrospection.within(network, ask);
        introspection.over();
        return { verdict, isLookup: true };
      } catch (cause) {
        if (!(cause instanceof NoPlace)) introspection.failed(cause);
        throw cause;
      }
    },
  });
  ring.current().catch(() => {}); // told by the outage; the first token asks again
  return {
    verifier,
    async close() {
      stopped.abort();
      ring.stop();
      await Promise.all([keysHttp.close(), http.close()]);
    },
  };
}
