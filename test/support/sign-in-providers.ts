import type { z } from 'zod';
import type { authServerConfig } from '../../plugins/auth-server/config.ts';
import { type AuthServerRig, type AuthServerRigOptions, authServerRig } from './auth-server-rig.ts';
import type { IdentityProvider, IdentityProviderOptions } from './identity-provider.ts';
import { loginProvider } from './login-provider.ts';

/** An authorization server with the real sign-in and two OpenID providers over HTTP. */
export interface SignInServer extends AsyncDisposable {
  readonly rig: AuthServerRig;
  /** Everyone signs in here. */
  readonly corp: IdentityProvider;
  readonly github: IdentityProvider;
  /** One more replica of the authorization server; the option `storage` has to be given. */
  replica(): Promise<AuthServerRig>;
}

/** Options of {@link signInServer}. */
export interface SignInServerOptions extends AuthServerRigOptions {
  /** Default: `onDemand`. */
  readonly github?: 'required' | 'onDemand';
  /** Options of both providers. */
  readonly provider?: IdentityProviderOptions;
}

/** The client of the gateway at the providers. */
const CLIENT = 'gateway-sign-in';

/** Starts the providers `corp` and `github`, and the authorization server. */
export async function signInServer(options: SignInServerOptions = {}): Promise<SignInServer> {
  const { github: loginPolicy = 'onDemand', provider: more = {}, ...others } = options;
  const start = () =>
    loginProvider({
      ...more,
      configure: (given) => ({
        ...given,
        claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
        conformIdTokenClaims: false,
        clients: [
          ...(given.clients ?? []),
          {
            client_id: CLIENT,
            application_type: 'native' as const,
            token_endpoint_auth_method: 'none' as const,
            grant_types: ['authorization_code', 'refresh_token'],
            redirect_uris: ['http://127.0.0.1/mcp/oauth/callback', 'http://localhost/mcp/oauth/callback'],
            response_types: ['code' as const],
          },
        ],
      }),
    });
  const [corp, github] = await Promise.all([start(), start()]);
  const upstreamProviders: z.input<typeof authServerConfig>['upstreamProviders'] = [
    { name: 'corp', issuer: corp.issuer, loginPolicy: 'required' as const },
    { name: 'github', issuer: github.issuer, loginPolicy },
  ].map(({ name, issuer, ...each }) => ({
    ...each,
    name,
    type: 'oidc' as const,
    allowPrivateAddresses: true,
    oidcConfig: { issuerUrl: issuer, clientId: CLIENT, scopes: ['openid', 'offline_access', 'profile', 'email'] },
  }));
  const rig = await authServerRig({ ...others, realSignIn: true, config: { upstreamProviders } });
  return {
    rig,
    corp,
    github,
    replica: () => authServerRig({ ...others, realSignIn: true, issuer: rig.issuer, config: { upstreamProviders } }),
    async [Symbol.asyncDispose]() {
      await rig[Symbol.asyncDispose]();
      await Promise.all([corp, github].map((each) => each[Symbol.asyncDispose]()));
    },
  };
}
