import type { Resource } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { CONFIG_KINDS } from '../../../../hosts/operator/controllers/config-checks.ts';
import { configController } from '../../../../hosts/operator/controllers/config-kinds.ts';
import { REFERENCE_FIELDS, typeNamed } from '../../../../hosts/operator/controllers/references.ts';
import { conditionsIn, startControllers } from '../../../support/controllers.ts';
import { countedApi } from '../../../support/counted-api.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';
import { own } from '../../../support/own-objects.ts';
import { proves } from '../../../support/proves.ts';
import { until } from '../../../support/until.ts';

const WAIT_MS = 60_000;
const controllers = () => CONFIG_KINDS.map(configController);

/** Specs that the API server accepts and gateways cannot use. */
const REFUSED = [
  ['MCPOIDCConfig', { inline: { issuer: 'http://issuer.example.com' } }, 'InvalidConfig', 'https'],
  ['MCPAuthzConfig', { type: 'httpv1' }, 'ValidationFailed', 'cedarv1'],
  ['MCPAuthzConfig', { config: { policies: ['permit(nonsense'] } }, 'InvalidConfig', 'policies'],
  ['MCPAuthzConfig', { config: { policy: 'x' } }, 'ValidationFailed', 'policies'],
  ['MCPExternalAuthConfig', { type: 'obo', obo: { tenantId: 'a' } }, 'EnterpriseRequired', 'enterprise'],
  [
    'MCPExternalAuthConfig',
    {
      type: 'awsSts',
      awsSts: {
        region: 'eu-central-1',
        roleMappings: [{ matcher: 'claims.', roleArn: 'arn:aws:iam::123456789012:role/a' }],
      },
    },
    'InvalidConfig',
    'matcher',
  ],
  ['MCPToolConfig', { toolsOverride: { search: {} } }, 'InvalidConfig', 'search'],
  [
    'MCPTelemetryConfig',
    { openTelemetry: { enabled: true, endpoint: 'https://[broken', tracing: { enabled: true } } },
    'InvalidConfig',
    'endpoint',
  ],
] as const;

