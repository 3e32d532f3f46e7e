import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Answer of a page. */
export interface Page {
  readonly status: number;
  readonly text: string;
  readonly contentType?: string;
}

/** Pages by path. */
export type Pages = Readonly<Record<string, () => Page | Promise<Page>>>;

/** Where pages are served. */
export interface ListenAddress {
  /** `undefined`: all addresses. */
  readonly host: string | undefined;
  readonly port: number;
}

const REQUEST_MS = 10_000;
const MAX_CONNECTIONS = 64;

/** Reads `:8080`, `127.0.0.1:8080` or `[::1]:8080`; `0` means none. `undefined` for another text. */
export function addressFrom(text: string): ListenAddress | 'none' | undefined {
  if (text === '0') return 'none';
  const [, host, port] = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]*):([0-9]{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535) return undefined;
  return { host: host === '' ? undefined : host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Serves GET requests of the pages. @throws Error when the address is in use */
export async function servePages(
  { host, port }: ListenAddress,
  pages: Pages,
): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const answer = await answerOf(isRead ? page : undefined);
    response.writeHead(answer.status, { 'content-type': answer.contentType ?? 'text/plain; charset=utf-8' });
    response.end(request.method === 'HEAD' ? undefined : answer.text);
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answerOf(page: Pages[string] | undefined): Promise<Page> {
  if (page === undefined) return { status: 404, text: 'not found\n' };
  try {
    return await page();
  } catch {
    return { status: 500, text: 'the page failed\n' };
  }
}

function listen(server: Server, host: string | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, resolve);
  });
}
