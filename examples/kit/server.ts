// What the story talks to: an issuer, a service of embeddings and an API server, on one port of this machine.
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tokenIssuer } from '@toolmgr/core/testing';

/** Starts the server; returns its origin. */
export async function startServer() {
  const keys = tokenIssuer();
  const server = createServer(async (request, response) => {
    const body = bodyFor(request, await text(request));
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body ?? {}));
  });
  const bodyFor = ({ url = '', headers }: IncomingMessage, body: string): object | undefined => {
    const origin = `http://${headers.host}`;
    switch (new URL(url, origin).pathname) {
      case '/.well-known/openid-configuration':
        return { issuer: origin, jwks_uri: `${origin}/keys`, token_endpoint: `${origin}/token` };
      case '/keys':
        return keys.jwks();
      case '/token':
        return { access_token: `for ${new URLSearchParams(body).get('scope')}`, token_type: 'Bearer', expires_in: 60 };
      case '/embed':
        return [[3, 4]];
      case '/api/v1/namespaces/default/configmaps/settings':
        return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'blue' } };
      default:
        return undefined;
    }
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      await keys[Symbol.asyncDispose]();
      server.close();
      server.closeAllConnections();
    },
  };
}

async function text(request: IncomingMessage): Promise<string> {
  return Buffer.concat(await request.toArray()).toString();
}
