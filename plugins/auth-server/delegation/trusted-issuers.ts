import { type Core, createOutageLog, GatewayFault } from '@toolmgr/core';
import { compileMatcher, type Matcher } from '@toolmgr/plugins/kit/cel';
import { createFetchKeys, createSigningKeys } from '@toolmgr/plugins/kit/issuer-keys';
import { createRemoteHttp } from '@toolmgr/plugins/kit/safe-http';
import type { TrustedIssuerConfig } from './config.ts';
import { type TokenRules, UNKNOWN_KEY, type VerifiedToken, verifyToken } from './verify-token.ts';

const TIMEOUT_MS = 5_000;
const MAX_BYTES = 256 * 1024;
const OUTAGE_REPEAT_MS = 60_000;

/** Another issuer whose tokens are exchanged. */
export interface TrustedIssuer {
  readonly config: TrustedIssuerConfig;
  /** The condition on claims; never true without one. */
  readonly matches: Matcher;
  /**
   * Verifies a token with the issuer's keys, which are cached for five minutes and renewed for an unknown key.
   * @throws GatewayFault REMOTE_UNAVAILABLE, REMOTE_REFUSED while there are no keys
   */
  verify(token: string, rules: Omit<TokenRules, 'issuer' | 'nowMs'>): Promise<VerifiedToken | undefined>;
  close(): Promise<void>;
}

/** Makes the issuers by their name. Keys are fetched on first use. */
export function createTrustedIssuers(
  { log, now }: Pick<Core, 'log' | 'now'>,
  configs: readonly TrustedIssuerConfig[],
): ReadonlyMap<string, TrustedIssuer> {
  return new Map(configs.map((config) => [config.issuer, createTrustedIssuer({ log, now }, config)]));
}

function createTrustedIssuer({ log, now }: Pick<Core, 'log' | 'now'>, config: TrustedIssuerConfig): TrustedIssuer {
  const { issuer, jwksUrl, insecureAllowHTTP, jwksAllowPrivateIP, actorMatcher } = config;
  const http = createRemoteHttp({
    allowHttp: insecureAllowHTTP,
    allowPrivateAddresses: jwksAllowPrivateIP,
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_BYTES,
  });
  const outage = createOutageLog(
    { log, now },
    {
      began: 'the keys of a trusted issuer cannot be fetched',
      over: 'the keys of a trusted issuer are available again',
      fields: { issuer },
      repeatMs: OUTAGE_REPEAT_MS,
    },
  );
  const keys = createSigningKeys({
    fetch: createFetchKeys({ issuer, jwksUrl }, http),
    now,
    outage,
    onWithdrawn: () => {},
  });
  return {
    config,
    matches: actorMatcher === undefined ? () => false : compileMatcher(actorMatcher),
    async verify(token, rules) {
      const all = { ...rules, issuer, nowMs: now() };
      const known = keys.present() ?? (await keys.current());
      const first = await verifyToken(token, known.pick, all);
      if (first !== UNKNOWN_KEY) return first;
      const again = await verifyToken(token, (await keys.renewed()).pick, all);
      return again === UNKNOWN_KEY ? undefined : again;
    },
    async close() {
      keys.stop();
      await http.close();
    },
  };
}

/** Whether the keys of an issuer are missing, which is no fault of the token. */
export function isIssuerAway(cause: unknown): boolean {
  return cause instanceof GatewayFault && (cause.code === 'REMOTE_UNAVAILABLE' || cause.code === 'REMOTE_REFUSED');
}
