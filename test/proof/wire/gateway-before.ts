import { createGateway, createLog, type Gateway } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { serveGateway } from '../../../hosts/http/listen.ts';
import type { Program } from './wire-peer.ts';

/** A backend: a program over stdio, or a URL. */
export type FarServer = Program | { readonly url: string };

/** A gateway behind its listener. */
export interface GatewayBefore extends AsyncDisposable {
  readonly url: string;
  readonly gateway: Gateway;
}

/** Serves backends anonymously by priority, so that a single backend keeps all its names. */
export async function gatewayBefore(
  servers: Readonly<Record<string, FarServer>>,
  era: 'auto' | 'legacy' | 'modern' = 'auto',
): Promise<GatewayBefore> {
  const backends = Object.entries(servers).map(([name, server]) =>
    'url' in server
      ? { name, era, transport: 'streamable-http', url: server.url }
      : { name, era, transport: 'stdio', command: { ...server } },
  );
  const gateway = await createGateway(
    {
      name: 'proof',
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        { use: 'backend-sources/static', with: { backends } },
        {
          use: 'aggregation',
          with: { conflictResolution: 'priority', conflictResolutionConfig: { priorityOrder: Object.keys(servers) } },
        },
      ],
      limits: { discoveryMs: 30_000, helloMs: 20_000 }, // programs start slowly when all tests run at once
    },
    { catalogue, log: createLog('error', (line) => console.error(line)) },
  );
  await gateway.settled();
  const listener = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
  return {
    url: `${listener.url}/mcp`,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await listener.close(0);
    },
  };
}
