import { createHash } from 'node:crypto';
import { type Api, type KubeObject, keyText, type ObjectKey, type ResourceType } from '@toolmgr/plugins/kit/kubernetes';
import type { Caches } from '../machinery/controller.ts';
import { type ConfigMap, configMaps, type Secret, secrets } from '../objects/built-in-kinds.ts';
import type { SecretValue } from '../resolve/related.ts';

/**
 * Contents of secrets and config maps. They are read when asked for and again when their resource version has changed; without
 * the object nothing is requested. Of secrets only hashes are kept.
 */
export interface Contents {
  /** Keys of a secret; `undefined` when there is none. @throws ApiError */
  secret(key: ObjectKey): Promise<Readonly<Record<string, SecretValue>> | undefined>;
  /**
   * Texts of a config map by key, `binaryData` excluded; `undefined` when there is none. `version`: read again when this text
   * has changed, instead of the resource version.
   * @throws ApiError
   */
  configMap(key: ObjectKey, version?: string): Promise<Readonly<Record<string, string>> | undefined>;
}

/** Bounds of what is kept, in bytes of texts and {@link KEY_BYTES} for each key. */
const MAX_SECRET_BYTES = 16 * 1024 * 1024;
const MAX_CONFIG_MAP_BYTES = 32 * 1024 * 1024;
/** A larger content is read each time: one namespace must not displace the contents of the others. */
const MAX_KEPT_BYTES = 2 * 1024 * 1024;
/** What a key costs in memory beside its text: a secret or config map may have 100,000 keys. */
const KEY_BYTES = 300;

/** `caches` follow the metadata of both types. */
export function createContents(api: Api, caches: Caches): Contents {
  const keptSecrets = createKept<Readonly<Record<string, SecretValue>>>(MAX_SECRET_BYTES, (data) =>
    Object.keys(data).reduce((sum, key) => sum + KEY_BYTES + key.length, 0),
  );
  const keptTexts = createKept<Readonly<Record<string, string>>>(MAX_CONFIG_MAP_BYTES, (data) =>
    Object.entries(data).reduce((sum, [key, text]) => sum + KEY_BYTES + key.length + text.length, 0),
  );
  const read = async <T extends KubeObject, C>(
    type: ResourceType<T>,
    key: ObjectKey,
    kept: Kept<C>,
    contentOf: (object: T) => C,
    version?: string,
  ): Promise<C | undefined> => {
    const known = caches.of(type).get(key);
    if (known === undefined) return undefined;
    const id = keyText(key);
    const found = kept.get(id, version ?? known.metadata.resourceVersion);
    if (found !== undefined) return found;
    const object = await api.get(type, key);
    if (object === undefined) return undefined;
    const content = contentOf(object);
    kept.set(id, version ?? object.metadata.resourceVersion, content);
    return content;
  };
  return {
    secret: (key) => read(secrets, key, keptSecrets, hashesOf),
    configMap: (key, version) => read(configMaps, key, keptTexts, ({ data }: ConfigMap) => data ?? {}, version),
  };
}

/** The contents that all controllers share. */
export function contentsOf({ api, caches }: { readonly api: Api; readonly caches: Caches }): Contents {
  const byApi = CONTENTS.get(caches) ?? new WeakMap<Api, Contents>();
  CONTENTS.set(caches, byApi);
  const contents = byApi.get(api) ?? createContents(api, caches);
  byApi.set(api, contents);
  return contents;
}

const CONTENTS = new WeakMap<Caches, WeakMap<Api, Contents>>();

/** What is kept of the values of a secret. */
export function hashesOf({ metadata: { uid = '' }, data = {} }: Secret): Readonly<Record<string, SecretValue>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, base64]) => {
      const value = Buffer.from(base64, 'base64');
      // the uid, because a short value could be guessed from its hash alone
      const hash = createHash('sha256').update(`${uid}\0${key}\0`).update(value).digest('hex');
      return [key, { hash, bytes: value.length }];
    }),
  );
}

interface Kept<C> {
  get(id: string, version: string | undefined): C | undefined;
  set(id: string, version: string | undefined, content: C): void;
}

/** Keeps contents by resource version, none above {@link MAX_KEPT_BYTES}; drops the oldest above `max`. */
function createKept<C>(max: number, sizeOf: (content: C) => number): Kept<C> {
  const entries = new Map<
    string,
    { readonly version: string | undefined; readonly content: C; readonly size: number }
  >();
  let total = 0;
  const drop = (id: string): void => {
    total -= entries.get(id)?.size ?? 0;
    entries.delete(id);
  };
  return {
    get(id, version) {
      const entry = entries.get(id);
      return entry?.version === version ? entry?.content : undefined;
    },
    set(id, version, content) {
      drop(id);
      const size = sizeOf(content);
      if (size > MAX_KEPT_BYTES) return;
      entries.set(id, { version, content, size });
      total += size;
      for (const oldest of entries.keys()) {
        if (total <= max || oldest === id) break;
        drop(oldest);
      }
    },
  };
}
