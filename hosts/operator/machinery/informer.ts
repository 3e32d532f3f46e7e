import {
  type Api,
  type KubeObject,
  keyOf,
  keyText,
  type ObjectKey,
  type ObjectMeta,
  reflect,
  type WatchEnd,
} from '@toolmgr/plugins/kit/kubernetes';
import type { Cache, InformerSpec } from './controller.ts';

/** Follows the objects of one type and keeps them. */
export interface Informer<T extends KubeObject = KubeObject> {
  readonly spec: InformerSpec<T>;
  readonly cache: Cache<T>;
  readonly isSynced: boolean;
  /** Why the objects cannot be read at the moment. */
  readonly failure: unknown;
  /** Resolves at the end of `signal`. Once. */
  run(signal: AbortSignal): Promise<void>;
}

export interface InformerOptions<T extends KubeObject> {
  readonly api: Api;
  readonly spec: InformerSpec<T>;
  /** Empty means all. One watch each. */
  readonly namespaces: readonly string[];
  /** The old and the new state of one object; one of them is absent when it comes or goes. Must not throw. */
  changed(before: T | undefined, now: T | undefined): void;
  synced(): void;
  restarted?(reason: WatchEnd): void;
  failed?(cause: unknown): void;
  works?(): void;
  /** An index function threw: the object has no value in this index. */
  indexFailed?(index: string, object: T, cause: unknown): void;
}

/** Creates an informer. Objects are stored without `managedFields` and the annotation of `kubectl apply`. */
export function createInformer<T extends KubeObject>(options: InformerOptions<T>): Informer<T> {
  const { api, spec } = options;
  const store = createStore(spec, (index, object, cause) => options.indexFailed?.(index, object, cause));
  const scopes = spec.type.isClusterScoped || options.namespaces.length === 0 ? [undefined] : options.namespaces;
  const waiting = new Set(scopes);
  const failures = new Map<string | undefined, unknown>();
  const put = (object: T): void => options.changed(store.put(object), object);
  const drop = (key: ObjectKey): void => {
    const before = store.drop(key);
    if (before !== undefined) options.changed(before, undefined);
  };
  const follow = (namespace: string | undefined, signal: AbortSignal): Promise<void> =>
    reflect<T>({
      api,
      type: spec.type,
      scope: {
        slim: (object) => stripped(object as T, spec),
        ...(namespace === undefined ? {} : { namespace }),
        ...(spec.labelSelector === undefined ? {} : { labelSelector: spec.labelSelector }),
        ...(spec.metadataOnly === undefined ? {} : { metadataOnly: spec.metadataOnly }),
      },
      signal,
      replaced(objects) {
        const kept = new Set<string>();
        for (const object of objects) {
          const key = keyOf(object);
          kept.add(keyText(key));
          const known = store.get(key);
          if (known?.metadata.resourceVersion !== object.metadata.resourceVersion) put(object);
        }
        for (const object of store.list(namespace)) {
          const key = keyOf(object);
          if (!kept.has(keyText(key))) drop(key);
        }
        if (waiting.delete(namespace) && waiting.size === 0) options.synced();
      },
      changed(object, isDeleted) {
        if (isDeleted) drop(keyOf(object));
        else put(object);
      },
      failed(cause) {
        failures.set(namespace, cause);
        options.failed?.(cause);
      },
      works() {
        if (failures.delete(namespace)) options.works?.();
      },
      ...(options.restarted === undefined ? {} : { restarted: options.restarted }),
    });
  return {
    spec,
    cache: store,
    get isSynced() {
      return waiting.size === 0;
    },
    get failure() {
      return failures.values().next().value;
    },
    async run(signal) {
      await Promise.all(scopes.map((namespace) => follow(namespace, signal)));
    },
  };
}

interface Store<T extends KubeObject> extends Cache<T> {
  /** Returns the state before. */
  put(object: T): T | undefined;
  drop(key: ObjectKey): T | undefined;
}

function createStore<T extends KubeObject>(
  spec: InformerSpec<T>,
  indexFailed: (index: string, object: T, cause: unknown) => void,
): Store<T> {
  const objects = new Map<string, T>();
  const names = Object.keys(spec.indexes ?? {});
  /** Index, value, key. */
  const indexes = new Map(names.map((name) => [name, new Map<string, Map<string, T>>()]));
  const valuesOf = (name: string, object: T): readonly string[] => {
    try {
      return [...(spec.indexes?.[name]?.(object) ?? [])];
    } catch (cause) {
      indexFailed(name, object, cause);
      return [];
    }
  };
  const unindex = (key: string, object: T): void => {
    for (const [name, index] of indexes) {
      for (const value of valuesOf(name, object)) {
        const entries = index.get(value);
        entries?.delete(key);
        if (entries?.size === 0) index.delete(value);
      }
    }
  };
  return {
    get: (key) => objects.get(keyText(key)),
    list(namespace) {
      const all = [...objects.values()];
      return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
    },
    byIndex(name, value) {
      const index = indexes.get(name);
      if (index === undefined) throw new Error(`the informer of ${spec.type.kind} has no index '${name}'`);
      return [...(index.get(value)?.values() ?? [])];
    },
    put(object) {
      const key = keyText(keyOf(object));
      const before = objects.get(key);
      if (before !== undefined) unindex(key, before);
      objects.set(key, object);
      for (const [name, index] of indexes) {
        for (const value of valuesOf(name, object)) {
          const entries = index.get(value) ?? new Map<string, T>();
          entries.set(key, object);
          index.set(value, entries);
        }
      }
      return before;
    },
    drop(of) {
      const key = keyText(of);
      const before = objects.get(key);
      if (before === undefined) return undefined;
      unindex(key, before);
      objects.delete(key);
      return before;
    },
  };
}

/** `kubectl apply` keeps a copy of the whole object in it. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

function stripped<T extends KubeObject>(object: T, { strip }: InformerSpec<T>): T {
  const { managedFields: _, ...metadata } = object.metadata as ObjectMeta & { managedFields?: unknown };
  const { [LAST_APPLIED]: copy, ...annotations } = metadata.annotations ?? {};
  const slim = { ...object, metadata: copy === undefined ? metadata : { ...metadata, annotations } };
  return strip === undefined ? slim : strip(slim);
}
