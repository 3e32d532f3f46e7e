import { missingPackage } from '../errors/missing-package.ts';
import { GatewayFault } from '../errors.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { HttpClientFactory } from './http-client.ts';

/** Implementations of {@link HttpClient}: the core's own, and undici's. */
export const HTTP_CLIENTS = ['own', 'undici'] as const;
export type HttpClientName = (typeof HTTP_CLIENTS)[number];

/** The core's own client. */
export const ownClient: HttpClientFactory = (origin, options) => new ConnectionPool(origin, options);

/**
 * Loads what makes the clients of HTTP backends.
 * @throws GatewayFault PLAN_INVALID with the command that installs it when the package of a client is missing
 */
export async function chooseClient(
  name: HttpClientName,
  load: () => Promise<{ readonly createUndiciClient: HttpClientFactory }> = () => import('./undici-client.ts'),
): Promise<HttpClientFactory> {
  if (name === 'own') return ownClient;
  try {
    return (await load()).createUndiciClient;
  } catch (cause) {
    const missing = missingPackage(cause);
    if (missing === undefined) throw cause;
    throw new GatewayFault('PLAN_INVALID', `httpClient is undici, but ${missing}`, { cause });
  }
}
