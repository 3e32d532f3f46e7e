import { type Core, GatewayFault, type RouteTable, type Secret } from '@toolmgr/core';
import { readCaBundle } from '../../shared/ca-bundle.ts';
import { createRemoteHttp } from '../../shared/remote-http.ts';
import { secretOf } from '../../shared/secret.ts';
import { type OidcConfig, remoteRules } from './config.ts';
import { introspect } from './introspect.ts';
import { createKeyRing } from './key-ring.ts';
import { createOutage } from './outage.ts';
import { createFetchKeys, plainIssuer } from './provider-keys.ts';
import { createResourceFace } from './resource-metadata.ts';
import { createTokenDesk, type TokenDesk } from './token-desk.ts';
import { jwtHeader, verifyJwt } from './verify-jwt.ts';

/** The door of one gateway: closed until `open`. */
export interface Door {
  mount(routes: RouteTable): void;
  /**
   * Reads the CA bundle and the secret, and begins to fetch the keys without waiting for them.
   * @throws GatewayFault PLAN_INVALID, SECRET_MISSING
   */
  open(): Promise<void>;
  close(): Promise<void>;
  known: TokenDesk['known'];
  verify: TokenDesk['verify'];
}

const PROVIDER_TIMEOUT_MS = 5_000;
const PROVIDER_MAX_BYTES = 256 * 1024;

/** Joins the parts of `incoming-auth/oidc`. */
export function createDoor(core: Pick<Core, 'log' | 'now'>, config: OidcConfig, env: NodeJS.ProcessEnv): Door {
  const face = createResourceFace(config);
  let opened: Opened | undefined;
  const desk = (): TokenDesk => {
    if (opened === undefined)
      throw new GatewayFault('PLAN_INCOMPLETE', 'incoming-auth/oidc was asked before its start');
    return opened.desk;
  };
  return {
    mount: (routes) => face.mount(routes),
    async open() {
      const secret = secretFrom(env, config.clientSecretEnv);
      const ca = config.caBundlePath === undefined ? undefined : await readCaBundle(config.caBundlePath, PLACE_OF_CA);
      opened = openDesk(core, config, face.challenge, secret, ca);
    },
    async close() {
      await opened?.close();
    },
    known: (inbound) => desk().known(inbound),
    verify: async (inbound) => desk().verify(inbound),
  };
}

const PLACE_OF_CA = 'incomingAuth.oidc.caBundlePath';

interface Opened {
  readonly desk: TokenDesk;
  close(): Promise<void>;
}

function openDesk(
  { log, now }: Pick<Core, 'log' | 'now'>,
  config: OidcConfig,
  challenge: Parameters<typeof createTokenDesk>[0]['challenge'],
  clientSecret: Secret | undefined,
  ca: string | undefined,
): Opened {
  const http = createRemoteHttp({
    ...remoteRules(config),
    timeoutMs: PROVIDER_TIMEOUT_MS,
    maxBytes: PROVIDER_MAX_BYTES,
    ...(ca === undefined ? {} : { ca }),
  });
  const stopped = new AbortController();
  const rules = { issuer: plainIssuer(config.issuer), audience: config.audience };
  const ring = createKeyRing({
    fetch: createFetchKeys(config, http),
    now,
    outage: createOutage('the keys of the identity provider', log, now),
    onWithdrawn: () => desk.forget(),
  });
  const { introspectionUrl, clientId } = config;
  const asking = introspectionUrl === undefined ? undefined : { url: introspectionUrl, clientId, clientSecret, http };
  const introspection = createOutage('the introspection of tokens', log, now);
  const desk = createTokenDesk({
    issuer: rules.issuer,
    now,
    challenge,
    onKnown: ring.freshen,
    async judge(token) {
      const header = jwtHeader(token);
      if (header !== undefined) return { verdict: await verifyJwt(token, header, rules, ring, now()), isLookup: false };
      if (asking === undefined) return { verdict: 'opaque', isLookup: true };
      try {
        const verdict = await introspect(token, asking, rules, now(), stopped.signal);
        introspection.over();
        return { verdict, isLookup: true };
      } catch (cause) {
        introspection.failed(cause);
        throw cause;
      }
    },
  });
  ring.current().catch(() => {}); // told by the outage; the first token asks again
  return {
    desk,
    async close() {
      stopped.abort();
      ring.stop();
      await http.close();
    },
  };
}

function secretFrom(env: NodeJS.ProcessEnv, variable: string | undefined): Secret | undefined {
  if (variable === undefined) return undefined;
  const value = env[variable];
  if (value !== undefined && value !== '') return secretOf(value);
  throw new GatewayFault(
    'SECRET_MISSING',
    `incomingAuth.oidc.clientSecretEnv: the environment variable ${variable} is ${value === undefined ? 'not set' : 'empty'}; export it before the start`,
  );
}
