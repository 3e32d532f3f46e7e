import type { ProviderClient } from '../provider/provider-client.ts';

/** The gateway's clients at one OAuth 2.0 provider. */
export interface Oauth2Clients {
  /**
   * The client for new sign-ins.
   * @throws GatewayFault while none can be registered
   */
  current(signal: AbortSignal): Promise<ProviderClient>;
  /** The client that tokens were issued to; `undefined` when its credentials are not kept any more. */
  issuedTo(clientId: string): Promise<ProviderClient | undefined>;
  /** The provider does not know a client any more; another one is registered. Returns whether that is possible. */
  forget(clientId: string): Promise<boolean>;
}

/** The client of the configuration. */
export function onlyClient(client: ProviderClient): Oauth2Clients {
  return {
    current: async () => client,
    issuedTo: async (clientId) => (clientId === client.id ? client : undefined),
    forget: async () => false,
  };
}
