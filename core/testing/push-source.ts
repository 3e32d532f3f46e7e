import { z } from 'zod';
import type { Backend } from '../contract/backend.ts';
import { definePlugin, type Plugin } from '../extension/plugin.ts';
import { untilAborted } from '../timing/until-aborted.ts';

/** A backend source that a test feeds. */
export interface PushSource {
  readonly plugin: Plugin;
  /** Replaces the backends, also before the gateway watches. */
  push(backends: readonly Backend[]): void;
}

/** Makes the source; a gateway gets `first` when it starts. */
export function pushSource(first: readonly Backend[]): PushSource {
  let current = first;
  let pushed: ((snapshot: readonly Backend[]) => void) | undefined;
  const plugin: Plugin = definePlugin({
    address: ADDRESS,
    config: z.strictObject({}),
    apply(core) {
      core.slots.backendSources.register(ADDRESS, {
        watch(push, signal) {
          pushed = push;
          push(current);
          return untilAborted(signal);
        },
      });
    },
  });
  return {
    plugin,
    push(next) {
      current = next;
      pushed?.(next);
    },
  };
}

const ADDRESS = 'testing/backends';
