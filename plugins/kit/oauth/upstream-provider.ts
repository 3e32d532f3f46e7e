import { type Core, GatewayFault, type Log } from '@toolmgr/core';
import { unknownUpstream } from './upstream-names.ts';
import { type UpstreamTokens, upstreamTokens } from './upstream-tokens.ts';

/** The only name in the slot `upstreamTokens`. */
const AUTH_SERVER = 'auth-server';

/** The place of a setting with the name of a provider, for errors. */
export interface ProviderSetting {
  /** Path of the strategy's options. */
  readonly where: string;
  /** The key of the name. */
  readonly option: string;
}

/**
 * The authorization server of this gateway; `undefined` when it has none and no provider is named.
 * @throws GatewayFault AUTH_STRATEGY_INVALID for an unknown provider, with the nearest one
 */
export function upstreamTokensFor(
  { slot }: Pick<Core, 'slot'>,
  provider: string | undefined,
  { where, option }: ProviderSetting,
): UpstreamTokens | undefined {
  const tokens = slot(upstreamTokens);
  const server = tokens.has(AUTH_SERVER) ? tokens.get(AUTH_SERVER) : undefined;
  if (provider === undefined || server?.providers.includes(provider)) return server;
  const message =
    server === undefined
      ? 'names an upstream provider, and there is no authorization server'
      : unknownUpstream(provider, server.providers);
  throw new GatewayFault('AUTH_STRATEGY_INVALID', `${where}.${option}: ${message}`);
}

/**
 * Refuses a strategy that cannot be combined with `disableUpstreamTokenInjection`. Source: vmcp spec §7.
 * @throws GatewayFault AUTH_STRATEGY_INVALID
 */
export function refuseWithoutInjection(server: UpstreamTokens | undefined, type: string, where: string): void {
  if (!server?.isInjectionDisabled) return;
  const message = `${where}: ${type} cannot be combined with authServerConfig.disableUpstreamTokenInjection`;
  throw new GatewayFault('AUTH_STRATEGY_INVALID', message);
}

/** Logs that a strategy adds nothing, because of `disableUpstreamTokenInjection`. */
export function warnWithoutInjection(log: Log, type: string, where: string): void {
  log.warn('requests to backends carry no credential: authServerConfig.disableUpstreamTokenInjection is set', {
    strategy: type,
    where,
  });
}
