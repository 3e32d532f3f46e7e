import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Limits, networkOf, Shares } from '@toolmgr/core';

/** One connection of a client, as far as it is known whether anybody would miss it. */
interface Connection {
  readonly socket: Socket;
  /** Requests whose answer is not complete. */
  underway: number;
  /** Answers so far. */
  answered: number;
  /** When the last answer was complete, on the clock of `performance`. */
  usedAtMs: number;
}

/**
 * Bounds the connections of a server, together and per address.
 *
 * For a new one that finds no place an old one of the same address is closed, or of the address that has the most; never
 * one with a request under way. First go those that never sent a whole request, oldest first, then the one that was
 * idle longest. When nobody can go, the new one is closed.
 */
export function boundConnections(server: Server, limits: Pick<Limits, 'connections' | 'connectionsPerAddress'>): void {
  const shares = new Shares<Connection>(limits.connections, limits.connectionsPerAddress);
  const known = new WeakMap<Socket, Connection>();
  server.on('connection', (socket: Socket) => {
    const network = networkOf(socket.remoteAddress);
    const donor = shares.donor(network);
    if (donor !== undefined) {
      const spare = spareOf(donor);
      if (spare === undefined) return void socket.destroy();
      spare.socket.destroy();
      shares.delete(networkOf(spare.socket.remoteAddress), spare);
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

/** Of connections that stand oldest first. */
function spareOf(connections: Iterable<Connection>): Connection | undefined {
  let spare: Connection | undefined;
  for (const connection of connections) {
    if (connection.underway > 0) continue;
    if (connection.answered === 0) return connection;
    if (spare === undefined || connection.usedAtMs < spare.usedAtMs) spare = connection;
  }
  return spare;
}
