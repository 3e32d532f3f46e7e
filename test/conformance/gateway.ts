import { createGateway, createLog } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { serveGateway } from '../../hosts/http/listen.ts';

/** A served gateway. */
export interface ServedGateway extends AsyncDisposable {
  readonly url: string;
}

/** Configuration of a static backend, without its name. */
export interface StaticBackend {
  readonly transport: 'streamable-http' | 'stdio';
  readonly url?: string;
  readonly command?: { readonly file: string; readonly args: readonly string[] };
  readonly era: 'auto' | 'legacy' | 'modern';
}

/**
 * Serves a gateway with one backend, assembled like `toolmgr vmcp serve`: anonymous, with aggregation by priority, so that a
 * single backend keeps its names.
 */
export async function gatewayBefore(backend: StaticBackend): Promise<ServedGateway> {
  const name = 'suite';
  const backends = [{ name, ...backend }];
  const gateway = await createGateway(
    {
      name: 'conformance',
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        { use: 'backend-sources/static', with: { backends } },
        {
          use: 'aggregation',
          with: { conflictResolution: 'priority', conflictResolutionConfig: { priorityOrder: [name] } },
        },
      ],
    },
    { catalogue, log: createLog('error', (line) => console.error(line)) },
  );
  await gateway.settled();
  const served = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
  return {
    url: `${served.url}/mcp`,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await served.close(0);
    },
  };
}
