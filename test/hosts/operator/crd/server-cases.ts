/** A rule, one spec that satisfies it, and one that does not. */
export interface RuleCase {
  readonly kind: string;
  /** The message of the rule. */
  readonly says: string;
  /** Path of the field that the API server names. */
  readonly at: string;
  readonly accepts: object;
  readonly refuses: object;
}

/** A bound of one field: specs inside and outside. */
export interface LimitCase {
  readonly kind: string;
  readonly at: string;
  readonly accepts?: readonly object[];
  readonly refuses: readonly object[];
}

export type Spec = Readonly<Record<string, unknown>>;

/** The smallest VirtualMCPServer, and changes. */
export const server = (changes: Spec = {}): Spec => ({
  groupRef: { name: 'team' },
  incomingAuth: { type: 'anonymous' },
  ...changes,
});

export const OIDC_REF = { name: 'idp', audience: 'https://tools.example.com/mcp' };
export const OIDC = { type: 'oidc', oidcConfigRef: OIDC_REF };
export const REDIS = { provider: 'redis', address: 'redis:6379' };
export const BUCKET = { maxTokens: 1, refillPeriod: '1s' };
export const SECRET = { name: 'secret', key: 'value' };

/** Rules of VirtualMCPServer outside the authorization server. */
export const SERVER_CASES: readonly RuleCase[] = [
  {
    says: 'config.rateLimiting needs sessionStorage with provider redis',
    at: 'spec.config.rateLimiting',
    accepts: server({ sessionStorage: REDIS, config: { rateLimiting: { shared: BUCKET } } }),
    refuses: server({ config: { rateLimiting: { shared: BUCKET }, sessionStorage: { provider: 'memory' } } }),
  },
  {
    says: 'perUser limits need incomingAuth of type oidc',
    at: 'spec.config.rateLimiting.perUser',
    accepts: server({ incomingAuth: OIDC, sessionStorage: REDIS, config: { rateLimiting: { perUser: BUCKET } } }),
    refuses: server({ sessionStorage: REDIS, config: { rateLimiting: { perUser: BUCKET } } }),
  },
  {
    says: 'perUser limits of tools need incomingAuth of type oidc',
    at: 'spec.config.rateLimiting.tools',
    accepts: server({ sessionStorage: REDIS, config: { rateLimiting: { tools: [{ name: 'a', shared: BUCKET }] } } }),
    refuses: server({ sessionStorage: REDIS, config: { rateLimiting: { tools: [{ name: 'a', perUser: BUCKET }] } } }),
  },
  {
    says: 'kubernetes must be absent: the operator writes it for the pods',
    at: 'spec.config.kubernetes',
    accepts: server({ config: {} }),
    refuses: server({ config: { kubernetes: { drainTime: '5s' } } }),
  },
  ...['./own.mjs', '/plugins/../own.mjs', '/dev/zero'].map((use) => ({
    says: 'must be a plugin of toolmgr, a package, or the absolute path of a .js, .mjs, .cjs or .ts file of the image',
    at: 'spec.config.plugins[0].use',
    accepts: server({
      config: {
        plugins: ['outgoing-auth/obo', '@acme/own', 'own/a.b', '/app/own@1/a.mjs'].map((each) => ({ use: each })),
      },
    }),
    refuses: server({ config: { plugins: [{ use }] } }),
  })),
  {
    says: 'embeddingServerRef cannot be combined with config.optimizer.embeddingProvider openai',
    at: 'spec.embeddingServerRef',
    accepts: server({ embeddingServerRef: { name: 'e' }, config: { optimizer: {} } }),
    refuses: server({ embeddingServerRef: { name: 'e' }, config: { optimizer: { embeddingProvider: 'openai' } } }),
  },
  {
    says: 'oidcConfigRef is required when type is oidc',
    at: 'spec.incomingAuth.oidcConfigRef',
    accepts: server({ incomingAuth: OIDC }),
    refuses: server({ incomingAuth: { type: 'oidc' } }),
  },
  {
    says: 'authzConfig and authzConfigRef are mutually exclusive',
    at: 'spec.incomingAuth.authzConfigRef',
    accepts: server({ incomingAuth: { type: 'anonymous', authzConfigRef: { name: 'a' } } }),
    refuses: server({
      incomingAuth: { type: 'anonymous', authzConfigRef: { name: 'a' }, authzConfig: { configMap: { name: 'a' } } },
    }),
  },
  {
    says: 'configMap must be set when type is configMap, and only then',
    at: 'spec.incomingAuth.authzConfig.configMap',
    accepts: server({ incomingAuth: { type: 'anonymous', authzConfig: { configMap: { name: 'a' } } } }),
    refuses: server({ incomingAuth: { type: 'anonymous', authzConfig: { type: 'configMap' } } }),
  },
  {
    says: 'inline must be set when type is inline, and only then',
    at: 'spec.incomingAuth.authzConfig.inline',
    accepts: server({ incomingAuth: { type: 'anonymous', authzConfig: { type: 'inline', inline: { policies: [] } } } }),
    refuses: server({
      incomingAuth: { type: 'anonymous', authzConfig: { configMap: { name: 'a' }, inline: { policies: [] } } },
    }),
  },
  {
    says: 'address is required when provider is redis',
    at: 'spec.sessionStorage.address',
    accepts: server({ sessionStorage: REDIS }),
    refuses: server({ sessionStorage: { provider: 'redis' } }),
  },
  {
    says: 'address is required when provider is redis',
    at: 'spec.config.sessionStorage.address',
    accepts: server({
      config: {
        sessionStorage: {
          provider: 'redis',
          sentinelConfig: { masterName: 'main', sentinelAddrs: ['s:26379'] },
          tls: { caCertSecretRef: { name: 'redis', key: 'ca.crt' } },
        },
      },
    }),
    refuses: server({ config: { sessionStorage: { provider: 'redis' } } }),
  },
  {
    says: 'externalAuthConfigRef must be set when type is externalAuthConfigRef, and only then',
    at: 'spec.outgoingAuth.default.externalAuthConfigRef',
    accepts: server({
      outgoingAuth: { default: { type: 'externalAuthConfigRef', externalAuthConfigRef: { name: 'a' } } },
    }),
    refuses: server({ outgoingAuth: { default: { type: 'externalAuthConfigRef' } } }),
  },
  {
    says: 'externalAuthConfigRef must be set when type is externalAuthConfigRef, and only then',
    at: 'spec.outgoingAuth.backends[github].externalAuthConfigRef',
    accepts: server({ outgoingAuth: { backends: { github: { type: 'discovered' } } } }),
    refuses: server({
      outgoingAuth: { backends: { github: { type: 'discovered', externalAuthConfigRef: { name: 'a' } } } },
    }),
  },
  {
    says: 'is a restricted header',
    at: 'spec.passthroughHeaders[1]',
    accepts: server({ passthroughHeaders: ['X-Tenant', 'x-trace-id'] }),
    refuses: server({ passthroughHeaders: ['X-Tenant', 'X-Forwarded-For'] }),
  },
  {
    says: 'is a restricted header',
    at: 'spec.config.passthroughHeaders[0]',
    accepts: server({ config: { passthroughHeaders: ['x-tenant'] } }),
    refuses: server({ config: { passthroughHeaders: ['HOST'] } }),
  },
].map((each) => ({ kind: 'VirtualMCPServer', ...each }));
