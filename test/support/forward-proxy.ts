import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { onTestFinished } from 'vitest';

/** A forward proxy on loopback and a record of its requests. */
export interface ForwardProxy {
  readonly port: number;
  /** `CONNECT far.test:443` or `POST http://far.test/mcp`, in order. */
  readonly asked: string[];
  /** Headers for the proxy. */
  readonly heads: IncomingHttpHeaders[];
}

/**
 * Starts a proxy. It connects every host name to this machine, so that a test sees which requests use the proxy.
 * `credentials`: `user:password`; without it the proxy answers 407.
 */
export async function forwardProxy(credentials?: string): Promise<ForwardProxy> {
  const asked: string[] = [];
  const heads: IncomingHttpHeaders[] = [];
  const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`;
  const isRefused = (headers: IncomingHttpHeaders): boolean => {
    heads.push(headers);
    return wanted !== undefined && headers['proxy-authorization'] !== wanted;
  };
  const server = createServer((from, to) => {
    asked.push(`${from.method} ${from.url}`);
    if (isRefused(from.headers)) return to.writeHead(407).end();
    const url = new URL(from.url ?? '');
    const { 'proxy-authorization': _, ...headers } = from.headers;
    const { method } = from;
    const onward = request({ host: '127.0.0.1', port: url.port, path: url.pathname + url.search, method, headers });
    onward.on('response', (answer) => {
      to.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(to);
    });
    onward.on('error', () => to.writeHead(502).end());
    from.pipe(onward);
  });
  server.on('connect', ({ url = '', headers }, client, head) => {
    asked.push(`CONNECT ${url}`);
    if (isRefused(headers)) return client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const far = connect(Number(url.split(':').at(-1)), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      far.write(head);
      far.pipe(client);
      client.pipe(far);
    });
    far.on('error', () => client.end('HTTP/1.1 502 Bad Gateway\r\n\r\n'));
    client.on('error', () => far.destroy());
    client.on('close', () => far.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, asked, heads };
}
