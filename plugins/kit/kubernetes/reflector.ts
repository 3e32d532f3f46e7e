import { backOffMs } from '@toolmgr/core';
import { type Api, ApiError, type ListOptions } from './api.ts';
import type { KubeObject, ResourceType } from './object.ts';
import { pause } from './requests.ts';

/** What to follow, and what to do with it. The callbacks must not throw. */
export interface ReflectorOptions<T extends KubeObject> {
  readonly api: Pick<Api, 'list' | 'watch'>;
  readonly type: ResourceType<T>;
  readonly scope?: Pick<ListOptions, 'namespace' | 'labelSelector' | 'fieldSelector' | 'metadataOnly' | 'slim'>;
  readonly signal: AbortSignal;
  /** All objects that exist: at the start, and again when the history of changes was lost. */
  replaced(objects: readonly T[]): void;
  /** One object changed, or `isDeleted`. */
  changed(object: T, isDeleted: boolean): void;
  /** A list or a watch failed. It is tried again. */
  failed?(cause: unknown): void;
  /** A list succeeded, or a watch said something. */
  works?(): void;
  /** A watch begins again after this end. */
  restarted?(reason: WatchEnd): void;
  readonly backOff?: Parameters<typeof backOffMs>[1];
}

/** Why a watch ended: by the server after its time, because its history is gone (410), or by a failure. */
export type WatchEnd = 'ended' | 'expired' | 'failed';

const BACK_OFF = { firstMs: 200, maxMs: 30_000 };
/** A watch that ends sooner, without an event, counts as a failure. */
const SHORT_WATCH_MS = 1_000;
/** After so many failed watches the list is read again: the server may have lost the resource version. */
const FAILURES_BEFORE_LIST = 5;

/**
 * Follows the objects of a type: a list, then a watch from its version, again and again. A lost connection, a stopped server, a
 * missing type or missing rights never end it; it resolves when the signal aborts, and it never rejects.
 */
export async function reflect<T extends KubeObject>(options: ReflectorOptions<T>): Promise<void> {
  const { api, type, scope = {}, signal, backOff = BACK_OFF } = options;
  let version: string | undefined;
  let failures = 0;
  const works = (): void => {
    failures = 0;
    options.works?.();
  };
  const watch = async (resourceVersion: string): Promise<void> => {
    const startedMs = performance.now();
    let isFirst = true;
    for await (const event of api.watch(type, { ...scope, resourceVersion, signal })) {
      if (signal.aborted) return;
      version = event.object.metadata.resourceVersion ?? version;
      if (isFirst) works();
      isFirst = false;
      if (event.type !== 'BOOKMARK') options.changed(event.object, event.type === 'DELETED');
    }
    if (isFirst && performance.now() - startedMs < SHORT_WATCH_MS) failures += 1;
    else if (isFirst) works();
    if (!signal.aborted) options.restarted?.('ended');
  };
  while (!signal.aborted) {
    try {
      if (version === undefined) {
        const { items, resourceVersion } = await api.list(type, { ...scope, signal });
        if (signal.aborted) return;
        version = resourceVersion;
        options.works?.();
        options.replaced(items);
      }
      await watch(version);
    } catch (cause) {
      if (signal.aborted) return;
      const isExpired = cause instanceof ApiError && cause.status === 410;
      failures += 1;
      if (version !== undefined) options.restarted?.(isExpired ? 'expired' : 'failed');
      if (isExpired || failures % FAILURES_BEFORE_LIST === 0) version = undefined;
      if (!isExpired) options.failed?.(cause);
    }
    if (failures > 0) await pause(backOffMs(failures, backOff), signal);
  }
}