describe.skipIf(kubeSkipped)(`configurations on a real API server${kubeSkipped}`, () => {
  const { api, namespace } = kubeSuite();

  const read = (kind: string, ns: string, name: string) =>
    api.get(typeNamed(kind), { namespace: ns, name }) as Promise<Resource<object, Status> | undefined>;

  it('each kind gets a finalizer, a hash and the condition Valid; a refused one says why', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, controllers());
    for (const { kind } of CONFIG_KINDS) await api.create(typeNamed(kind), own(kind, ns, 'good'));
    for (const [at, [kind, spec]] of REFUSED.entries())
      await api.create(typeNamed(kind), own(kind, ns, `bad${at}`, spec));
    for (const { kind } of CONFIG_KINDS) {
      await until(async () => conditionsIn(await read(kind, ns, 'good')).Valid !== undefined, WAIT_MS);
      const good = await read(kind, ns, 'good');
      expect(conditionsIn(good), JSON.stringify(good?.status)).toMatchObject({ Valid: 'True/ValidationSucceeded' });
      expect(good?.status?.configHash).toMatch(/^[0-9a-f]{64}$/);
      expect(good?.metadata.finalizers).toEqual([`${kind.toLowerCase()}.toolmgr.dev/finalizer`]);
    }
    for (const [at, [kind, , reason, word]] of REFUSED.entries()) {
      await until(async () => conditionsIn(await read(kind, ns, `bad${at}`)).Valid !== undefined, WAIT_MS);
      const bad = await read(kind, ns, `bad${at}`);
      expect(conditionsIn(bad).Valid, `${kind} ${JSON.stringify(bad?.status)}`).toBe(`False/${reason}`);
      expect(bad?.status?.conditions?.find(({ type }) => type === 'Valid')?.message).toContain(word);
      expect(running.events).toContain(`ConfigInvalid ${kind}/bad${at}`);
    }
    expect(running.events.filter((event) => event.startsWith('ConfigValid'))).toEqual([]);
    expect(running.failures).toEqual([]);
  });

  it('events tell transitions only; the hash follows the spec and not the order of its keys', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, controllers());
    const kind = 'MCPAuthzConfig';
    const policies = ['permit(principal, action, resource);'];
    const apply = (spec: object) =>
      api.apply(typeNamed(kind), own(kind, ns, 'a', spec), { manager: 'test', force: true });
    const settled = (generation: number) =>
      until(async () => (await read(kind, ns, 'a'))?.status?.observedGeneration === generation, WAIT_MS);
    await apply({ config: { policies, group_claim_name: 'g', entities_json: '[]' } });
    await settled(1);
    const hash = (await read(kind, ns, 'a'))?.status?.configHash;
    await apply({ config: { policies: ['nonsense'] } });
    await settled(2);
    await apply({ config: { policies: ['still nonsense'] } });
    await settled(3);
    await apply({ config: { entities_json: '[]', group_claim_name: 'g', policies } });
    await settled(4);
    expect((await read(kind, ns, 'a'))?.status?.configHash).toBe(hash);
    expect(running.events).toEqual(['ConfigInvalid MCPAuthzConfig/a', 'ConfigValid MCPAuthzConfig/a']);
  });

  it('an embedded authorization server says whether people get a synthesized identity', async () => {
    const ns = await namespace();
    await using _running = await startControllers(api, ns, controllers());
    const oauth2Config = {
      authorizationEndpoint: 'https://idp.example.com/authorize',
      tokenEndpoint: 'https://idp.example.com/token',
      clientId: 'c',
    };
    const server = (extra: object) => ({
      type: 'embeddedAuthServer',
      embeddedAuthServer: {
        issuer: 'https://auth.example.com',
        upstreamProviders: [{ name: 'idp', type: 'oauth2', oauth2Config: { ...oauth2Config, ...extra } }],
      },
    });
    const kind = 'MCPExternalAuthConfig';
    await api.create(typeNamed(kind), own(kind, ns, 'without', server({})));
    const userInfo = { endpointUrl: 'https://idp.example.com/user' };
    await api.create(typeNamed(kind), own(kind, ns, 'with', server({ userInfo })));
    const identity = async (name: string) => conditionsIn(await read(kind, ns, name)).IdentitySynthesized;
    await until(
      async () => (await identity('with')) !== undefined && (await identity('without')) !== undefined,
      WAIT_MS,
    );
    expect(await identity('without')).toBe('True/OAuth2UpstreamWithoutUserInfo');
    expect(await identity('with')).toBe('False/AllUpstreamsHaveUserInfo');
    expect(conditionsIn(await read(kind, ns, 'with')).Valid).toBe('True/ValidationSucceeded');
  });

  proves(
    [
      'vmcp.related.authz-config',
      'vmcp.related.external-auth-config',
      'vmcp.related.oidc-config',
      'vmcp.related.telemetry-config',
      'vmcp.related.tool-config',
    ],
    'a deleted configuration stays while anything refers to it, and goes with the last referrer',
    async () => {
      const ns = await namespace();
      await using running = await startControllers(api, ns, controllers());
      const rows = guardedFields();
      expect(rows.length).toBeGreaterThan(18);
      for (const [at, { owner, kind, path }] of rows.entries()) {
        await api.create(typeNamed(kind), own(kind, ns, `used${at}`));
        await api.create(typeNamed(owner), own(owner, ns, `user${at}`, specWith(owner, path, `used${at}`)));
      }
      await running.idle();
      for (const [at, { kind }] of rows.entries())
        await api.remove(typeNamed(kind), { namespace: ns, name: `used${at}` });
      for (const [at, { owner, kind, path }] of rows.entries()) {
        const blocked = async () => conditionsIn(await read(kind, ns, `used${at}`)).DeletionBlocked;
        await until(async () => (await blocked()) !== undefined, WAIT_MS);
        expect(await blocked(), `${owner} ${path}`).toBe('True/ReferencedByWorkloads');
        const { status } = (await read(kind, ns, `used${at}`)) ?? {};
        expect(status?.conditions?.find(({ type }) => type === 'DeletionBlocked')?.message).toContain(
          `${owner}/user${at}`,
        );
        expect(running.events).toContain(`DeletionBlocked ${kind}/used${at}`);
      }
      const began = Date.now();
      for (const [at, { owner }] of rows.entries())
        await api.remove(typeNamed(owner), { namespace: ns, name: `user${at}` });
      for (const [at, { kind }] of rows.entries()) {
        await until(async () => (await read(kind, ns, `used${at}`)) === undefined, WAIT_MS);
      }
      expect(Date.now() - began).toBeLessThan(25_000); // by the watch, not by the fallback of 30 s
      expect(running.failures).toEqual([]);
    },
    180_000,
  );

  it('the operator is killed after any write and converges, and an unchanged object is not written', async () => {
    const ns = await namespace();
    const kind = 'MCPOIDCConfig';
    const type = typeNamed(kind);
    const key = { namespace: ns, name: 'a' };
    for (let kill = 1; ; kill++) {
      await api.create(type, own(kind, ns, 'a'));
      const first = countedApi(api, kill);
      await using dying = await startControllers(first.api, ns, controllers());
      const isDead = await Promise.race([first.died.then(() => true), dying.idle().then(() => false)]);
      await dying[Symbol.asyncDispose]();
      const second = countedApi(api);
      await using running = await startControllers(second.api, ns, controllers());
      await until(async () => conditionsIn(await read(kind, ns, 'a')).Valid === 'True/ValidationSucceeded', WAIT_MS);
      await running.idle();
      const writes = [...first.writes, ...second.writes];
      expect(writes).toEqual([`patch ${kind}/a`, `apply ${kind}/a status`]);
      await api.remove(type, key);
      await until(async () => (await read(kind, ns, 'a')) === undefined, WAIT_MS);
      expect(second.writes.slice(writes.length - first.writes.length)).toEqual([`patch ${kind}/a`]);
      if (!isDead) break;
    }
  }, 180_000);

  it('other writers of the same object are no hindrance', async () => {
    const ns = await namespace();
    const kind = 'MCPToolConfig';
    const type = typeNamed(kind);
    let isWriting = true;
    const names = ['a', 'b', 'c'];
    for (const name of names) await api.create(type, own(kind, ns, name));
    const writers = names.map(async (name) => {
      for (let n = 0; isWriting; n++) {
        const patch = { metadata: { annotations: { n: `${n}` }, finalizers: undefined } };
        await api.patch(type, { namespace: ns, name }, patch);
      }
    });
    await using running = await startControllers(api, ns, controllers());
    for (const name of names) {
      await until(async () => conditionsIn(await read(kind, ns, name)).Valid !== undefined, WAIT_MS);
    }
    isWriting = false;
    await Promise.all(writers);
    for (const name of names) await api.remove(type, { namespace: ns, name });
    for (const name of names) await until(async () => (await read(kind, ns, name)) === undefined, WAIT_MS);
    expect(running.failures.filter((failure) => !failure.includes('409'))).toEqual([]);
  });
});

