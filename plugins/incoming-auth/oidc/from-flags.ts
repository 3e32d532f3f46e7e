import { present } from '@toolmgr/core';
import { type IssuerAddress, issuerAddressProblem } from '@toolmgr/plugins/kit/safe-http/addresses';
import { type FromFlags, secretNameOf } from '@toolmgr/plugins/kit/workloads';

/** Callers with tokens of an issuer. The client secret is read by its name. */
export const fromFlags: FromFlags = {
  where: '--oidc options',
  plan({ oidc_config: oidc, jwks_auth_token_file, tool_ca_bundle }, _start, use) {
    if (oidc === undefined) return {};
    const settings = present({
      issuer: oidc.issuer,
      audience: oidc.audience,
      // only introspection sends it
      clientId: oidc.clientID ?? 'toolmgr',
      clientSecretEnv: oidc.clientSecret && secretNameOf(oidc.clientSecret),
      introspectionUrl: oidc.introspectionURL,
      jwksUrl: oidc.jwksurl,
      jwksAuthTokenFile: oidc.authTokenFile ?? jwks_auth_token_file,
      scopes: oidc.scopes,
      resource: oidc.resourceURL,
      caBundlePath: oidc.cacertPath ?? tool_ca_bundle,
      insecureAllowHttp: oidc.insecureAllowHTTP,
      jwksAllowPrivateIp: oidc.allowPrivateIP,
    });
    return { plugins: [{ use, with: settings }] };
  },
  /** The keys of an issuer are fetched, unless the plan has an authorization server of its own. */
  problems(options: Partial<IssuerAddress> = {}, { plugins }) {
    const { issuer } = options;
    if (issuer === undefined || plugins.some(({ use }) => use === 'auth-server')) return [];
    const problem = issuerAddressProblem({ ...options, issuer });
    return problem === undefined ? [] : [`issuer: ${problem}`];
  },
};
