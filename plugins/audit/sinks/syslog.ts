import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { isObject, LATE, parsedJson, readCaBundle, within } from '@toolmgr/core';
import type { RemoteSinks } from './config.ts';
import type { Sink } from './file.ts';
import { splitLines } from './lines.ts';

type SyslogConfig = NonNullable<RemoteSinks['syslog']>;

/** Time to connect, and to hand over one batch. */
const TIMEOUT_MS = 10_000;
/** Bytes of the text in a datagram; a longer line is cut. The largest UDP datagram over IPv4 is 65,507 bytes. */
const MAX_DATAGRAM = 60_000;

/**
 * Sends each line as a message of RFC 5424: with octet counting over TCP (RFC 6587 §3.4.1) and TLS (RFC 5425 §4.3), one datagram each over UDP
 * (RFC 5426). A batch whose write fails is sent again over a new connection, so a line may arrive twice; `audit_id` tells.
 */
export function syslogSink({ address, caCertPath, facility, appName }: SyslogConfig): Sink {
  const { protocol, hostname: host, port } = new URL(address);
  const to = { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port || PORTS[protocol]) };
  const messageOf = (line: string): string => {
    const event = parsedJson(line);
    const { logged_at: at, type, msg, outcome } = isObject(event) ? event : {};
    const severity = outcome === 'denied' || outcome === 'error' ? WARNING : INFORMATIONAL;
    const id = String(type ?? msg ?? '-');
    return `<${facility * 8 + severity}>1 ${String(at ?? '-')} ${HOST} ${appName} ${process.pid} ${id} - ${line}`;
  };
  if (protocol === 'udp:') return datagrams(to, messageOf);
  const ca = caCertPath === undefined ? {} : { ca: readCaBundle(caCertPath, 'audit.syslog.caCertPath') };
  const open = (): Socket => (protocol === 'tls:' ? connectTls({ ...to, ...ca, ...serverName(to.host) }) : connect(to));
  return stream(open, protocol === 'tls:' ? 'secureConnect' : 'connect', messageOf);
}

const PORTS: Readonly<Record<string, number>> = { 'udp:': 514, 'tcp:': 601, 'tls:': 6514 };
const INFORMATIONAL = 6;
const WARNING = 4;
/** RFC 5424 §6.2.4: printable ASCII. */
const HOST = hostname().replace(/[^\x21-\x7e]/g, '') || '-';

/** SNI takes no IP addresses. */
function serverName(host: string): { readonly servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host };
}

function stream(open: () => Socket, opened: string, messageOf: (line: string) => string): Sink {
  let socket: Socket | undefined;
  const drop = (): void => {
    socket?.destroy();
    socket = undefined;
  };
  const connected = async (): Promise<Socket> => {
    if (socket !== undefined) return socket;
    const made = open();
    socket = made;
    made.unref();
    await once(made, opened);
    // a server may close at any time: the next write connects again
    const forget = (): void => {
      if (socket === made) socket = undefined;
    };
    made.on('error', forget).on('close', forget).resume();
    return made;
  };
  const send = async (bytes: Buffer): Promise<void> => {
    const text = splitLines(bytes)
      .map(messageOf)
      .map((message) => `${Buffer.byteLength(message)} ${message}`)
      .join('');
    const at = await connected();
    await new Promise<void>((resolve, reject) => at.write(text, (error) => (error ? reject(error) : resolve())));
  };
  return {
    async write(bytes) {
      try {
        if ((await within(TIMEOUT_MS, undefined, send(bytes))) === LATE) throw new Error('no answer within 10 s');
        return bytes.length;
      } catch (cause) {
        drop();
        throw cause;
      }
    },
    async close() {
      const last = socket;
      socket = undefined;
      if (last === undefined) return;
      last.end();
      await within(
        TIMEOUT_MS,
        undefined,
        once(last, 'close').catch(() => {}),
      );
      last.destroy();
    },
  };
}

function datagrams(to: { readonly host: string; readonly port: number }, messageOf: (line: string) => string): Sink {
  const socket = createSocket(to.host.includes(':') ? 'udp6' : 'udp4').unref();
  socket.on('error', () => {}); // reported by the callback of its message
  return {
    async write(bytes) {
      for (const line of splitLines(bytes)) {
        const message = Buffer.from(messageOf(line)).subarray(0, MAX_DATAGRAM);
        await new Promise<void>((resolve, reject) =>
          socket.send(message, to.port, to.host, (error) => (error ? reject(error) : resolve())),
        );
      }
      return bytes.length;
    },
    close: () => new Promise((resolve) => socket.close(resolve)),
  };
}