interface Status {
  readonly configHash?: string;
  readonly observedGeneration?: number;
  readonly conditions?: readonly { readonly type: string; readonly message: string }[];
}

/** Every field of every kind that names a guarded configuration. */
function guardedFields() {
  const guarded = new Set(CONFIG_KINDS.map(({ kind }) => kind));
  return Object.entries(REFERENCE_FIELDS).flatMap(([owner, fields]) =>
    fields.filter(({ kind }) => guarded.has(kind)).map(({ kind, path }) => ({ owner, kind, path })),
  );
}

/** A spec with one reference, and what else the API server wants of it. */
function specWith(owner: string, path: string, name: string): object {
  const typed = { type: 'externalAuthConfigRef', externalAuthConfigRef: { name } };
  const gateway: Record<string, object> = {
    'config.aggregation.tools[].toolConfigRef.name': {
      config: { aggregation: { tools: [{ workload: 'x', toolConfigRef: { name } }] } },
    },
    'incomingAuth.authzConfigRef.name': { incomingAuth: { type: 'anonymous', authzConfigRef: { name } } },
    'incomingAuth.oidcConfigRef.name': { incomingAuth: { type: 'oidc', oidcConfigRef: { name, audience: 'a' } } },
    'outgoingAuth.backends.*.externalAuthConfigRef.name': { outgoingAuth: { backends: { x: typed } } },
    'outgoingAuth.default.externalAuthConfigRef.name': { outgoingAuth: { default: typed } },
  };
  const field = path.replace(/\.name$/, '');
  const extra = field === 'oidcConfigRef' ? { audience: 'a' } : {};
  return (owner === 'VirtualMCPServer' ? gateway[path] : undefined) ?? { [field]: { name, ...extra } };
}
