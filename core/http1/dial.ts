import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { guardedLookup } from './allowed-addresses.ts';
import type { Origin } from './origin.ts';
import type { ProxyRoute } from './proxy-route.ts';
import { dialProxy, Tunnel } from './tunnel.ts';

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
