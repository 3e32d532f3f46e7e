import { catalogue } from '@toolmgr/plugins';
import { beforeAll, describe, expect, it } from 'vitest';
import { REFERENCE_FIELDS } from '../../../../hosts/operator/controllers/references.ts';
import { type CheckManifest, createManifestCheck } from '../../../../hosts/operator/crd/check-manifest.ts';
import { KINDS } from '../../../../hosts/operator/kinds/index.ts';
import type { RequirementId } from '../../../requirements.ts';
import { missingKube } from '../../../support/kube.ts';
import { proves } from '../../../support/proves.ts';
import { vmcpConfig } from '../../../support/vmcp-file.ts';
import { readText } from '../../../support/vmcp-text.ts';
import { type AdmissionServer, admissionServer, objectOf } from './admission-server.ts';
import { LIMIT_CASES } from './limit-cases.ts';
import { mutationsOf } from './mutations.ts';
import { RULE_CASES } from './rule-cases.ts';
import { BUCKET, type LimitCase, OIDC, REDIS, type RuleCase, server } from './server-cases.ts';

const missing = missingKube();
const onServer = missing === undefined ? proves : proves.skipIf(true, missing);

/** One of so many objects is sent; without it the test takes a minute. */
const SHARE = 31;

/** Lines of the contract, with the paths of the cases that prove them. */
const LINES: readonly (readonly [RequirementId, ...string[]])[] = [
  ['vmcp.spec.group-ref', 'spec.groupRef'],
  ['vmcp.spec.group-ref-name', 'spec.groupRef.name'],
  ['vmcp.spec.incoming-auth-required', 'spec.incomingAuth'],
  ['vmcp.spec.embedding-server-ref', 'spec.embeddingServerRef.name'],
  ['vmcp.spec.replicas', 'spec.replicas'],
  ['vmcp.incoming-auth.type', 'spec.incomingAuth.type'],
  ['vmcp.incoming-auth.oidc-config-ref-name', 'spec.incomingAuth.oidcConfigRef.name'],
  ['vmcp.incoming-auth.oidc-config-ref-audience', 'spec.incomingAuth.oidcConfigRef.audience'],
  ['vmcp.incoming-auth.authz-exclusive', 'spec.incomingAuth.authzConfigRef'],
  ['vmcp.incoming-auth.authz-config-ref-name', 'spec.incomingAuth.authzConfigRef.name'],
  ['vmcp.authz-config.variants', 'spec.incomingAuth.authzConfig.configMap', 'spec.incomingAuth.authzConfig.inline'],
  ['vmcp.authz-config.config-map-name', 'spec.incomingAuth.authzConfig.configMap.name'],
  ['vmcp.authz-config.inline-policies', 'spec.incomingAuth.authzConfig.inline.policies'],
  [
    'vmcp.authz-config.inline-primary-upstream-provider',
    'spec.incomingAuth.authzConfig.inline.primaryUpstreamProvider',
  ],
  ['vmcp.authz-config.group-claim-name', 'spec.incomingAuth.authzConfig.groupClaimName'],
  ['vmcp.authz-config.group-entity-type', 'spec.incomingAuth.authzConfig.groupEntityType'],
  ['vmcp.authz-config.group-entity-type-no-namespace', 'spec.incomingAuth.authzConfig.groupEntityType'],
  ['vmcp.authz-config.role-claim-name', 'spec.incomingAuth.authzConfig.roleClaimName'],
  ['vmcp.outgoing-auth.default-type', 'spec.outgoingAuth.default.type'],
  [
    'vmcp.outgoing-auth.default-ref-name',
    'spec.outgoingAuth.default.externalAuthConfigRef',
    'spec.outgoingAuth.default.externalAuthConfigRef.name',
  ],
  ['vmcp.outgoing-auth.backends-type', 'spec.outgoingAuth.backends[a].type'],
  ['vmcp.outgoing-auth.backends-ref', 'spec.outgoingAuth.backends[github].externalAuthConfigRef'],
  ['vmcp.session-storage.provider', 'spec.sessionStorage.provider'],
  ['vmcp.session-storage.address', 'spec.sessionStorage.address'],
  ['vmcp.session-storage.db', 'spec.sessionStorage.db'],
  ['vmcp.session-storage.key-prefix', 'spec.sessionStorage.keyPrefix'],
  ['vmcp.session-storage.password-ref', 'spec.sessionStorage.passwordRef.key'],
  ['vmcp.telemetry-config-ref.name', 'spec.telemetryConfigRef.name'],
  ['vmcp.aggregation.tool-config-ref', 'spec.config.aggregation.tools[0].toolConfigRef.name'],
  ['vmcp.backends.url', 'spec.config.backends[0].url'],
  ['vmcp.composite.name', 'spec.config.compositeTools[1]'],
  [
    'vmcp.operational.circuit-breaker-timeout-minimum',
    'spec.config.operational.failureHandling.circuitBreaker.timeout',
  ],
  ['vmcp.optimizer.embedding-headers', 'spec.config.optimizer.embeddingHeaders'],
  ['vmcp.optimizer.embedding-headers-forbidden', 'spec.config.optimizer.embeddingHeaders'],
  ['vmcp.optimizer.embedding-provider-openai-exclusive', 'spec.embeddingServerRef'],
];

