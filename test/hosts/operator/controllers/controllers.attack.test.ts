import type { Api, Resource } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { typeNamed } from '../../../../hosts/operator/controllers/references.ts';
import { sharedKindsPart } from '../../../../hosts/operator/controllers/shared-kinds-part.ts';
import { secrets, statefulSets } from '../../../../hosts/operator/objects/built-in-kinds.ts';
import { conditionsIn, startControllers } from '../../../support/controllers.ts';
import { countedApi } from '../../../support/counted-api.ts';
import { kubeSkipped, kubeSuite } from '../../../support/kube-suite.ts';
import { own } from '../../../support/own-objects.ts';
import { until } from '../../../support/until.ts';

const WAIT_MS = 120_000;
/** A quiet machine needs less than one second; this is for a busy one. */
const IN_TIME_MS = 10_000;
const FLOW = 'VirtualMCPCompositeToolDefinition';
const PERMIT = 'permit(principal, action, resource);';
const many = <T>(times: number, make: (at: number) => T): T[] => Array.from({ length: times }, (_, at) => make(at));
const record = <T>(times: number, make: (at: number) => [string, T]): Record<string, T> =>
  Object.fromEntries(many(times, make));
const nested = (depth: number, inner: unknown): unknown => (depth === 0 ? inner : { a: nested(depth - 1, inner) });
const role = 'arn:aws:iam::123456789012:role/a';
const when = (condition: string) => `permit(principal, action, resource) when { ${condition} };`;

/** Objects near the limit of the API server, or built to hurt their reader, and a word of the condition. */
const HOSTILE: readonly (readonly [what: string, kind: string, spec: object, word: string])[] = [
  [
    '9000 policies',
    'MCPAuthzConfig',
    { config: { policies: many(9_000, (at) => when(`context.a == "${at} ${'y'.repeat(60)}"`)) } },
    'bytes',
  ],
  [
    'one policy of 1 MB',
    'MCPAuthzConfig',
    { config: { policies: [when(`context.a == "${'y'.repeat(1_000_000)}"`)] } },
    'bytes',
  ],
  [
    'a policy in 2000 parentheses',
    'MCPAuthzConfig',
    { config: { policies: [when(`${'('.repeat(2_000)}true${')'.repeat(2_000)}`)] } },
    'deep',
  ],
  [
    'entities in 2000 lists',
    'MCPAuthzConfig',
    { config: { policies: [PERMIT], entities_json: `${'['.repeat(2_000)}${']'.repeat(2_000)}` } },
    'deep',
  ],
  ['a config 900 deep', 'MCPAuthzConfig', { config: nested(900, 'x') as object }, 'deep'],
  [
    'prototype keys',
    'MCPAuthzConfig',
    { config: JSON.parse(`{"policies":["${PERMIT}"],"__proto__":{"polluted":"yes"}}`) },
    '',
  ],
  [
    'a constructor',
    'MCPAuthzConfig',
    { config: { policies: [PERMIT], constructor: { prototype: { polluted: 'yes' } } } },
    'constructor',
  ],
  [
    '8000 overrides',
    'MCPToolConfig',
    { toolsOverride: record(8_000, (at) => [`tool${at}`, { description: 'x'.repeat(80) }]) },
    'bytes',
  ],
  ['2000 wrong overrides', 'MCPToolConfig', { toolsOverride: record(2_000, (at) => [`tool${at}`, {}]) }, 'more'],
  [
    '200 CEL expressions in 1900 parentheses',
    'MCPExternalAuthConfig',
    {
      type: 'awsSts',
      awsSts: {
        region: 'eu-central-1',
        roleMappings: many(200, () => ({ matcher: `${'('.repeat(900)}true${')'.repeat(900)}`, roleArn: role })),
      },
    },
    'bytes|matcher',
  ],
  [
    'no CEL',
    'MCPExternalAuthConfig',
    { type: 'awsSts', awsSts: { region: 'eu-central-1', roleMappings: [{ matcher: '[', roleArn: role }] } },
    'matcher',
  ],
  [
    'CEL with a regular expression of exponential time',
    'MCPExternalAuthConfig',
    {
      type: 'awsSts',
      awsSts: {
        region: 'eu-central-1',
        roleMappings: [{ matcher: `"${'a'.repeat(40)}!".matches("(")`, roleArn: role }],
      },
    },
    '',
  ],
  ['10000 steps', FLOW, { name: 'f', steps: many(10_000, (at) => ({ id: `s${at}`, tool: 'x.y' })) }, 'bytes|steps'],
  [
    '5000 templates',
    FLOW,
    {
      name: 'f',
      steps: [
        { id: 'a', tool: 'x.y', arguments: record(5_000, (at) => [`k${at}`, '{{.params.q | quote | nothing}}']) },
      ],
    },
    'template',
  ],
  [
    'parameters 900 deep',
    FLOW,
    {
      name: 'f',
      parameters: { type: 'object', properties: nested(900, {}) as object },
      steps: [{ id: 'a', tool: 'x.y' }],
    },
    'deep',
  ],
  [
    'an invalid pattern',
    FLOW,
    {
      name: 'f',
      parameters: { type: 'object', properties: { a: { type: 'string', pattern: '(' } } },
      steps: [{ id: 'a', tool: 'x.y' }],
    },
    'parameters',
  ],
  [
    'a template of templates',
    FLOW,
    { name: 'f', steps: [{ id: 'a', tool: 'x.y', arguments: { q: '{{'.repeat(50_000) } }] },
    'template',
  ],
];

