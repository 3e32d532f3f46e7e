import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { guardedLookup } from './allowed-addresses.ts';
import type { Origin } from './origin.ts';
import type { ProxyRoute } from './proxy-route.ts';

const KEEP_ALIVE_PROBE_MS = 60_000;

/**
 * Opens a socket whose bytes go to `read`. They lie in the read buffer of this connection, which its next read overwrites:
 * `read` copies what it keeps. No two connections have the same buffer.
 */
export function dial(origin: Origin, session: Buffer | undefined, read: (bytes: Buffer) => void): Dialled {
  if (origin.proxy !== undefined) return dialThrough(origin, origin.proxy, session, read);
  const { hostname: host, port, addresses } = origin;
  const onread = {
    buffer: Buffer.allocUnsafeSlow(READ_BYTES),
    callback: (size: number, bytes: Uint8Array): boolean => {
      read((bytes as Buffer).subarray(0, size));
      return true;
    },
  };
  const options = {
    ...{ noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS },
    ...(addresses !== undefined && { lookup: guardedLookup(addresses) }),
  };
  if (!origin.isTls) return { socket: connectPlain({ host, port, onread, ...options }), readyEvent: 'connect' };
  const socket = connectTls({
    host,
    port,
    ALPNProtocols: ['http/1.1'],
    ...options,
    ...{ onread }, // missing in Node's types for TLS, but documented
    ...(isIP(host) === 0 && { servername: host }),
    ...(origin.ca !== undefined && { ca: origin.ca }),
    ...origin.identity,
    ...(session !== undefined && { session }),
  });
  return { socket, readyEvent: 'secureConnect' };
}

/** Through a proxy: a tunnel for https; the proxy itself for http, which accepts whole URLs. */
function dialThrough(
  origin: Origin,
  proxy: ProxyRoute,
  session: Buffer | undefined,
  read: (bytes: Buffer) => void,
): Dialled {
  const { hostname: host, port } = origin;
  if (!origin.isTls) {
    const socket = dialProxy(proxy);
    socket.on('data', read);
    return { socket, readyEvent: proxy.isTls ? 'secureConnect' : 'connect' };
  }
  const tunnel = new Tunnel(proxy, `${isIP(host) === 6 ? `[${host}]` : host}:${port}`);
  const socket = connectTls({
    socket: tunnel,
    host,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 && { servername: host }),
    ...(origin.ca !== undefined && { ca: origin.ca }),
    ...origin.identity,
    ...(session !== undefined && { session }),
  });
  tunnel.once('error', (cause) => socket.destroy(cause));
  socket.once('close', () => tunnel.destroy());
  socket.on('data', read);
  return { socket, readyEvent: 'secureConnect' };
}

/** A socket that is connecting. */
export interface Dialled {
  readonly socket: Socket | TLSSocket;
  /** Emitted when it can be written to. */
  readonly readyEvent: 'connect' | 'secureConnect';
}

/** Bytes of one read at most. */
const READ_BYTES = 65_536;

/** The proxy is unreachable or refuses the connection. Contains no credentials. */
export class ProxyRefusal extends Error {
  readonly code = 'PROXY_REFUSED';
}

/** Opens a connection to the proxy itself. */
export function dialProxy({ isTls, hostname: host, port }: ProxyRoute): Socket {
  return isTls
    ? connectTls({ host, port, ALPNProtocols: ['http/1.1'], servername: host })
    : connectPlain({ host, port });
}

/**
 * A tunnel through a proxy to `authority` (`host:port`), opened by CONNECT (RFC 9110 §9.3.6). Data written before it is
 * open waits; a refusal destroys it with a {@link ProxyRefusal}. It has no time limit; the caller sets one.
 */
export class Tunnel extends Duplex {
  readonly #proxy: Socket;
  readonly #route: ProxyRoute;
  #head: Buffer = Buffer.alloc(0);
  #isOpen = false;
  #held: (() => void) | undefined;

  constructor(route: ProxyRoute, authority: string) {
    super({ allowHalfOpen: false });
    this.#route = route;
    this.#proxy = dialProxy(route);
    const authorization = route.authorization === undefined ? '' : `proxy-authorization: ${route.authorization}\r\n`;
    this.#proxy.once(route.isTls ? 'secureConnect' : 'connect', () => {
      this.#proxy.write(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n${authorization}\r\n`);
    });
    this.#proxy.on('data', (bytes) => (this.#isOpen ? this.#pass(bytes) : this.#answer(bytes)));
    this.#proxy.on('error', (cause) => this.destroy(this.#refusal(`cannot be reached (${codeOf(cause)})`, cause)));
    this.#proxy.once('end', () => {
      if (this.#isOpen) this.push(null);
      else this.destroy(this.#refusal('closed the connection before it responded to CONNECT'));
    });
    this.#proxy.once('close', () => this.destroy());
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    if (this.#isOpen) this.#proxy.write(chunk, done);
    else this.#held = () => this.#proxy.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#proxy.end(done);
  }

  override _read(): void {
    this.#proxy.resume();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#proxy.destroy();
    done(error);
  }

  #pass(bytes: Buffer): void {
    if (!this.push(bytes)) this.#proxy.pause();
  }

  #answer(bytes: Buffer): void {
    this.#head = Buffer.concat([this.#head, bytes]);
    const end = this.#head.indexOf(HEAD_END);
    if (end === -1) {
      if (this.#head.length > MAX_HEAD_BYTES) this.destroy(this.#refusal('responded to CONNECT with too long a head'));
      return;
    }
    const status = /^HTTP\/1\.[01] (\d{3})/.exec(this.#head.toString('latin1', 0, 16))?.[1];
    if (status?.startsWith('2') !== true) {
      this.destroy(this.#refusal(`responded to CONNECT with ${status ?? 'something that is not HTTP'}`));
      return;
    }
    const rest = this.#head.subarray(end + HEAD_END.length);
    this.#isOpen = true;
    this.#head = Buffer.alloc(0);
    if (rest.length > 0) this.#pass(rest);
    this.#held?.();
    this.#held = undefined;
  }

  #refusal(why: string, cause?: unknown): ProxyRefusal {
    return new ProxyRefusal(`the proxy ${this.#route.label} ${why}`, cause === undefined ? {} : { cause });
  }
}

function codeOf(cause: Error): string {
  return (cause as NodeJS.ErrnoException).code ?? cause.message;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const MAX_HEAD_BYTES = 16_384;
