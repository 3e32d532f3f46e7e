import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A web server on a free loopback port; the test gives its answers. */
export interface LoopbackServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** `METHOD path` of every request so far. */
  readonly seen: string[];
}

/** Starts a server, with TLS if there is a certificate. Disposing closes open connections. */
export async function loopbackServer(
  answer: RequestListener,
  tls?: { readonly cert: string; readonly key: string },
): Promise<LoopbackServer> {
  const seen: string[] = [];
  const listener: RequestListener = (request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    port,
    seen,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