/** Fields that name objects of other kinds. */
const RELATED: readonly (readonly [RequirementId, string, string, object])[] = [
  [
    'vmcp.related.embedding-server',
    'EmbeddingServer',
    'embeddingServerRef.name',
    { embeddingServerRef: { name: 'a' } },
  ],
  [
    'vmcp.related.authz-config',
    'MCPAuthzConfig',
    'incomingAuth.authzConfigRef.name',
    { incomingAuth: { type: 'anonymous', authzConfigRef: { name: 'a' } } },
  ],
  [
    'vmcp.related.external-auth-config',
    'MCPExternalAuthConfig',
    'outgoingAuth.default.externalAuthConfigRef.name',
    { outgoingAuth: { default: { type: 'externalAuthConfigRef', externalAuthConfigRef: { name: 'a' } } } },
  ],
  ['vmcp.related.group', 'MCPGroup', 'config.groupRef', { config: { groupRef: 'team' } }],
  ['vmcp.related.oidc-config', 'MCPOIDCConfig', 'incomingAuth.oidcConfigRef.name', { incomingAuth: OIDC }],
  [
    'vmcp.related.telemetry-config',
    'MCPTelemetryConfig',
    'telemetryConfigRef.name',
    { telemetryConfigRef: { name: 'a' } },
  ],
  [
    'vmcp.related.tool-config',
    'MCPToolConfig',
    'config.aggregation.tools[].toolConfigRef.name',
    { config: { aggregation: { tools: [{ workload: 'a', toolConfigRef: { name: 'b' } }] } } },
  ],
  [
    'vmcp.related.composite-tool-definition',
    'VirtualMCPCompositeToolDefinition',
    'config.compositeToolRefs[].name',
    { config: { compositeToolRefs: [{ name: 'a' }] } },
  ],
];

