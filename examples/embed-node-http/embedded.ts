// The plugin of the embed examples: what a gateway needs at least. One stdio server, callers without an identity.
// region: plugin
import { fileURLToPath } from 'node:url';
import { type Backend, definePlugin, untilAborted } from '@toolmgr/core';
import { z } from 'zod';

const memory: Backend = {
  name: 'memory',
  transport: 'stdio',
  command: {
    file: process.execPath,
    args: [fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js'))],
  },
};

/** The minimum: authentication of callers, authentication to backends, and the list of backends. */
export const embedded = definePlugin({
  address: 'embed/own',
  config: z.strictObject({}),
  apply({ hooks, slots }) {
    hooks.authenticate.tap('embed/own', () => ({ issuer: '', subject: 'me', key: '\0me', claims: {} }));
    slots.authStrategies.register('unauthenticated', { prepare: async () => ({ apply: () => {} }) });
    slots.backendSources.register('embed/own', {
      async watch(push, signal) {
        push([memory]);
        await untilAborted(signal);
      },
    });
  },
});
// endregion
