import { isObject } from '@toolmgr/core';
import type { KubeObject } from '@toolmgr/plugins/kit/kubernetes';
import { contentHash } from '../objects/content-hash.ts';
import type { Related, SecretValue } from '../resolve/related.ts';
import { uniqueValuesOf } from '../resolve/unique-values.ts';
import { withExpectedStatus } from './expected-status.ts';

/** The objects of a file as a VirtualMCPServer sees those of its namespace. */
export interface FileObjects extends Related {
  /** References to objects that the file does not have, as `Kind name`, sorted. */
  notInFile(): readonly string[];
}

/** Options of {@link fileObjects}. */
export interface FileObjectsOptions {
  readonly namespace: string;
  /** What the file does not have does not exist. By default secrets and groups may exist elsewhere, and are taken as sound. */
  readonly isComplete?: boolean;
}

/** Looks objects up among those of a file. Objects without a status get the one that they would have. */
export function fileObjects(
  objects: readonly KubeObject[],
  { namespace, isComplete = false }: FileObjectsOptions,
): FileObjects {
  const own = objects.filter(({ metadata }) => (metadata.namespace ?? namespace) === namespace);
  const absent = new Set<string>();
  const named = (kind: string, name: string): KubeObject | undefined => {
    const found = own.find((object) => object.kind === kind && object.metadata.name === name);
    if (found === undefined) absent.add(`${kind} ${name}`);
    return found;
  };
  const members = (kind: string, group: string): readonly KubeObject[] =>
    own
      .filter((object) => object.kind === kind && groupOf(object) === group)
      .map((object) => withExpectedStatus(object, namespace));
  return {
    get<T extends KubeObject>(
      { kind, apiVersion }: { readonly kind: string; readonly apiVersion: string },
      name: string,
    ) {
      const found = named(kind, name);
      if (found !== undefined) return withExpectedStatus(found, namespace) as T;
      if (isComplete || kind !== 'MCPGroup') return undefined;
      return withExpectedStatus(
        { apiVersion, kind, metadata: { name, namespace }, spec: {} } as KubeObject,
        namespace,
      ) as T;
    },
    members: (group) =>
      ({
        servers: members('MCPServer', group),
        entries: members('MCPServerEntry', group),
        proxies: members('MCPRemoteProxy', group),
      }) as ReturnType<Related['members']>,
    sharing: (field, value) =>
      own
        .filter(({ kind }) => kind === 'VirtualMCPServer')
        .filter((server) => uniqueValuesOf(server).some(([name, its]) => name === field && its === value)),
    async configMap(name) {
      const found = named('ConfigMap', name);
      return found === undefined ? undefined : textsOf(found, 'data');
    },
    async secret(name) {
      const found = named('Secret', name);
      if (found !== undefined) return valuesOf(found);
      return isComplete ? undefined : anyValue;
    },
    notInFile: () => [...absent].sort(),
  };
}

function groupOf(object: KubeObject): unknown {
  const { spec } = object as { readonly spec?: unknown };
  const ref = isObject(spec) ? spec.groupRef : undefined;
  return isObject(ref) ? ref.name : undefined;
}

function textsOf(object: KubeObject, key: 'data' | 'stringData'): Readonly<Record<string, string>> {
  const data = (object as { readonly [key: string]: unknown } & KubeObject)[key];
  if (!isObject(data)) return {};
  return Object.fromEntries(
    Object.entries(data).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function valuesOf(object: KubeObject): Readonly<Record<string, SecretValue>> {
  const decoded = Object.entries(textsOf(object, 'data')).map(
    ([key, text]) => [key, Buffer.from(text, 'base64')] as const,
  );
  const plain = Object.entries(textsOf(object, 'stringData')).map(([key, text]) => [key, Buffer.from(text)] as const);
  return Object.fromEntries(
    [...decoded, ...plain].map(([key, value]) => [
      key,
      { hash: contentHash([object.metadata.uid, key, value.toString('base64')]), bytes: value.length },
    ]),
  );
}

const ANY_VALUE: SecretValue = { hash: '', bytes: 1024 };

/** A secret that may exist: it has every key. */
const anyValue: Readonly<Record<string, SecretValue>> = new Proxy(
  {},
  {
    get: () => ANY_VALUE,
    getOwnPropertyDescriptor: () => ({ value: ANY_VALUE, configurable: true, enumerable: true }),
  },
);
