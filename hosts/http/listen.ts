import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type AddressInfo, createServer as createPlainServer, type Server as PlainServer } from 'node:net';
import { DEFAULT_LIMITS, type Gateway, GatewayFault, networkOf, type Plan, Shares } from '@toolmgr/core';
import { answerHostRoutes, type HostRoute } from './mount.ts';

// `import` reads every export of the module, and one of them loads Node's own undici: 60 ms and 14 MB.
const { createServer } = process.getBuiltinModule('node:http');

/** Where and how a gateway is served. */
export interface ListenOptions {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Routes of the host beside those of the gateway. */
  readonly routes?: readonly HostRoute[];
  /** Names that the `Host` header may have on host routes; any when absent. */
  readonly allowedHosts?: readonly string[];
  /** Limits that apply before the caller is known; the defaults of the plan when absent. */
  readonly limits?: Partial<ListenerLimits>;
  /** How error messages name the settings of the address. Default: the flags `--host` and `--port`. */
  readonly settings?: AddressSettings;
  /** Closes the listener when aborted. */
  readonly signal?: AbortSignal;
}

/** Names of the settings, e.g. `--port`. */
export interface AddressSettings {
  readonly host: string;
  readonly port: string;
}

/** The limits of a plan that its listener applies. */
export type ListenerLimits = Pick<
  Plan['limits'],
  'headerBytes' | 'headerTimeoutMs' | 'connections' | 'connectionsPerAddress'
>;

/** A served gateway. */
export interface Served extends AsyncDisposable {
  /** Origin of the endpoint, e.g. `http://127.0.0.1:4483`. */
  readonly url: string;
  readonly port: number;
  /**
   * Serves on, but every response closes its connection, so that clients connect again, perhaps to another process. Returns a
   * function with the number of requests for the gateway since this call.
   */
  closeAfterResponses(): () => number;
  /** Accepts no new connection, waits at most `graceMs` for responses in flight, then closes all connections. */
  close(graceMs?: number): Promise<void>;
}

const HEADER_CHECK_MS = 1_000; // how late after its limit a slow request head is cut
const KEEP_ALIVE_MS = 65_000; // longer than the usual 60 s of proxies in front, so that they close first
const CLOSE_GRACE_MS = 2_000;
const REAP_MS = 20;

/**
 * Serves a gateway over HTTP/1.1.
 *
 * fastify answers host routes. Every other request goes to `gateway.handle` whatever its method and path: the core refuses
 * it and reads and limits bodies itself. A whole request has no time limit, because calls may take long; the core limits
 * the time to read a body.
 * @throws GatewayFault LISTEN_FAILED with the address, the reason and what to do
 */
export async function serveGateway(gateway: Pick<Gateway, 'handle'>, options: ListenOptions): Promise<Served> {
  const routes = options.routes ?? [];
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const prefixes = routes.filter(({ isPrefix }) => isPrefix);
  const routeAt = (target: string | undefined): HostRoute | undefined => {
    const path = pathOf(target);
    return byPath.get(path) ?? prefixes.find((route) => path.startsWith(route.path));
  };
  const answerHostRoute = answerHostRoutes(routes, options.allowedHosts);
  const server = createListener({ ...DEFAULT_LIMITS, ...options.limits }, (request, response) => {
    const route = routeAt(request.url);
    if (route !== undefined && route.isOfHost?.() !== false) answerHostRoute(request, response);
    else gateway.handle(request, response);
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  let closing: Promise<void> | undefined;
  const close = (graceMs = CLOSE_GRACE_MS): Promise<void> => {
    closing ??= closeWithin(server, graceMs);
    return closing;
  };
  options.signal?.addEventListener('abort', () => void close(), { once: true });
  if (options.signal?.aborted) await close();
  const closeAfterResponses: Served['closeAfterResponses'] = () => {
    let requests = 0;
    // before the listener of the gateway, which may respond at once
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      response.shouldKeepAlive = false;
      if (routeAt(request.url) === undefined) requests += 1;
    });
    return () => requests;
  };
  const url = `http://${hostForUrl(options.host)}:${port}`;
  return { url, port, closeAfterResponses, close, [Symbol.asyncDispose]: () => close() };
}

/**
 * Checks whether an address can be bound, before anything is started for it.
 * @throws GatewayFault LISTEN_FAILED as {@link serveGateway}
 */
export async function refuseTakenPort(address: Address): Promise<void> {
  if (address.port === 0) return;
  const trial = createPlainServer();
  await listen(trial, address);
  trial.close();
  await once(trial, 'close');
}

function createListener(limits: ListenerLimits, listener: RequestListener): Server {
  const server = createServer(
    {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headerTimeoutMs,
      connectionsCheckingInterval: HEADER_CHECK_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      requestTimeout: 0,
    },
    listener,
  );
  boundConnections(server, limits);
  return server;
}

