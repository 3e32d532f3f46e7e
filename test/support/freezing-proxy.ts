import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can play a dead network. */
export interface FreezingProxy extends AsyncDisposable {
  readonly port: number;
  /** The open connections stay open, but no byte passes any more. New ones work. */
  freeze(): void;
  /** Closes the open connections and refuses new ones until `open`. */
  block(): void;
  open(): void;
}

/** Starts a proxy in front of a loopback port. */
export async function freezingProxy(port: number): Promise<FreezingProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isBlocked = false;
  const server = createServer((client) => {
    if (isBlocked) return void client.destroy();
    const upstream = connect(port, '127.0.0.1');
    const pair = [client, upstream] as const;
    pairs.add(pair);
    for (const socket of pair) {
      socket.on('error', () => {});
      socket.on('close', () => {
        pairs.delete(pair);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    for (const sockets of [...pairs]) for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      for (const [client, upstream] of pairs) {
        client.unpipe();
        upstream.unpipe();
        client.resume();
        upstream.resume();
      }
    },
    block() {
      isBlocked = true;
      close();
    },
    open() {
      isBlocked = false;
    },
    async [Symbol.asyncDispose]() {
      close();
      server.close();
    },
  };
}
