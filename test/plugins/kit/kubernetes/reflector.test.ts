import {
  type Api,
  ApiError,
  type KubeObject,
  type ResourceType,
  reflect,
  type WatchEnd,
  type WatchEvent,
} from '@toolmgr/plugins/kit/kubernetes';
import { describe, expect, test } from 'vitest';

const maps: ResourceType = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps' };
const object = (name: string, resourceVersion: string): KubeObject => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap' },
  metadata: { namespace: 'team', name, resourceVersion },
});

/** Follows a server whose watches, one after another, are the given ones; ends with the last. */
async function follow(...watches: readonly (readonly WatchEvent<KubeObject>[] | Error)[]) {
  const stop = new AbortController();
  const begun: string[] = [];
  const seen: string[] = [];
  const restarts: WatchEnd[] = [];
  const failures: unknown[] = [];
  let lists = 0;
  const api: Pick<Api, 'list' | 'watch'> = {
    async list() {
      lists += 1;
      return { items: [], resourceVersion: `list-${lists}` };
    },
    async *watch<T extends KubeObject>(_: ResourceType<T>, { resourceVersion }: { readonly resourceVersion: string }) {
      const watch = watches[begun.length];
      begun.push(resourceVersion);
      if (watch === undefined) return stop.abort();
      if (watch instanceof Error) throw watch;
      yield* watch as readonly WatchEvent<T>[];
    },
  };
  await reflect({
    ...{ api, type: maps, signal: stop.signal, backOff: { firstMs: 1, maxMs: 2 } },
    replaced: (objects) => void seen.push(`all ${objects.length}`),
    changed: ({ metadata }, isDeleted) => void seen.push(`${isDeleted ? 'deleted' : 'changed'} ${metadata.name}`),
    restarted: (reason) => void restarts.push(reason),
    failed: (cause) => void failures.push(cause),
  });
  return { begun, seen, restarts, failures };
}

describe('following objects', () => {
  test('continues each watch from the last version, also that of a bookmark', async () => {
    const { begun, seen, restarts } = await follow(
      [{ type: 'ADDED', object: object('a', '5') }],
      [{ type: 'BOOKMARK', object: object('', '9') }],
      [{ type: 'DELETED', object: object('a', '12') }],
    );
    expect(begun).toEqual(['list-1', '5', '9', '12']);
    expect(seen).toEqual(['all 0', 'changed a', 'deleted a']);
    expect(restarts).toEqual(['ended', 'ended', 'ended']);
  });

  test('reads the list again when the history is gone (410)', async () => {
    const gone = new ApiError(410, 'Expired', 'too old resource version');
    const { begun, seen, restarts, failures } = await follow(gone, [{ type: 'ADDED', object: object('a', '5') }]);
    expect(begun).toEqual(['list-1', 'list-2', '5']);
    expect(seen).toEqual(['all 0', 'all 0', 'changed a']);
    expect(restarts).toEqual(['expired', 'ended']);
    expect(failures).toEqual([]);
  });

  test('repeats a failed watch from its version, and reads the list again after five failures', async () => {
    const away = new ApiError(0, 'Unreachable', 'no answer');
    const { begun, restarts, failures } = await follow(away, away, away, away, away, away);
    expect(begun).toEqual(['list-1', 'list-1', 'list-1', 'list-1', 'list-1', 'list-2', 'list-2']);
    expect(restarts).toEqual(Array(6).fill('failed'));
    expect(failures).toEqual(Array(6).fill(away));
  });
});
