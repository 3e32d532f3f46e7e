import { type KubeObject, keyOf, keyText } from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import {
  gatewaysConcernedBy,
  membersOf,
  REFERENCE_FIELDS,
  referencesIndex,
  referencesOf,
  referrersOf,
} from '../../../../hosts/operator/controllers/references.ts';
import type { Cache, Caches } from '../../../../hosts/operator/machinery/controller.ts';
import { allCrds } from '../../../support/crds.ts';

/** Below a key that is a boolean or an object, which no CRD can describe. */
const UNDESCRIBED = ['config.sessionStorage.tls.caCertSecretRef.name'];

const rows = Object.entries(REFERENCE_FIELDS).flatMap(([kind, fields]) =>
  fields.map((field) => ({ owner: kind, ...field })),
);

describe('references of objects', () => {
  it.each(rows)('$owner refers to $kind by spec.$path', ({ owner, kind, path, isOwn }) => {
    const spec = specWith(path, 'wanted');
    if (path === 'permissionProfile.name') Object.assign(spec.permissionProfile as object, { type: 'configmap' });
    const made = object(owner, 'a', spec);
    expect(referencesOf(owner, made)).toEqual([
      { kind, namespace: 'team', name: 'wanted', field: `spec.${path}`, isOwn: isOwn === true },
    ]);
    expect(referrersOf(kind, { namespace: 'team', name: 'wanted' }, cachesOf(made))).toEqual([
      { kind: owner, object: made, fields: [`spec.${path}`] },
    ]);
    expect(referrersOf(kind, { namespace: 'other', name: 'wanted' }, cachesOf(made))).toEqual([]);
  });

  it('a profile of a fixed name is no reference to a config map', () => {
    const server = object('MCPServer', 'a', { permissionProfile: { type: 'builtin', name: 'network' } });
    expect(referencesOf('MCPServer', server)).toEqual([]);
  });

  it('values of wrong types and inherited keys are no references', () => {
    for (const spec of [null, [], 'x', { groupRef: 'x' }, { groupRef: { name: 3 } }, { groupRef: { name: '' } }]) {
      expect(referencesOf('MCPServer', object('MCPServer', 'a', spec as object))).toEqual([]);
    }
    const inherited = Object.create({ groupRef: { name: 'x' } }) as object;
    expect(referencesOf('MCPServer', object('MCPServer', 'a', inherited))).toEqual([]);
  });

  it('members of a group are sorted by kind and name', () => {
    const spec = { groupRef: { name: 'g' } };
    const caches = cachesOf(
      object('MCPServerEntry', 'e', spec),
      object('MCPServer', 'z', spec),
      object('MCPServer', 'b', spec),
      object('VirtualMCPServer', 'v', spec),
      object('MCPServer', 'elsewhere', { groupRef: { name: 'h' } }),
    );
    const names = membersOf({ namespace: 'team', name: 'g' }, caches).map((each) => each.object.metadata.name);
    expect(names).toEqual(['b', 'z', 'e']);
  });
});

describe('the table of references', () => {
  const manifests = parseAllDocuments(allCrds()).map((document) => document.toJS() as Crd);
  it.each(manifests.map((crd) => [crd.spec.names.kind, crd] as const))(
    'has every field of %s that names another object',
    (kind, crd) => {
      const schema = crd.spec.versions[0]?.schema.openAPIV3Schema.properties?.spec;
      // config.authServerConfig is replaced by spec.authServerConfig
      const found = referencesIn(schema ?? {}, '').filter((path) => !path.startsWith('config.authServerConfig.'));
      const listed = (REFERENCE_FIELDS[kind] ?? [])
        .map(({ path }) => path)
        .filter((path) => /Refs?(\[\])?\.name$/.test(path) && !UNDESCRIBED.includes(path));
      expect(found.sort()).toEqual(listed.sort());
    },
  );
});

