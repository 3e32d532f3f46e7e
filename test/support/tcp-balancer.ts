import net from 'node:net';

/** A TCP proxy that sends each new connection to the next of its targets, like kube-proxy; open connections stay. */
export interface TcpBalancer extends AsyncDisposable {
  readonly url: string;
  /** Ports on this machine. */
  readonly targets: Set<number>;
}

/** Starts one on a free loopback port. */
export async function tcpBalancer(): Promise<TcpBalancer> {
  const targets = new Set<number>();
  const sockets = new Set<net.Socket>();
  let next = 0;
  const server = net.createServer((socket) => {
    const ports = [...targets];
    const port = ports[next++ % ports.length];
    if (port === undefined) return void socket.destroy();
    const target = net.connect(port, '127.0.0.1');
    for (const [from, to] of [
      [socket, target],
      [target, socket],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    targets,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
