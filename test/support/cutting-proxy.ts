import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy that can lose an answer: the server has executed the command, the client cannot know. */
export interface CuttingProxy extends AsyncDisposable {
  /** host:port */
  readonly address: string;
  /** The next answer of the server is dropped, and its connection closed. */
  cutNextAnswer(): void;
  /** Answers that were dropped. */
  readonly cuts: number;
}

/** Starts a proxy in front of a loopback port. */
export async function cuttingProxy(port: number): Promise<CuttingProxy> {
  let isCutting = false;
  let cuts = 0;
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (bytes) => {
      if (!isCutting) return void client.write(bytes);
      isCutting = false;
      cuts += 1;
      client.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    cutNextAnswer() {
      isCutting = true;
    },
    get cuts() {
      return cuts;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
    },
  };
}
