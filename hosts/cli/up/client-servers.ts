import { type Backend, definePlugin, type Plugin } from '@toolmgr/core';
import { z } from 'zod';
import type { ClientFile } from '../../client-files/client-file.ts';

/** Address of the plugin, name of its source and of its strategy. */
export const CLIENT_SERVERS = 'up/client-servers';

/** A plugin with the servers of a client file, which can be replaced while the gateway runs. */
export interface ClientServers {
  readonly plugin: Plugin;
  current(): Pick<ClientFile, 'backends' | 'headers'>;
  /** The strategy of a vmcp file that sends to a server what is sent here. */
  authTypeOf(backend: string): 'header_injection' | 'unauthenticated';
  replace(file: Pick<ClientFile, 'backends' | 'headers'>): void;
}

/**
 * Creates a plugin with a backend source and an authentication strategy that sends the servers' headers. Only this plugin
 * holds the header values; neither the plan nor the description of a backend has them.
 */
export function createClientServers(first: Pick<ClientFile, 'backends' | 'headers'>): ClientServers {
  let current = first;
  const pushes = new Set<(snapshot: readonly Backend[]) => void>();
  const plugin = definePlugin({
    address: CLIENT_SERVERS,
    summary: 'serves the servers of a client configuration file',
    config: z.strictObject({}),
    apply(core) {
      core.slots.backendSources.register(CLIENT_SERVERS, {
        watch: (push, signal) =>
          new Promise((resolve) => {
            pushes.add(push);
            push(current.backends);
            const end = (): void => {
              pushes.delete(push);
              resolve();
            };
            if (signal.aborted) return end();
            signal.addEventListener('abort', end, { once: true });
          }),
      });
      core.slots.authStrategies.register(CLIENT_SERVERS, {
        prepare: async () => ({
          apply(outbound) {
            Object.assign(outbound.headers, current.headers.get(outbound.backend.name));
          },
        }),
      });
    },
  });
  return {
    plugin,
    current: () => current,
    authTypeOf: (backend) => (current.headers.has(backend) ? 'header_injection' : 'unauthenticated'),
    replace(next) {
      current = next;
      for (const push of pushes) push(next.backends);
    },
  };
}