function pathOf(target = '/'): string {
  const query = target.indexOf('?');
  return query === -1 ? target : target.slice(0, query);
}

/** `Host` names of a loopback listener. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether an address to bind is reachable from this machine only. */
export function isLoopbackHost(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare);
}

type Address = Pick<ListenOptions, 'host' | 'port' | 'settings'>;

const FLAGS: AddressSettings = { host: '--host', port: '--port' };

async function listen(server: PlainServer, { host, port, settings = FLAGS }: Address): Promise<void> {
  try {
    server.listen({ host: host.replace(/^\[|\]$/g, ''), port });
    await once(server, 'listening');
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new GatewayFault('LISTEN_FAILED', await explainListenError(code, host, port, settings), { cause });
  }
}

/** Why an address cannot be bound, and what to do. `code` is of the system, e.g. `EADDRINUSE`. */
export async function explainListenError(
  code: string,
  host: string,
  port: number,
  settings: AddressSettings = FLAGS,
): Promise<string> {
  const explain = EXPLANATIONS[code as keyof typeof EXPLANATIONS];
  return explain === undefined ? `cannot listen on ${host}:${port} (${code})` : explain(host, port, settings);
}

const EXPLANATIONS = {
  async EADDRINUSE(host: string, port: number, set: AddressSettings) {
    const { portOwner } = await import('../shared/running/port-owner.ts');
    const { who, advice } = await portOwner(port);
    return `port ${port} on ${host} is taken by ${who}; ${advice}, or choose another port (${set.port} ${port + 1})`;
  },
  EACCES: (host: string, port: number, set: AddressSettings) =>
    `port ${port} on ${host} is not allowed for this user; choose one above 1023 (${set.port} 4483)`,
  EADDRNOTAVAIL: (host: string, _port: number, set: AddressSettings) =>
    `this machine has no address ${host}; use ${set.host} 127.0.0.1, or 0.0.0.0 for all`,
  ENOTFOUND: (host: string, _port: number, set: AddressSettings) =>
    `the name ${host} is unknown; use an IP address such as ${set.host} 127.0.0.1`,
} as const;

async function closeWithin(server: Server, graceMs: number): Promise<void> {
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  // a connection becomes idle when its response ends, and Node would keep it for the whole keep-alive time
  const reap = setInterval(() => server.closeIdleConnections(), REAP_MS);
  try {
    server.close();
    await once(server, 'close');
  } finally {
    clearTimeout(cut);
    clearInterval(reap);
  }
}

/** The address as a client on this machine writes it in a URL. */
export function hostForUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::' || host === '[::]') return '[::1]';
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

/** One connection of a client and how it was used. */
interface Connection {
  readonly socket: Socket;
  /** Requests whose response is not complete. */
  underway: number;
  /** Completed responses. */
  answered: number;
  /** When the last response was complete, on the clock of `performance`. */
  usedAtMs: number;
}

/**
 * Limits the connections of a server, in total and per client address.
 *
 * At the limit a new connection replaces an older one of the same address, or of the address with the most connections.
 * Connections that never sent a complete request are closed first, oldest first; then the one that was idle longest. A
 * connection with a request in flight is never closed: when all have one, the new connection is closed.
 */
export function boundConnections(
  server: Server,
  limits: Pick<Plan['limits'], 'connections' | 'connectionsPerAddress'>,
): void {
  const shares = new Shares<Connection>(limits.connections, limits.connectionsPerAddress);
  const known = new WeakMap<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress);
    const donor = shares.donor(network);
    if (donor !== undefined) {
      const closable = findClosable(donor);
      if (closable === undefined) return void socket.destroy();
      closable.socket.destroy();
      shares.delete(networkOf(closable.socket.remoteAddress), closable);
    }
    const connection: Connection = { socket, underway: 0, answered: 0, usedAtMs: 0 };
    known.set(socket, connection);
    shares.add(network, connection);
    socket.on('close', () => shares.delete(network, connection));
  });
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = known.get(socket);
    if (connection === undefined) return;
    connection.underway++;
    response.on('close', () => {
      connection.underway--;
      connection.answered++;
      connection.usedAtMs = performance.now();
    });
  });
}

/** The connection to close, if any. `connections` are ordered oldest first. */
function findClosable(connections: Iterable<Connection>): Connection | undefined {
  let closable: Connection | undefined;
  for (const connection of connections) {
    if (connection.underway > 0) continue;
    if (connection.answered === 0) return connection;
    if (closable === undefined || connection.usedAtMs < closable.usedAtMs) closable = connection;
  }
  return closable;
}
