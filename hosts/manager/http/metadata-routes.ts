import type { MetadataRoute } from '@toolmgr/plugins/incoming-auth/oidc';
import type { OpenRoutes } from './create-app.ts';

/** Serves resource metadata (RFC 9728): MCP clients read it before they have a token. */
export function metadataRoutes(routes: readonly MetadataRoute[]): OpenRoutes {
  return (app) => {
    for (const { path, read } of routes) {
      app.route({
        method: ['GET', 'OPTIONS'], // a preflight is answered before
        url: path,
        config: { open: true, checksOrigin: 'any' },
        handler: (request, reply) =>
          reply
            .header('access-control-allow-origin', '*')
            .type('application/json; charset=utf-8')
            .send(read(request.headers.host)),
      });
    }
  };
}
