import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { UPSTREAM_SECRET } from '../support/sign-in-gateway.ts';

/** The secrets of an authorization server with this issuer, and the MCPOIDCConfig that accepts its tokens. */
export function signInObjects(issuer: string): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const stringData = {
    'key.pem': String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    hmac: randomBytes(32).toString('hex'),
    upstream: UPSTREAM_SECRET,
  };
  const spec = {
    type: 'inline',
    inline: { issuer, clientId: 'gateway', insecureAllowHTTP: true, jwksAllowPrivateIP: true },
  };
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sign-in' }, stringData },
    { apiVersion: 'toolmgr.dev/v1beta1', kind: 'MCPOIDCConfig', metadata: { name: 'own' }, spec },
  ]
    .map((object) => JSON.stringify(object))
    .join('\n---\n');
}

/** `spec.authServerConfig` with state in Redis; people sign in at `provider`, which pods and browsers reach over plain http. */
export function authServerOf(issuer: string, provider: string): object {
  const from = (key: string) => ({ name: 'sign-in', key });
  return {
    issuer,
    insecureAllowHTTP: true,
    signingKeySecretRefs: [from('key.pem')],
    hmacSecretRefs: [from('hmac')],
    upstreamProviders: [
      {
        name: 'corp',
        type: 'oauth2',
        allowPrivateAddresses: true,
        insecureAllowHTTP: true,
        oauth2Config: {
          authorizationEndpoint: `${provider}/auth`,
          tokenEndpoint: `${provider}/token`,
          userInfo: { endpointUrl: `${provider}/me` },
          clientId: 'toolmgr',
          clientSecretRef: from('upstream'),
          scopes: ['openid'],
        },
      },
    ],
    storage: {
      type: 'redis',
      redis: {
        addr: 'redis.team.svc.cluster.local:6379',
        aclUserConfig: { passwordSecretRef: { name: 'redis', key: 'password' } },
      },
    },
  };
}
