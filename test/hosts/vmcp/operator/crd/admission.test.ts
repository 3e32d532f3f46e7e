import { catalogue } from '@toolmgr/plugins';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { REFERENCE_FIELDS } from '../../../../../hosts/vmcp/operator/controllers/references.ts';
import { type CheckManifest, createManifestCheck } from '../../../../../hosts/vmcp/operator/crd/check-manifest.ts';
import { KINDS } from '../../../../../hosts/vmcp/operator/kinds/index.ts';
import type { RequirementId } from '../../../../requirements.ts';
import { allCrds } from '../../../../support/crds.ts';
import { type KubeCluster, missingKube, startKube } from '../../../../support/kube.ts';
import { proves } from '../../../../support/proves.ts';
import { LIMIT_CASES, type LimitCase } from './limit-cases.ts';
import { OIDC, RULE_CASES, type RuleCase, server } from './rule-cases.ts';

const missing = missingKube();
const onServer = missing === undefined ? proves : proves.skipIf(true, missing);

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

interface Answer {
  readonly status: number;
  /** Fields at fault with the messages of the API server. */
  readonly causes: readonly { readonly field?: string; readonly message: string }[];
  readonly body: Readonly<Record<string, unknown>>;
}

describe.skipIf(missing)(`admission by the API server${missing === undefined ? '' : ` (${missing})`}`, () => {
  let kube: KubeCluster;
  let check: CheckManifest;
  beforeAll(async () => {
    check = await createManifestCheck(catalogue);
    kube = await startKube({ controllers: false, crds: allCrds() });
    await untilServed(kube);
  }, 300_000);
  afterAll(async () => kube?.[Symbol.asyncDispose]());

  const objectOf = (kind: string, spec: unknown) =>
    JSON.parse(JSON.stringify({ apiVersion: 'toolmgr.dev/v1beta1', kind, metadata: { name: 'a' }, spec }));

  async function create(kind: string, spec: unknown, query = 'dryRun=All&fieldValidation=Strict'): Promise<Answer> {
    const answer = await kube.request('POST', `${pathOf(kind)}?${query}`, objectOf(kind, spec));
    const body = answer.body as Readonly<Record<string, unknown>>;
    const details = body.details as { causes?: Answer['causes'] } | undefined;
    return { status: answer.status, causes: details?.causes ?? [], body };
  }

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
    const theirs = causes.map(({ field = '', message }) => `${field} ${message.slice(message.indexOf(': ') + 2)}`);
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

  it.each(RULE_CASES)('accepts and refuses by the rule of $kind: $at: $says', expectRule, 30_000);
  it.each(LIMIT_CASES)('knows the bounds of $kind $at', expectLimit, 30_000);

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

  it('names unknown fields, as the local check does', async () => {
    const unknown = [
      ['VirtualMCPServer', server({ incomingAuht: {} }), 'spec.incomingAuht'],
      ['VirtualMCPServer', server({ config: { optimiser: {} } }), 'spec.config.optimiser'],
      ['VirtualMCPServer', server({ config: { kubernetes: { report: 'a' } } }), 'spec.config.kubernetes'],
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
      const answer = await kube.request('GET', '/apis/toolmgr.dev/v1beta1');
      const { resources } = answer.body as { resources: Served[] };
      for (const { kind, plural, shortNames } of KINDS) {
        const found = resources.find((each) => each.name === plural);
        expect(found).toMatchObject({ kind, namespaced: true, categories: ['toolmgr'], shortNames });
        expect(resources.map(({ name }) => name)).toContain(`${plural}/status`);
      }
    },
  );

  const statusLines = [
    ...['vmcp.status.phase', 'vmcp.status.message', 'vmcp.status.url', 'vmcp.status.observed-generation'],
    ...['vmcp.status.conditions', 'vmcp.condition.type', 'vmcp.condition.status', 'vmcp.condition.reason'],
    ...['vmcp.condition.message', 'vmcp.condition.last-transition-time', 'vmcp.condition.observed-generation'],
  ] as RequirementId[];
  onServer(
    statusLines,
    'takes a status that the contract allows, and no other',
    async () => {
      const { status } = await create('VirtualMCPServer', server(), 'fieldValidation=Strict');
      expect(status).toBe(201);
      const write = (changes: object) =>
        kube.request(
          'PATCH',
          `${pathOf('VirtualMCPServer')}/a/status?fieldValidation=Strict`,
          { status: changes },
          'application/merge-patch+json',
        );
      const condition = {
        ...{ type: 'example.com/Ready', status: 'True', reason: 'AllReady', message: '' },
        ...{ lastTransitionTime: '2026-01-01T00:00:00Z', observedGeneration: 1 },
      };
      const backend = {
        ...{
          name: 'a',
          url: 'http://a',
          status: 'ready',
          message: 'm',
          authType: 'header_injection',
          authConfigRef: 'c',
        },
        ...{ circuitBreakerState: 'half-open', circuitLastChanged: '2026-01-01T00:00:00Z', consecutiveFailures: 0 },
        ...{ lastHealthCheck: '2026-01-01T00:00:00Z', mcpRevision: '2026-07-28' },
      };
      const whole = {
        ...{ phase: 'Ready', message: 'm', url: 'http://vmcp-a.default.svc.cluster.local:4483', backendCount: 1 },
        ...{ observedGeneration: 1, authzConfigHash: 'a', oidcConfigHash: 'b', telemetryConfigHash: 'c' },
        ...{ conditions: [condition], discoveredBackends: [backend] },
      };
      expect((await write(whole)).body).toMatchObject({ status: whole });
      const refused: readonly (readonly [object, string])[] = [
        [{ phase: 'Running' }, 'status.phase'],
        [{ backendCount: 1.5 }, 'status.backendCount'],
        [{ conditions: [{ ...condition, type: 'not ready' }] }, 'status.conditions[0].type'],
        [{ conditions: [{ ...condition, type: 'A'.repeat(317) }] }, 'status.conditions[0].type'],
        [{ conditions: [{ ...condition, status: 'Yes' }] }, 'status.conditions[0].status'],
        [{ conditions: [{ ...condition, reason: '' }] }, 'status.conditions[0].reason'],
        [{ conditions: [{ ...condition, reason: 'A'.repeat(1025) }] }, 'status.conditions[0].reason'],
        [{ conditions: [{ ...condition, message: undefined }] }, 'status.conditions[0].message'],
        [{ conditions: [{ ...condition, message: 'a'.repeat(32_769) }] }, 'status.conditions[0].message'],
        [{ conditions: [{ ...condition, lastTransitionTime: 'now' }] }, 'status.conditions[0].lastTransitionTime'],
        [{ conditions: [{ ...condition, observedGeneration: -1 }] }, 'status.conditions[0].observedGeneration'],
        [{ conditions: [condition, condition] }, 'status.conditions[1]'],
        [{ discoveredBackends: [{ url: 'a' }] }, 'status.discoveredBackends[0].name'],
        [{ discoveredBackends: [{ ...backend, status: 'up' }] }, 'status.discoveredBackends[0].status'],
        [
          { discoveredBackends: [{ ...backend, mcpRevision: '2024-11-05' }] },
          'status.discoveredBackends[0].mcpRevision',
        ],
        [
          { discoveredBackends: [{ ...backend, circuitBreakerState: 'broken' }] },
          'status.discoveredBackends[0].circuitBreakerState',
        ],
      ];
      for (const [changes, field] of refused) {
        const answer = await write(changes);
        const { details } = answer.body as { details?: { causes?: { field: string }[] } };
        expect([answer.status, details?.causes?.map((each) => each.field)]).toEqual([
          422,
          expect.arrayContaining([expect.stringContaining(field)]),
        ]);
      }
    },
    60_000,
  );

  onServer(
    'vmcp.identity.short-names',
    'shows the columns of servers by their short names',
    async () => {
      const table = await kube.kubectl(['get', 'vmcp', 'a']);
      expect(table.split('\n')[0]?.split(/ {2,}/)).toEqual(['NAME', 'PHASE', 'URL', 'BACKENDS', 'AGE', 'READY']);
      expect(await kube.kubectl(['get', 'virtualmcp', '-o', 'name'])).toContain('virtualmcpserver.toolmgr.dev/a');
      expect(await kube.kubectl(['get', 'toolmgr', '-o', 'name'])).toContain('virtualmcpserver.toolmgr.dev/a');
    },
    60_000,
  );
});

interface Served {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly categories?: readonly string[];
  readonly shortNames?: readonly string[];
}

function pathOf(kind: string): string {
  const plural = KINDS.find((each) => each.kind === kind)?.plural;
  return `/apis/toolmgr.dev/v1beta1/namespaces/default/${plural}`;
}

/** The first requests for a new kind may be refused for about 2 s. */
async function untilServed(kube: KubeCluster): Promise<void> {
  for (const { kind } of KINDS) {
    for (let left = 200; left > 0; left -= 1) {
      if ((await kube.request('GET', pathOf(kind))).status === 200) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
