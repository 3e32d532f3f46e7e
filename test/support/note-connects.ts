// Preloaded (`node --import`): writes every connection and DNS look-up of a process to the file TOOLMGR_TEST_CONNECTS.
import dgram from 'node:dgram';
import dns from 'node:dns';
import { appendFileSync } from 'node:fs';
import { Socket } from 'node:net';

const file = process.env.TOOLMGR_TEST_CONNECTS ?? '';
const note = (what: string): void => {
  if (file !== '') appendFileSync(file, `${what}\n`);
};

interface Target {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
}

type Connect = (this: Socket, ...given: unknown[]) => Socket;
const connect = Socket.prototype.connect as Connect;
Socket.prototype.connect = function (this: Socket, ...given: unknown[]): Socket {
  const [first] = given.flat() as [Target | number | string];
  const target = typeof first === 'object' ? first : { port: Number(first), host: String(given[1] ?? 'localhost') };
  note(target.path === undefined ? `tcp ${target.host ?? 'localhost'}:${target.port}` : `pipe ${target.path}`);
  return connect.apply(this, given);
} as Connect as typeof Socket.prototype.connect;

const lookup = dns.lookup as (...given: unknown[]) => void;
dns.lookup = ((...given: unknown[]) => {
  note(`lookup ${String(given[0])}`);
  return lookup(...given);
}) as typeof dns.lookup;

const createSocket = dgram.createSocket as (...given: unknown[]) => dgram.Socket;
dgram.createSocket = ((...given: unknown[]) => {
  note('udp');
  return createSocket(...given);
}) as typeof dgram.createSocket;
