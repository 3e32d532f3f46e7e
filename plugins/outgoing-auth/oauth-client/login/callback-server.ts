import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

// `import` reads every export of the module, and one of them loads Node's own undici: 60 ms and 14 MB
const { createServer } = process.getBuiltinModule('node:http');

/** One authorization response, and how its page is answered. */
export interface Callback {
  readonly parameters: URLSearchParams;
  /** Answers the browser. */
  answer(outcome: 'done' | 'failed'): void;
}

/** Receives the authorization response on this machine. */
export interface CallbackServer extends AsyncDisposable {
  readonly port: number;
  readonly redirectUri: string;
  /**
   * The response with this state; responses with another one are answered with an error page and ignored.
   * @throws the signal's reason
   */
  next(state: string, signal: AbortSignal): Promise<Callback>;
}

/**
 * Listens on the loopback addresses, IPv4 and, where there is one, IPv6, because browsers resolve `localhost` to either.
 * `undefined` when the port is taken. `port` 0: any free one.
 */
export async function openCallbackServer(port: number): Promise<CallbackServer | undefined> {
  let waiting: { readonly state: string; take(callback: Callback): void } | undefined;
  let open: number | undefined;
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = URL.parse(request.url ?? '', 'http://localhost');
    if (!isLocalHost(request.headers.host, open)) return page(response, 403, NOT_HERE);
    if (url?.pathname !== PATH) return page(response, 404, NOT_HERE);
    if (request.method !== 'GET') return page(response, 405, NOT_HERE);
    const [state, ...others] = url.searchParams.getAll('state');
    const taken = waiting;
    if (taken === undefined || state !== taken.state || others.length > 0) return page(response, 400, NOT_THIS_LOGIN);
    waiting = undefined; // a state is valid once
    taken.take({
      parameters: url.searchParams,
      answer: (outcome) => page(response, outcome === 'done' ? 200 : 400, outcome === 'done' ? DONE : FAILED),
    });
  };
  const listening = await listenOnLoopback(port, onRequest);
  if (listening === undefined) return undefined;
  open = listening.port;
  return {
    port: listening.port,
    redirectUri: `http://localhost:${listening.port}${PATH}`,
    next: (state, signal) =>
      new Promise((resolve, reject) => {
        const onAbort = (): void => {
          waiting = undefined;
          reject(signal.reason);
        };
        if (signal.aborted) return onAbort();
        signal.addEventListener('abort', onAbort, { once: true });
        waiting = {
          state,
          take(callback) {
            signal.removeEventListener('abort', onAbort);
            resolve(callback);
          },
        };
      }),
    async [Symbol.asyncDispose]() {
      await Promise.all(listening.servers.map(close));
    },
  };
}

const PATH = '/callback';

async function listenOnLoopback(
  port: number,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly servers: readonly Server[]; readonly port: number } | undefined> {
  const four = await listen('127.0.0.1', port, onRequest);
  if (four === 'taken') return undefined;
  if (four === 'absent') throw new Error('this machine has no address 127.0.0.1');
  const opened = (four.address() as AddressInfo).port;
  const six = await listen('::1', opened, onRequest);
  if (six === 'absent') return { servers: [four], port: opened };
  if (six !== 'taken') return { servers: [four, six], port: opened };
  await close(four);
  return undefined;
}

function listen(
  host: string,
  port: number,
  onRequest: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Server | 'taken' | 'absent'> {
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_MS }, onRequest);
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EADDRINUSE' || cause.code === 'EACCES') return resolve('taken');
      if (cause.code === 'EADDRNOTAVAIL' || cause.code === 'EAFNOSUPPORT') return resolve('absent');
      reject(cause);
    });
    server.listen(port, host, () => resolve(server));
  });
}

const MAX_HEADER_BYTES = 16 * 1024;
const REQUEST_MS = 10_000;

/** Lets the last page arrive, then closes all connections. */
async function close(server: Server): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), CLOSE_MS);
  await closed;
  clearTimeout(late);
}

const CLOSE_MS = 500;

/** Web pages of other sites reach this server under other names (DNS rebinding). */
function isLocalHost(host: string | undefined, port: number | undefined): boolean {
  return host === `localhost:${port}` || host === `127.0.0.1:${port}` || host === `[::1]:${port}`;
}

const DONE = 'You are logged in. You can close this page.';
const FAILED = 'The login failed. The terminal shows why.';
const NOT_THIS_LOGIN = 'This is not the answer to the login that waits here.';
const NOT_HERE = 'There is nothing here.';

/** A plain page. It repeats nothing of the request. */
function page(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  });
  response.end(`<!doctype html><html lang="en"><title>toolmgr</title><p>${sentence}</p></html>\n`);
}
