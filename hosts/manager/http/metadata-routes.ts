import type { MetadataRoute } from '@toolmgr/plugins/incoming-auth/oidc';
import type { OpenRoutes } from './create-app.ts';
import { sendJson } from './json-reply.ts';

/** Serves resource metadata (RFC 9728): MCP clients read it before they have a token. */
export function metadataRoutes(routes: readonly MetadataRoute[]): OpenRoutes {
  return (app) => {
    for (const { path, read } of routes) {
      app.route({
        method: ['GET', 'OPTIONS'], // a preflight is answered before
        url: path,
        config: { open: true, checksOrigin: 'any' },
        handler: (request, reply) =>
          sendJson(reply.header('access-control-allow-origin', '*'), read(request.headers.host)),
      });
    }
  };
}
