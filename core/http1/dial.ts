import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import type { ProxyRoute } from './proxy-route.ts';
import { dialProxy, Tunnel } from './tunnel.ts';

/** Where a pool connects to. */
export interface Origin {
  readonly isTls: boolean;
  /** A name or an address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** As the `Host` header has it. */
  readonly host: string;
  /** Certificates that are trusted instead of the system's, PEM. */
  readonly ca: string | undefined;
  /** The forward proxy on the way there. */
  readonly proxy: ProxyRoute | undefined;
}

/** The origin of an http or https URL. */
export function originFrom(url: URL, ca?: string, proxy?: ProxyRoute): Origin {
  const isTls = url.protocol === 'https:';
  const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
  return { isTls, hostname: url.hostname.replace(/^\[|\]$/g, ''), port, host: url.host, ca, proxy };
}

const KEEP_ALIVE_PROBE_MS = 60_000;

/**
 * Opens a socket whose bytes go to `read`, which must copy what it keeps: they lie in one buffer that all connections
 * share, since Node reads into it and calls back in one go.
 */
export function dial(origin: Origin, session: Buffer | undefined, read: (bytes: Buffer) => void): Dialled {
  if (origin.proxy !== undefined) return dialThrough(origin, origin.proxy, session, read);
  const { hostname: host, port } = origin;
  const onread = {
    buffer: readBuffer(),
    callback: (size: number, bytes: Uint8Array): boolean => {
      read((bytes as Buffer).subarray(0, size));
      return true;
    },
  };
  const keepAlive = { noDelay: true, keepAlive: true, keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS };
  if (!origin.isTls) return { socket: connectPlain({ host, port, onread, ...keepAlive }), readyEvent: 'connect' };
  const socket = connectTls({
    host,
    port,
    ALPNProtocols: ['http/1.1'],
    ...keepAlive,
    ...{ onread }, // missing in Node's types for TLS, not in its documentation
    ...(isIP(host) === 0 && { servername: host }),
    ...(origin.ca !== undefined && { ca: origin.ca }),
    ...(session !== undefined && { session }),
  });
  return { socket, readyEvent: 'secureConnect' };
}

/** Through a proxy: a tunnel to https, the proxy itself for http, which reads whole URLs. */
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
    ...(session !== undefined && { session }),
  });
  tunnel.once('error', (cause) => socket.destroy(cause));
  socket.once('close', () => tunnel.destroy());
  socket.on('data', read);
  return { socket, readyEvent: 'secureConnect' };
}

/** A socket that is being connected. */
export interface Dialled {
  readonly socket: Socket | TLSSocket;
  /** Emitted when it may be written to. */
  readonly readyEvent: 'connect' | 'secureConnect';
}

const READ_BYTES = 65_536;
let shared: Buffer | undefined;

/** Windows fills a buffer in the background, so there each connection has its own. */
function readBuffer(): Buffer {
  if (process.platform === 'win32') return Buffer.allocUnsafeSlow(READ_BYTES);
  shared ??= Buffer.allocUnsafeSlow(READ_BYTES);
  return shared;
}
