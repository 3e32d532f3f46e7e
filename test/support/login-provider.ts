import { type IdentityProvider, type IdentityProviderOptions, identityProvider } from './identity-provider.ts';

/** Clients that are registered from the start, for any loopback port. */
export const LOGIN_CLIENTS = {
  app: { id: 'login-app' },
  team: { id: 'login-team', secret: 'secret-of-login-team' },
} as const;

/** An identity provider at which clients register themselves and get refresh tokens, which rotate. */
export function loginProvider(options: IdentityProviderOptions = {}): Promise<IdentityProvider> {
  const { configure = (same) => same, ...others } = options;
  return identityProvider({
    ...others,
    configure: (given) =>
      configure({
        ...given,
        scopes: ['openid', 'offline_access', 'tools', 'profile', 'email'],
        rotateRefreshToken: true,
        features: { ...given.features, registration: { enabled: true } },
        clients: [...(given.clients ?? []), ...clients()],
      }),
  });
}

function clients() {
  const { app, team } = LOGIN_CLIENTS;
  const shared = {
    application_type: 'native' as const,
    grant_types: ['authorization_code', 'refresh_token'],
    redirect_uris: ['http://localhost/callback'],
    response_types: ['code' as const],
  };
  return [
    { ...shared, client_id: app.id, token_endpoint_auth_method: 'none' as const },
    { ...shared, client_id: team.id, client_secret: team.secret },
  ];
}
