import { explainCause, type Log } from '@toolmgr/core';
import { type Api, type KubeObject, type ObjectKey, type ResourceType, reflect } from '@toolmgr/plugins/kit/kubernetes';

/** A config map as the API returns it. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

const CONFIG_MAPS: ResourceType<ConfigMap> = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };

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
  const { namespace, name: configMap } = key;
  let isAway = false;
  await reflect({
    api,
    type: CONFIG_MAPS,
    // a Role with `resourceNames` allows lists and watches of this name only
    scope: { namespace, fieldSelector: `metadata.name=${configMap}` },
    signal,
    replaced: ([object]) => seen(object),
    changed: (object, isDeleted) => seen(isDeleted ? undefined : object),
    failed(cause) {
      const fields = { configMap, cause: explainCause(cause) };
      if (!isAway) log.warn('the config map cannot be followed; the last backends are kept', fields);
      isAway = true;
    },
    works() {
      if (isAway) log.info('the config map is followed again', { configMap });
      isAway = false;
    },
  });
}
