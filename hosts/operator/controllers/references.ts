import { isObject } from '@toolmgr/core';
import { type KubeObject, keyOf, keyText, type ObjectKey, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import { KINDS } from '../kinds/index.ts';
import { API_GROUP, typeOfKind } from '../kinds/kind.ts';
import type { Caches } from '../machinery/controller.ts';

/** A field of `spec` with the name of another object of the same namespace. */
export interface ReferenceField {
  /** Keys below `spec`; `[]` after a key means each item of a list, `*` each value of a map. */
  readonly path: string;
  /** Kind of the object that the field names. */
  readonly kind: string;
  /** Only the workload of the object itself uses it: gateways that have the object as a backend do not. */
  readonly isOwn?: true;
  /** Whether the field counts, for fields that have two meanings. */
  readonly when?: (spec: Readonly<Record<string, unknown>>) => boolean;
}

/** One reference of an object. */
export interface Reference extends ObjectKey {
  readonly kind: string;
  /** Path of the field, beginning with `spec.`. */
  readonly field: string;
  readonly isOwn: boolean;
}

/** An object that refers to another. */
export interface Referrer {
  readonly kind: string;
  readonly object: KubeObject;
  /** Fields that hold the reference. */
  readonly fields: readonly string[];
}

/** Name of the index that every informer has; its values are `Kind/namespace/name` of referenced objects. */
export const REFERENCES = 'references';

/** Kinds that join an MCPGroup by `spec.groupRef`. */
export const MEMBER_KINDS: readonly string[] = ['MCPServer', 'MCPRemoteProxy', 'MCPServerEntry'];

const GATEWAY = 'VirtualMCPServer';
const GROUP = 'MCPGroup';

const secretsAt = (at: string, paths: readonly string[]): readonly ReferenceField[] =>
  paths.map((path) => ({ path: `${at}.${path}.name`, kind: 'Secret' }));

/** Secrets of a Redis, below the key that holds its settings. */
const REDIS_SECRETS: readonly string[] = [
  'aclUserConfig.passwordSecretRef',
  'aclUserConfig.usernameSecretRef',
  'sentinelTls.caCertSecretRef',
  'tls.caCertSecretRef',
];

/** Secrets of an authorization server, below the key that holds its settings. */
const authServerSecrets = (at: string): readonly ReferenceField[] =>
  secretsAt(at, [
    'delegateClients[].clientSecretRef',
    'hmacSecretRefs[]',
    'signingKeySecretRefs[]',
    'storage.encryptionKeySecretRefs[]',
    ...REDIS_SECRETS.map((path) => `storage.redis.${path}`),
    'upstreamProviders[].oauth2Config.clientSecretRef',
    'upstreamProviders[].oauth2Config.dcrConfig.initialAccessTokenRef',
    'upstreamProviders[].oidcConfig.clientSecretRef',
  ]);

/** References that only the proxy of a member uses, not the gateways of its group. */
const PROXY_REFERENCES: readonly ReferenceField[] = [
  { path: 'authServerRef.name', kind: 'MCPExternalAuthConfig', isOwn: true },
  { path: 'authzConfig.configMap.name', kind: 'ConfigMap', isOwn: true },
  { path: 'authzConfigRef.name', kind: 'MCPAuthzConfig', isOwn: true },
  { path: 'oidcConfigRef.name', kind: 'MCPOIDCConfig', isOwn: true },
  { path: 'sessionStorage.passwordRef.name', kind: 'Secret', isOwn: true },
  { path: 'telemetryConfigRef.name', kind: 'MCPTelemetryConfig', isOwn: true },
  { path: 'toolConfigRef.name', kind: 'MCPToolConfig', isOwn: true },
];

/** Which field of which kind refers to which kind. */
export const REFERENCE_FIELDS: Readonly<Record<string, readonly ReferenceField[]>> = {
  VirtualMCPServer: [
    { path: 'groupRef.name', kind: GROUP },
    { path: 'config.groupRef', kind: GROUP },
    { path: 'config.aggregation.tools[].toolConfigRef.name', kind: 'MCPToolConfig' },
    ...secretsAt('config.audit', ['chain.signingKeyRef', 'otlp.tokenRef', 'webhook.hmacSecretRef', 'webhook.tokenRef']),
    ...secretsAt('config.sessionStorage', REDIS_SECRETS),
    { path: 'config.compositeToolRefs[].name', kind: 'VirtualMCPCompositeToolDefinition' },
    { path: 'embeddingServerRef.name', kind: 'EmbeddingServer' },
    { path: 'incomingAuth.authzConfig.configMap.name', kind: 'ConfigMap' },
    { path: 'incomingAuth.authzConfigRef.name', kind: 'MCPAuthzConfig' },
    { path: 'incomingAuth.oidcConfigRef.name', kind: 'MCPOIDCConfig' },
    { path: 'outgoingAuth.backends.*.externalAuthConfigRef.name', kind: 'MCPExternalAuthConfig' },
    { path: 'outgoingAuth.default.externalAuthConfigRef.name', kind: 'MCPExternalAuthConfig' },
    { path: 'sessionStorage.passwordRef.name', kind: 'Secret' },
    { path: 'telemetryConfigRef.name', kind: 'MCPTelemetryConfig' },
    ...authServerSecrets('authServerConfig'),
  ],
  MCPServer: [
    { path: 'groupRef.name', kind: GROUP },
    { path: 'externalAuthConfigRef.name', kind: 'MCPExternalAuthConfig' },
    ...PROXY_REFERENCES,
    {
      path: 'permissionProfile.name',
      kind: 'ConfigMap',
      isOwn: true,
      when: ({ permissionProfile }) => isObject(permissionProfile) && permissionProfile.type === 'configmap',
    },
    { path: 'secrets[].name', kind: 'Secret', isOwn: true },
  ],
  MCPRemoteProxy: [
    { path: 'groupRef.name', kind: GROUP },
    { path: 'externalAuthConfigRef.name', kind: 'MCPExternalAuthConfig' },
    ...PROXY_REFERENCES,
    { path: 'caBundleRef.configMapRef.name', kind: 'ConfigMap', isOwn: true },
    { path: 'headerForward.addHeadersFromSecret[].valueSecretRef.name', kind: 'Secret', isOwn: true },
  ],
  MCPServerEntry: [
    { path: 'groupRef.name', kind: GROUP },
    { path: 'externalAuthConfigRef.name', kind: 'MCPExternalAuthConfig' },
    { path: 'caBundleRef.configMapRef.name', kind: 'ConfigMap' },
    { path: 'headerForward.addHeadersFromSecret[].valueSecretRef.name', kind: 'Secret' },
  ],
  MCPGroup: [],
  MCPOIDCConfig: [
    { path: 'inline.caBundleRef.configMapRef.name', kind: 'ConfigMap' },
    { path: 'inline.clientSecretRef.name', kind: 'Secret' },
  ],
  MCPAuthzConfig: [],
  MCPExternalAuthConfig: [
    { path: 'bearerToken.tokenSecretRef.name', kind: 'Secret' },
    { path: 'headerInjection.valueSecretRef.name', kind: 'Secret' },
    { path: 'obo.clientSecretRef.name', kind: 'Secret' },
    { path: 'tokenExchange.clientSecretRef.name', kind: 'Secret' },
    { path: 'xaa.idpClientSecretRef.name', kind: 'Secret' },
    { path: 'xaa.targetClientSecretRef.name', kind: 'Secret' },
    ...authServerSecrets('embeddedAuthServer'),
  ],
  MCPTelemetryConfig: [
    { path: 'openTelemetry.caBundleRef.configMapRef.name', kind: 'ConfigMap' },
    { path: 'openTelemetry.sensitiveHeaders[].secretKeyRef.name', kind: 'Secret' },
  ],
  MCPToolConfig: [],
  VirtualMCPCompositeToolDefinition: [],
  EmbeddingServer: [{ path: 'hfTokenSecretRef.name', kind: 'Secret', isOwn: true }],
};

/** Value of the index `references` for an object. */
export function referenceKey(kind: string, key: ObjectKey): string {
  return `${kind}/${keyText(key)}`;
}

/** Every reference of an object of a kind, in the order of the table. */
export function referencesOf(kind: string, object: KubeObject): readonly Reference[] {
  const { namespace } = keyOf(object);
  const { spec } = object as KubeObject & { spec?: unknown };
  if (!isObject(spec)) return [];
  return (FIELDS.get(kind) ?? []).flatMap(({ path, keys, kind: referred, isOwn = false, when }) =>
    when === undefined || when(spec)
      ? namesAt(spec, keys).map((name) => ({ kind: referred, namespace, name, field: `spec.${path}`, isOwn }))
      : [],
  );
}

/** The index `references` of the informer of a kind. */
export function referencesIndex(kind: string): Readonly<Record<string, (object: KubeObject) => Iterable<string>>> {
  return {
    [REFERENCES]: (object) => new Set(referencesOf(kind, object).map((each) => referenceKey(each.kind, each))),
  };
}

/** Every object that refers to an object, sorted by kind and name. */
export function referrersOf(kind: string, key: ObjectKey, caches: Caches): readonly Referrer[] {
  const value = referenceKey(kind, key);
  return (REFERRING_KINDS.get(kind) ?? []).flatMap((referring) =>
    caches
      .of(typeNamed(referring))
      .byIndex(REFERENCES, value)
      .map((object) => ({ kind: referring, object, fields: fieldsTo(kind, key, referring, object) }))
      .sort((a, b) => (a.object.metadata.name < b.object.metadata.name ? -1 : 1)),
  );
}

/** Keys of the objects of one kind that refer to an object of another. For `Watched.keysOf`. */
export function referrersOfKind(
  referring: string,
  kind: string,
): (object: KubeObject, caches: Caches) => Iterable<ObjectKey> {
  const type = typeNamed(referring);
  return (object, caches) =>
    caches
      .of(type)
      .byIndex(REFERENCES, referenceKey(kind, keyOf(object)))
      .map(keyOf);
}

/** The members of a group, sorted by kind and name. */
export function membersOf(group: ObjectKey, caches: Caches): readonly Referrer[] {
  return referrersOf(GROUP, group, caches).filter(({ kind }) => MEMBER_KINDS.includes(kind));
}

/**
 * The VirtualMCPServers that an object of a kind concerns: those that name it, those whose group has it as a member, and those
 * that use it through a configuration or a member. For `Watched.keysOf`.
 */
export function gatewaysConcernedBy(kind: string): (object: KubeObject, caches: Caches) => Iterable<ObjectKey> {
  return (object, caches) => {
    const found = new Map<string, ObjectKey>();
    collectGateways(kind, object, caches, found);
    return found.values();
  };
}

/** Where the API serves a kind of the API group. @throws Error for another kind */
export function typeNamed(kind: string): ResourceType {
  const type = TYPES.get(kind);
  if (type === undefined) throw new Error(`${kind} is no kind of ${API_GROUP}`);
  return type;
}

const TYPES = new Map(KINDS.map((definition) => [definition.kind, typeOfKind(definition)]));

/** The table with paths as keys. */
const FIELDS = new Map(
  Object.entries(REFERENCE_FIELDS).map(([kind, fields]) => [
    kind,
    fields.map((field) => ({ ...field, keys: field.path.replaceAll('[]', '.[]').split('.') })),
  ]),
);

/** Kinds with a field for a kind. */
const REFERRING_KINDS: ReadonlyMap<string, readonly string[]> = new Map(
  [...new Set(Object.values(REFERENCE_FIELDS).flatMap((fields) => fields.map(({ kind }) => kind)))].map((kind) => [
    kind,
    Object.keys(REFERENCE_FIELDS).filter((each) => REFERENCE_FIELDS[each]?.some((field) => field.kind === kind)),
  ]),
);

function fieldsTo(kind: string, { namespace, name }: ObjectKey, referring: string, object: KubeObject): string[] {
  const found = referencesOf(referring, object).filter(
    (each) => each.kind === kind && each.namespace === namespace && each.name === name,
  );
  return [...new Set(found.map(({ field }) => field))];
}

/** Kinds refer to each other without a circle: files to configurations, configurations to members, members to groups. */
function collectGateways(kind: string, object: KubeObject, caches: Caches, found: Map<string, ObjectKey>): void {
  const key = keyOf(object);
  if (kind === GATEWAY) return void found.set(keyText(key), key);
  if (MEMBER_KINDS.includes(kind)) {
    for (const group of referencesOf(kind, object).filter((each) => each.kind === GROUP)) {
      for (const gateway of caches.of(typeNamed(GATEWAY)).byIndex(REFERENCES, referenceKey(GROUP, group))) {
        found.set(keyText(keyOf(gateway)), keyOf(gateway));
      }
    }
    return;
  }
  const value = referenceKey(kind, key);
  for (const referring of REFERRING_KINDS.get(kind) ?? []) {
    if (kind === GROUP && referring !== GATEWAY) continue;
    for (const referrer of caches.of(typeNamed(referring)).byIndex(REFERENCES, value)) {
      const isOwn = referencesOf(referring, referrer).every(
        (each) => each.isOwn || each.kind !== kind || each.name !== key.name,
      );
      if (!isOwn) collectGateways(referring, referrer, caches, found);
    }
  }
}

function namesAt(value: unknown, [key, ...rest]: readonly string[]): readonly string[] {
  if (key === undefined) return typeof value === 'string' && value !== '' ? [value] : [];
  if (key === '[]') return Array.isArray(value) ? value.flatMap((each) => namesAt(each, rest)) : [];
  if (!isObject(value)) return [];
  if (key === '*') return Object.values(value).flatMap((each) => namesAt(each, rest));
  return Object.hasOwn(value, key) ? namesAt(value[key], rest) : [];
}