describe('gateways that an object concerns', () => {
  const objects = [
    object('VirtualMCPServer', 'v1', { groupRef: { name: 'g' }, incomingAuth: { oidcConfigRef: { name: 'oidc' } } }),
    object('VirtualMCPServer', 'v2', { groupRef: { name: 'h' }, embeddingServerRef: { name: 'emb' } }),
    object('MCPServerEntry', 'e', {
      groupRef: { name: 'g' },
      externalAuthConfigRef: { name: 'auth' },
      caBundleRef: { configMapRef: { name: 'ca' } },
    }),
    object('MCPServer', 's', { groupRef: { name: 'h' }, oidcConfigRef: { name: 'own' }, secrets: [{ name: 'token' }] }),
    object('MCPExternalAuthConfig', 'auth', { tokenExchange: { clientSecretRef: { name: 'client' } } }),
    object('MCPOIDCConfig', 'oidc', { inline: { caBundleRef: { configMapRef: { name: 'roots' } } } }),
    object('MCPOIDCConfig', 'own', { inline: { clientSecretRef: { name: 'own-client' } } }),
    object('EmbeddingServer', 'emb', { hfTokenSecretRef: { name: 'hf' } }),
  ];
  const caches = cachesOf(...objects);
  it.each([
    ['VirtualMCPServer', 'v1', ['team/v1']],
    ['MCPGroup', 'g', ['team/v1']],
    ['MCPServerEntry', 'e', ['team/v1']],
    ['MCPServer', 's', ['team/v2']],
    ['MCPExternalAuthConfig', 'auth', ['team/v1']],
    ['Secret', 'client', ['team/v1']],
    ['ConfigMap', 'ca', ['team/v1']],
    ['ConfigMap', 'roots', ['team/v1']],
    ['EmbeddingServer', 'emb', ['team/v2']],
    ['MCPOIDCConfig', 'own', []],
    ['Secret', 'own-client', []],
    ['Secret', 'token', []],
    ['Secret', 'hf', []],
    ['Secret', 'unused', []],
  ] as const)('%s %s concerns %j', (kind, name, expected) => {
    const changed = objects.find((each) => each.kind === kind && each.metadata.name === name) ?? object(kind, name, {});
    expect([...gatewaysConcernedBy(kind)(changed, caches)].map(keyText)).toEqual(expected);
  });
});

function object(kind: string, name: string, spec: object): KubeObject {
  return { apiVersion: 'toolmgr.dev/v1beta1', kind, metadata: { name, namespace: 'team' }, spec } as KubeObject;
}

/** An object with one field set; `path` as in the table. */
function specWith(path: string, value: string): Record<string, unknown> {
  const made = path
    .replaceAll('[]', '.[]')
    .split('.')
    .reduceRight<unknown>((inner, key) => (key === '[]' ? [inner] : { [key === '*' ? 'any' : key]: inner }), value);
  return made as Record<string, unknown>;
}

interface Crd {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
}

/** Paths of names below keys that end with Ref or Refs. */
function referencesIn({ properties = {}, items, additionalProperties }: Schema, at: string): string[] {
  const isRef = /Refs?(\[\])?$/.test(at);
  const below = (key: string): string => (at === '' ? key : `${at}.${key}`);
  return [
    ...(isRef && properties.name !== undefined ? [`${at}.name`] : []),
    ...Object.entries(properties).flatMap(([key, schema]) => referencesIn(schema, below(key))),
    ...(items === undefined ? [] : referencesIn(items, `${at}[]`)),
    ...(typeof additionalProperties === 'object' ? referencesIn(additionalProperties, below('*')) : []),
  ];
}

/** Caches with the index over some objects. */
function cachesOf(...objects: readonly KubeObject[]): Caches {
  return {
    of: ({ kind }) => {
      const ours = objects.filter((each) => each.kind === kind);
      const indexes = referencesIndex(kind);
      return {
        get: (key) => ours.find((each) => keyText(keyOf(each)) === keyText(key)),
        list: () => ours,
        byIndex: (index, value) => ours.filter((each) => [...(indexes[index]?.(each) ?? [])].includes(value)),
      } satisfies Cache<KubeObject> as unknown as Cache<never>;
    },
  };
}
