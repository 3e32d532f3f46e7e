import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Limits, networkOf, Shares } from '@toolmgr/core';

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
export function boundConnections(server: Server, limits: Pick<Limits, 'connections' | 'connectionsPerAddress'>): void {
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