describe.skipIf(kubeSkipped)(`hostile objects on a real API server${kubeSkipped}`, () => {
  const { api, request, namespace } = kubeSuite();

  const read = (kind: string, ns: string, name: string) =>
    api.get(typeNamed(kind), { namespace: ns, name }) as Promise<Resource<object, Status> | undefined>;
  const isSeen = async (kind: string, ns: string, name: string): Promise<boolean> =>
    ((await read(kind, ns, name))?.status?.conditions ?? []).length > 0;

  it('large, deep and wrong objects get a condition, while others are reconciled in their time', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, sharedKindsPart().controllers);
    const stored: (typeof HOSTILE)[number][] = [];
    const waits: number[] = [];
    const honest = async (name: string): Promise<void> => {
      const began = Date.now();
      await api.create(typeNamed('MCPToolConfig'), own('MCPToolConfig', ns, name));
      await until(() => isSeen('MCPToolConfig', ns, name), WAIT_MS);
      waits.push(Date.now() - began);
    };
    await honest('honest-before');
    for (const [at, row] of HOSTILE.entries()) {
      const [what, kind, spec] = row;
      const made = own(kind, ns, `hostile${at}`, spec);
      const { status } = await request(
        'POST',
        `/apis/${made.apiVersion}/namespaces/${ns}/${typeNamed(kind).plural}`,
        made,
      );
      expect([201, 400, 413, 422, 500, 504], what).toContain(status);
      if (status === 201) stored.push(row);
      await honest(`honest${at}`);
    }
    for (const [what, kind, , word] of stored) {
      const name = `hostile${HOSTILE.findIndex(([each]) => each === what)}`;
      await until(() => isSeen(kind, ns, name), WAIT_MS);
      const { conditions = [] } = (await read(kind, ns, name))?.status ?? {};
      const refused = conditions.find(({ type }) => type === 'Valid' || type === 'WorkflowValidated');
      expect(refused?.status, `${what}: ${refused?.message}`).toBe(word === '' ? refused?.status : 'False');
      expect(refused?.message, what).toMatch(new RegExp(word));
      expect(refused?.message.length, what).toBeLessThanOrEqual(32_768);
    }
    expect(stored.length).toBeGreaterThan(HOSTILE.length / 2);
    expect(Math.max(...waits)).toBeLessThan(IN_TIME_MS);
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    // the reader of policies is not broken by what it was given
    await api.create(typeNamed('MCPAuthzConfig'), own('MCPAuthzConfig', ns, 'after'));
    await until(() => isSeen('MCPAuthzConfig', ns, 'after'), WAIT_MS);
    expect(conditionsIn(await read('MCPAuthzConfig', ns, 'after')).Valid).toBe('True/ValidationSucceeded');
    expect(running.failures).toEqual([]);
  }, 300_000);

  it('keys of prototypes count in hashes and are plain keys of maps', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, sharedKindsPart().controllers);
    const override = (text: string) => ({
      toolsOverride: JSON.parse(`{"__proto__":{"description":"${text}"},"constructor":{"name":"c"}}`),
    });
    await api.create(typeNamed('MCPToolConfig'), own('MCPToolConfig', ns, 'a', override('one')));
    await api.create(typeNamed('MCPToolConfig'), own('MCPToolConfig', ns, 'b', override('two')));
    for (const name of ['a', 'b']) await until(() => isSeen('MCPToolConfig', ns, name), WAIT_MS);
    const [a, b] = [await read('MCPToolConfig', ns, 'a'), await read('MCPToolConfig', ns, 'b')];
    expect(a?.status?.configHash).toBeDefined();
    expect(a?.status?.configHash).not.toBe(b?.status?.configHash);
    expect(running.failures).toEqual([]);
  });

  it('a name of an object of another namespace finds nothing, and nothing is read there', async () => {
    const [ns, other] = [await namespace(), await namespace()];
    await api.create(secrets, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: other, name: 'theirs' },
      data: { k: 'eA==' },
    });
    const counted = countedApi(api);
    const asked: string[] = [];
    const watched: Api = {
      ...counted.api,
      get: (type, key) => {
        asked.push(`${type.kind} ${key.namespace}/${key.name}`);
        return counted.api.get(type, key);
      },
    };
    await using running = await startControllers(watched, ns, sharedKindsPart().controllers);
    const names = [`${other}/theirs`, `../${other}/secrets/theirs`, `..%2F${other}%2Ftheirs`, `theirs?x=`, 'theirs'];
    for (const [at, name] of names.entries()) {
      const headerForward = { addHeadersFromSecret: [{ headerName: 'X-Key', valueSecretRef: { name, key: 'k' } }] };
      const caBundleRef = { configMapRef: { name } };
      const spec = { headerForward, caBundleRef, externalAuthConfigRef: { name }, groupRef: { name } };
      await api.create(typeNamed('MCPServerEntry'), own('MCPServerEntry', ns, `e${at}`, spec));
    }
    for (const at of names.keys()) {
      await until(() => isSeen('MCPServerEntry', ns, `e${at}`), WAIT_MS);
      expect(conditionsIn(await read('MCPServerEntry', ns, `e${at}`))).toMatchObject({
        CABundleRefValidated: 'False/CABundleRefNotFound',
        ExternalAuthConfigValidated: 'False/ExternalAuthConfigNotFound',
        GroupRefValidated: 'False/GroupRefNotFound',
        HeaderSecretRefsValidated: 'False/HeaderSecretNotFound',
      });
    }
    expect(asked.filter((each) => each.startsWith('Secret') || each.startsWith('ConfigMap'))).toEqual([]);
    expect(running.failures).toEqual([]);
  });

  it('text that Kubernetes or templates would expand stays as it is', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, sharedKindsPart().controllers);
    const model = '$(HF_TOKEN){{.Values.secret}}$$(X)';
    await api.create(
      typeNamed('EmbeddingServer'),
      own('EmbeddingServer', ns, 'e', { model, hfTokenSecretRef: { name: 'hf', key: 'k' } }),
    );
    const key = { namespace: ns, name: 'e' };
    await until(async () => (await api.get(statefulSets, key)) !== undefined, WAIT_MS);
    const [container] = (await api.get(statefulSets, key))?.spec.template.spec.containers ?? [];
    expect(container?.args?.[0]).toBe('--model-id=$$(HF_TOKEN){{.Values.secret}}$$$(X)');
    expect(running.failures).toEqual([]);
  });

  it('a name of 253 characters is deleted, guarded and grouped as a short one', async () => {
    const ns = await namespace();
    await using running = await startControllers(api, ns, sharedKindsPart().controllers);
    const long = 'n'.repeat(253);
    await api.create(typeNamed('MCPGroup'), own('MCPGroup', ns, long));
    await api.create(typeNamed('MCPExternalAuthConfig'), own('MCPExternalAuthConfig', ns, long));
    const spec = { groupRef: { name: long }, externalAuthConfigRef: { name: long } };
    await api.create(typeNamed('MCPServerEntry'), own('MCPServerEntry', ns, long, spec));
    await until(async () => conditionsIn(await read('MCPServerEntry', ns, long)).Valid === 'True/ConfigValid', WAIT_MS);
    await api.remove(typeNamed('MCPExternalAuthConfig'), { namespace: ns, name: long });
    await until(
      async () => conditionsIn(await read('MCPExternalAuthConfig', ns, long)).DeletionBlocked !== undefined,
      WAIT_MS,
    );
    await api.remove(typeNamed('MCPServerEntry'), { namespace: ns, name: long });
    await until(async () => (await read('MCPExternalAuthConfig', ns, long)) === undefined, WAIT_MS);
    expect(running.failures).toEqual([]);
  });

  it('1500 members with long names fit into the status of their group, and the count is true', async () => {
    const ns = await namespace();
    const counted = countedApi(api);
    const groupRef = { name: 'g' };
    const name = (at: number) => `${'m'.repeat(240)}${at}`;
    await Promise.all(
      many(10, async (lane) => {
        for (let at = lane; at < 1_500; at += 10)
          await api.create(typeNamed('MCPServer'), own('MCPServer', ns, name(at), { groupRef }));
      }),
    );
    await api.create(typeNamed('MCPGroup'), own('MCPGroup', ns, 'g'));
    await using running = await startControllers(counted.api, ns, sharedKindsPart().controllers);
    await until(async () => (await read('MCPGroup', ns, 'g'))?.status?.serverCount === 1_500, WAIT_MS);
    expect((await read('MCPGroup', ns, 'g'))?.status?.servers).toHaveLength(1_000);
    expect(running.failures).toEqual([]);
  }, 240_000);
});

interface Status {
  readonly configHash?: string;
  readonly serverCount?: number;
  readonly servers?: readonly string[];
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message: string }[];
}
