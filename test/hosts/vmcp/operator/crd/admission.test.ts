import { catalogue } from '@toolmgr/plugins';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CheckManifest, createManifestCheck } from '../../../../../hosts/vmcp/operator/crd/check-manifest.ts';
import { KINDS } from '../../../../../hosts/vmcp/operator/kinds/index.ts';
import { allCrds } from '../../../../support/crds.ts';
import { type KubeCluster, missingKube, startKube } from '../../../../support/kube.ts';
import { LIMIT_CASES } from './limit-cases.ts';
import { RULE_CASES, server } from './rule-cases.ts';

const missing = missingKube();

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

  it.each(RULE_CASES)(
    'accepts and refuses by the rule of $kind: $at: $says',
    async ({ kind, says, at, accepts, refuses }) => {
      await expectAccepted(kind, accepts);
      const { status, causes } = await create(kind, refuses);
      expect(status).toBe(422);
      expect(causes).toContainEqual(expect.objectContaining({ field: at, message: expect.stringContaining(says) }));
      const local = check(objectOf(kind, refuses)).map(({ path, message }) => `${path} ${message}`);
      const theirs = causes.map(({ field = '', message }) => `${field} ${message.slice(message.indexOf(': ') + 2)}`);
      expect(local.sort()).toEqual([...new Set(theirs)].sort());
    },
    30_000,
  );

  it.each(LIMIT_CASES)(
    'knows the bounds of $kind $at',
    async ({ kind, at, accepts = [], refuses }) => {
      for (const spec of accepts) await expectAccepted(kind, spec);
      for (const spec of refuses) {
        const { status, causes } = await create(kind, spec);
        expect(status).toBe(422);
        expect(causes.map(({ field }) => field)).toContain(at.replace('[a]', '.a')); // as keywords name a value of a map
        expect(check(objectOf(kind, spec)).map(({ path }) => path)).toContain(at);
      }
    },
    30_000,
  );

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

  it('fills defaults, and nothing where the contract has none', async () => {
    const { body } = await create('VirtualMCPServer', server());
    expect(body.spec).toEqual({ ...server(), serviceType: 'ClusterIP', sessionAffinity: 'ClientIP' });
    expect(body.status).toEqual({ phase: 'Pending' });
    const filled = await create(
      'VirtualMCPServer',
      server({
        incomingAuth: {
          type: 'oidc',
          oidcConfigRef: { name: 'a', audience: 'b' },
          authzConfig: { configMap: { name: 'a' } },
        },
        outgoingAuth: {},
        sessionStorage: { provider: 'memory' },
        imagePullSecrets: [{}],
        authServerConfig: {
          issuer: 'https://a.example.com',
          upstreamProviders: [
            { name: 'a', type: 'oidc', oidcConfig: { issuerUrl: 'https://b.example.com', clientId: 'c' } },
          ],
          cimd: { enabled: true },
          storage: {},
          tokenLifespans: {},
        },
      }),
    );
    expect(filled.body.spec).toMatchObject({
      incomingAuth: {
        oidcConfigRef: { scopes: ['openid'] },
        authzConfig: { type: 'configMap', configMap: { key: 'authz.json' } },
      },
      outgoingAuth: { source: 'discovered' },
      sessionStorage: { db: 0 },
      imagePullSecrets: [{ name: '' }],
      authServerConfig: {
        insecureAllowHTTP: false,
        disableUpstreamTokenInjection: false,
        cimd: { cacheFallbackTtl: '5m', cacheMaxSize: 256 },
        storage: { type: 'memory' },
        tokenLifespans: { accessTokenLifespan: '1h', refreshTokenLifespan: '168h', authCodeLifespan: '10m' },
        upstreamProviders: [{ oidcConfig: { scopes: ['openid', 'offline_access'] } }],
      },
    });
    const inline = { type: 'anonymous', authzConfig: { type: 'inline', inline: { policies: [] } } };
    const { body: withPolicies } = await create('VirtualMCPServer', server({ incomingAuth: inline }));
    expect(withPolicies.spec).toMatchObject({ incomingAuth: { authzConfig: { inline: { entitiesJson: '[]' } } } });
    const embedding = await create('EmbeddingServer', undefined);
    expect(embedding.body.spec).toEqual({
      model: 'BAAI/bge-small-en-v1.5',
      image: 'ghcr.io/huggingface/text-embeddings-inference:cpu-latest',
      imagePullPolicy: 'IfNotPresent',
      port: 8080,
      replicas: 1,
    });
  });

  it('serves every kind with its names, its category and a status of its own', async () => {
    const answer = await kube.request('GET', '/apis/toolmgr.dev/v1beta1');
    const { resources } = answer.body as { resources: Served[] };
    for (const { kind, plural, shortNames } of KINDS) {
      const found = resources.find((each) => each.name === plural);
      expect(found).toMatchObject({ kind, namespaced: true, categories: ['toolmgr'], shortNames });
      expect(resources.map(({ name }) => name)).toContain(`${plural}/status`);
    }
  });

  it('shows the columns, and takes a status that the contract allows', async () => {
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
      [{ discoveredBackends: [{ ...backend, mcpRevision: '2024-11-05' }] }, 'status.discoveredBackends[0].mcpRevision'],
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
    const table = await kube.kubectl(['get', 'vmcp', 'a']);
    expect(table.split('\n')[0]?.split(/ {2,}/)).toEqual(['NAME', 'PHASE', 'URL', 'BACKENDS', 'AGE', 'READY']);
    expect(await kube.kubectl(['get', 'virtualmcp', '-o', 'name'])).toContain('virtualmcpserver.toolmgr.dev/a');
    expect(await kube.kubectl(['get', 'toolmgr', '-o', 'name'])).toContain('virtualmcpserver.toolmgr.dev/a');
  }, 60_000);
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