describe.skipIf(missing)(`admission by the API server${missing === undefined ? '' : ` (${missing})`}`, () => {
  let api: AdmissionServer;
  let check: CheckManifest;
  beforeAll(async () => {
    check = await createManifestCheck(catalogue);
    api = await admissionServer();
  }, 300_000);

  const create: AdmissionServer['create'] = (kind, spec, query) => api.create(kind, spec, query);

  /** The local check says the same, so that `toolmgr vmcp validate` needs no cluster. */
  async function expectAccepted(kind: string, spec: object): Promise<void> {
    const { status, body } = await create(kind, spec);
    expect([status, body.message]).toEqual([201, undefined]);
    expect(check(objectOf(kind, spec))).toEqual([]);
  }

  async function expectRule({ kind, says, at, accepts, refuses }: RuleCase): Promise<void> {
    await expectAccepted(kind, accepts);
    const { status, causes } = await create(kind, refuses);
    expect(status).toBe(422);
    expect(causes).toContainEqual(expect.objectContaining({ field: at, message: expect.stringContaining(says) }));
    const local = check(objectOf(kind, refuses)).map(({ path, message }) => `${path} ${message}`);
    // `Invalid value: MESSAGE`, with the value before the message where it is a text
    const theirs = causes.map(({ field = '', message }) => `${field} ${message.replace(/^[^:]+: (?:"[^"]*": )?/, '')}`);
    expect(local.sort()).toEqual([...new Set(theirs)].sort());
  }

  async function expectLimit({ kind, at, accepts = [], refuses }: LimitCase): Promise<void> {
    for (const spec of accepts) await expectAccepted(kind, spec);
    for (const spec of refuses) {
      const { status, causes } = await create(kind, spec);
      expect(status).toBe(422);
      expect(causes.map(({ field }) => field)).toContain(at.replace('[a]', '.a')); // as keywords name a value of a map
      expect(check(objectOf(kind, spec)).map(({ path }) => path)).toContain(at);
    }
  }

  it.each(RULE_CASES)('accepts and refuses by the rule of $kind: $at: $says', expectRule);
  it.each(LIMIT_CASES)('knows the bounds of $kind $at', expectLimit);

  it('writes no store into sections, so that pods use that of sessionStorage', async () => {
    const sections = { rateLimiting: { shared: BUCKET }, resultLimits: { default: { bytes: 4_096 } } };
    const { status, body } = await create('VirtualMCPServer', server({ sessionStorage: REDIS, config: sections }));
    expect(status).toBe(201);
    const { config } = body.spec as { readonly config: object };
    const { plan } = await readText(JSON.stringify(vmcpConfig({}, { ...config, sessionStorage: REDIS })));
    const stores = plan.plugins
      .filter(({ use }) => use === 'rate-limit' || use === 'result-limits')
      .map(({ use, with: settings }) => [use, (settings as { readonly store: string }).store]);
    expect(Object.fromEntries(stores)).toEqual({ 'rate-limit': 'redis', 'result-limits': 'redis' });
  });

  it('accepts and refuses what the local check does, for objects that differ in one value', async () => {
    const specs = [
      ...RULE_CASES.map(({ kind, accepts }) => ({ kind, spec: accepts })),
      ...LIMIT_CASES.flatMap(({ kind, accepts = [] }) => accepts.map((spec) => ({ kind, spec }))),
    ];
    const objects = specs.flatMap(({ kind, spec }) =>
      mutationsOf(JSON.parse(JSON.stringify(spec))).map((each) => ({ kind, spec: each })),
    );
    const sample = objects.filter((_, index) => index % SHARE === 0);
    expect(sample.length).toBeGreaterThan(200);
    const differing: unknown[] = [];
    for (const { kind, spec } of sample) {
      const { status, body } = await create(kind, spec);
      const local = check(objectOf(kind, spec));
      if ((status === 201) !== (local.length === 0)) differing.push({ kind, spec, theirs: body.message, local });
    }
    expect(differing).toEqual([]);
  });

  for (const [id, ...places] of LINES) {
    onServer(id, `accepts and refuses ${places.join(' and ')}`, async () => {
      for (const place of places) {
        const ofServer = ({ kind, at }: { kind: string; at: string }) => kind === 'VirtualMCPServer' && at === place;
        const [rules, limits] = [RULE_CASES.filter(ofServer), LIMIT_CASES.filter(ofServer)];
        expect(rules.length + limits.length).toBeGreaterThan(0);
        for (const each of rules) await expectRule(each);
        for (const each of limits) await expectLimit(each);
      }
    });
  }

  for (const [id, kind, path, changes] of RELATED) {
    onServer(id, `takes ${path} as the name of the kind ${kind}`, async () => {
      expect(REFERENCE_FIELDS.VirtualMCPServer).toContainEqual(expect.objectContaining({ kind, path }));
      expect(KINDS.map((each) => each.kind)).toContain(kind);
      await expectAccepted('VirtualMCPServer', server(changes as Record<string, unknown>));
    });
  }

  onServer('vmcp.spec.passthrough-headers-restricted', 'refuses restricted headers in every spelling', async () => {
    const names = [
      ...['Host', 'Connection', 'keep-alive', 'Proxy-Authenticate', 'Proxy-Authorization', 'TE', 'Trailer'],
      ...['Transfer-Encoding', 'UPGRADE', 'X-Forwarded-For', 'x-forwarded-host', 'X_Forwarded_Proto', 'Authorization'],
    ];
    for (const name of names) {
      const { status, causes } = await create('VirtualMCPServer', server({ passthroughHeaders: [name] }));
      expect([name, status, causes.map(({ field }) => field)]).toEqual([name, 422, ['spec.passthroughHeaders[0]']]);
    }
    await expectAccepted('VirtualMCPServer', server({ passthroughHeaders: ['X-Forwarder', 'hostname', 'X-Tenant'] }));
  });

  onServer('vmcp.spec.telemetry-config-ref-namespace', 'knows no namespace in a reference', async () => {
    const spec = server({ telemetryConfigRef: { name: 'a', namespace: 'other' } });
    const { status, body } = await create('VirtualMCPServer', spec);
    expect([status, body.message]).toEqual([400, expect.stringContaining('spec.telemetryConfigRef.namespace')]);
  });

  it('kubectl explain describes the keys of steps of composite tools', async () => {
    for (const [path, text] of [
      ['virtualmcpservers.spec.config.compositeTools.steps.collection', 'forEach: template that renders a JSON array'],
      ['virtualmcpcompositetooldefinitions.spec.steps.step.tool', 'workload.tool_name'],
    ] as const)
      expect((await api.kube.kubectl(['explain', path])).replace(/\s+/g, ' ')).toContain(text);
  });

  it('names unknown fields, as the local check does', async () => {
    const unknown = [
      ['VirtualMCPServer', server({ incomingAuht: {} }), 'spec.incomingAuht'],
      ['VirtualMCPServer', server({ config: { optimiser: {} } }), 'spec.config.optimiser'],
      ['MCPGroup', { members: [] }, 'spec.members'],
    ] as const;
    for (const [kind, spec, path] of unknown) {
      const { status, body } = await create(kind, spec);
      expect([status, body.message]).toEqual([400, expect.stringContaining(`unknown field "${path}"`)]);
      expect(check(objectOf(kind, spec)).map((each) => each.path)).toEqual([path]);
    }
  });

  onServer(
    ['vmcp.identity.minimal-object', 'vmcp.spec.config-optional', 'vmcp.state.phase-initial'],
    'takes the smallest object and fills what the contract says, and nothing else',
    async () => {
      const { status, body } = await create('VirtualMCPServer', server());
      expect(status).toBe(201);
      expect(body.spec).toEqual({ ...server(), serviceType: 'ClusterIP', sessionAffinity: 'ClientIP' });
      expect(body.status).toEqual({ phase: 'Pending' });
    },
  );

  const filled = async (changes: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const { status, body } = await create('VirtualMCPServer', server(changes));
    expect([status, body.message]).toEqual([201, undefined]);
    return body.spec;
  };

  onServer('vmcp.spec.service-type', 'fills the type of the Service, and knows three', async () => {
    expect(await filled({})).toMatchObject({ serviceType: 'ClusterIP' });
    for (const serviceType of ['ClusterIP', 'NodePort', 'LoadBalancer']) await filled({ serviceType });
    expect((await create('VirtualMCPServer', server({ serviceType: 'ExternalName' }))).status).toBe(422);
  });

  onServer('vmcp.spec.session-affinity', 'fills the session affinity, and knows two', async () => {
    expect(await filled({})).toMatchObject({ sessionAffinity: 'ClientIP' });
    expect(await filled({ sessionAffinity: 'None' })).toMatchObject({ sessionAffinity: 'None' });
    expect((await create('VirtualMCPServer', server({ sessionAffinity: 'Cookie' }))).status).toBe(422);
  });

  onServer('vmcp.spec.image-pull-secrets', 'fills the empty name of a pull secret', async () => {
    expect(await filled({ imagePullSecrets: [{}, { name: 'a' }] })).toMatchObject({
      imagePullSecrets: [{ name: '' }, { name: 'a' }],
    });
  });

  onServer('vmcp.incoming-auth.oidc-config-ref-scopes', 'fills the scope openid', async () => {
    expect(await filled({ incomingAuth: OIDC })).toMatchObject({
      incomingAuth: { oidcConfigRef: { scopes: ['openid'] } },
    });
  });

  onServer(
    ['vmcp.authz-config.type', 'vmcp.authz-config.config-map-key', 'vmcp.authz-config.inline-entities-json'],
    'fills the type of policies, the key of a ConfigMap and no entities',
    async () => {
      const policies = (authzConfig: object) => ({ incomingAuth: { type: 'anonymous', authzConfig } });
      expect(await filled(policies({ configMap: { name: 'a' } }))).toMatchObject(
        policies({ type: 'configMap', configMap: { key: 'authz.json' } }),
      );
      expect(await filled(policies({ type: 'inline', inline: { policies: [] } }))).toMatchObject(
        policies({ inline: { entitiesJson: '[]' } }),
      );
      const { status } = await create('VirtualMCPServer', server(policies({ type: 'file', configMap: { name: 'a' } })));
      expect(status).toBe(422);
    },
  );

  onServer('vmcp.outgoing-auth.source', 'fills the source of credentials, and knows two', async () => {
    expect(await filled({ outgoingAuth: {} })).toMatchObject({ outgoingAuth: { source: 'discovered' } });
    await filled({ outgoingAuth: { source: 'inline' } });
    expect((await create('VirtualMCPServer', server({ outgoingAuth: { source: 'mixed' } }))).status).toBe(422);
  });

  it('fills the defaults of the authorization server', async () => {
    const provider = { name: 'a', type: 'oidc', oidcConfig: { issuerUrl: 'https://b.example.com', clientId: 'c' } };
    const authServerConfig = {
      ...{ issuer: 'https://a.example.com', upstreamProviders: [provider] },
      ...{ cimd: { enabled: true }, storage: {}, tokenLifespans: {} },
    };
    expect(await filled({ authServerConfig })).toMatchObject({
      authServerConfig: {
        ...{ insecureAllowHTTP: false, disableUpstreamTokenInjection: false },
        cimd: { cacheFallbackTtl: '5m', cacheMaxSize: 256 },
        storage: { type: 'memory' },
        tokenLifespans: { accessTokenLifespan: '1h', refreshTokenLifespan: '168h', authCodeLifespan: '10m' },
        upstreamProviders: [{ oidcConfig: { scopes: ['openid', 'offline_access'] } }],
      },
    });
  });

  it('fills the defaults of an EmbeddingServer without a spec', async () => {
    expect((await create('EmbeddingServer', undefined)).body.spec).toEqual({
      model: 'BAAI/bge-small-en-v1.5',
      image: 'ghcr.io/huggingface/text-embeddings-inference:cpu-latest',
      imagePullPolicy: 'IfNotPresent',
      port: 8080,
      replicas: 1,
    });
  });

  onServer(
    ['vmcp.identity.api-version', 'vmcp.identity.kind', 'vmcp.identity.namespaced', 'vmcp.versioning.resource-version'],
    'serves every kind with its names, its category and a status of its own',
    async () => {
      const answer = await api.kube.request('GET', '/apis/toolmgr.dev/v1beta1');
      const { resources } = answer.body as { resources: Served[] };
      for (const { kind, plural, shortNames } of KINDS) {
        const found = resources.find((each) => each.name === plural);
        expect(found).toMatchObject({ kind, namespaced: true, categories: ['toolmgr'], shortNames });
        expect(resources.map(({ name }) => name)).toContain(`${plural}/status`);
      }
    },
  );
});

interface Served {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly categories?: readonly string[];
  readonly shortNames?: readonly string[];
}
