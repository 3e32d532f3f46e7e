import { GatewayFault } from '@toolmgr/core';

const DEFAULTS = ['openid', 'profile', 'email', 'offline_access'];

/** Which scopes clients may have. */
export interface ClientScopes {
  /** Scopes of this server. */
  readonly supported: readonly string[];
  /** Scopes that every client gets. */
  readonly baseline: readonly string[];
}

/**
 * Checks the configured scopes once.
 * @throws GatewayFault PLAN_INVALID for a baseline scope that the server does not support
 */
export function clientScopes(supported: readonly string[], baseline: readonly string[]): ClientScopes {
  const unsupported = baseline.filter((scope) => !supported.includes(scope));
  if (unsupported.length === 0) return { supported, baseline };
  throw new GatewayFault(
    'PLAN_INVALID',
    `authServerConfig.baselineClientScopes: ${unsupported.join(', ')} not supported; ` +
      `expected some of ${supported.join(', ')}`,
  );
}

/**
 * The scopes of one client: what it asks for and the baseline. Without a request the usual ones that are supported.
 * Returns the first unsupported scope as `unsupported`.
 */
export function scopesOfClient(
  wanted: readonly string[],
  { supported, baseline }: ClientScopes,
): { readonly scopes: readonly string[] } | { readonly unsupported: string } {
  const unsupported = wanted.find((scope) => !supported.includes(scope));
  if (unsupported !== undefined) return { unsupported };
  const chosen = wanted.length === 0 ? DEFAULTS.filter((scope) => supported.includes(scope)) : wanted;
  return { scopes: [...new Set([...chosen, ...baseline])] };
}
