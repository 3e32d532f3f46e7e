import { setTimeout as delay } from 'node:timers/promises';
import { type BackOff, backOffMs, explainCause, type Log } from '@toolmgr/core';
import { type Api, ApiError } from '../../shared/kubernetes/api.ts';
import type { KubeObject, ObjectKey, ResourceType } from '../../shared/kubernetes/object.ts';

/** A config map as the API returns it. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** The type of config maps. */
export const CONFIG_MAPS: ResourceType<ConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };

/** What {@link followConfigMap} needs. */
export interface FollowOptions {
  readonly api: Pick<Api, 'list' | 'watch'>;
  readonly key: ObjectKey;
  /** Called with the object and after each change; `undefined` while there is none. */
  seen(object: ConfigMap | undefined): void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Follows one config map until `signal` aborts. While the API is away it tries again with back-off. */
export async function followConfigMap({ api, key, seen, log, signal }: FollowOptions): Promise<void> {
  const { namespace, name } = key;
  // a Role with `resourceNames` allows lists and watches of this name only
  const only = { namespace, fieldSelector: `metadata.name=${name}`, signal };
  for (let failures = 0; !signal.aborted; ) {
    try {
      const { items, resourceVersion } = await api.list(CONFIG_MAPS, only);
      if (failures > 0) log.info('the Kubernetes API answers again', { configMap: name });
      failures = 0;
      seen(items[0]);
      await watchFrom(resourceVersion);
    } catch (cause) {
      if (signal.aborted) return;
      const isExpired = cause instanceof ApiError && cause.status === 410;
      failures = isExpired ? 0 : failures + 1;
      const waitMs = isExpired ? RETRY.firstMs : backOffMs(failures, RETRY);
      if (failures === 1) {
        log.warn('the config map cannot be followed; the last backends are kept', {
          configMap: name,
          cause: explainCause(cause),
        });
      }
      await delay(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Watches again where the last watch ended. @throws ApiError */
  async function watchFrom(first: string): Promise<void> {
    let resourceVersion = first;
    while (!signal.aborted) {
      for await (const { type, object } of api.watch(CONFIG_MAPS, { ...only, resourceVersion, signal })) {
        resourceVersion = object.metadata.resourceVersion ?? resourceVersion;
        if (type !== 'BOOKMARK') seen(type === 'DELETED' ? undefined : object);
      }
      await delay(RETRY.firstMs, undefined, { signal, ref: false });
    }
  }
}

const RETRY: BackOff = { firstMs: 500, maxMs: 30_000 };
