import { createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { ContainerIsolation, WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';

import { createDestinations } from '../egress/destination.ts';
import { createEgressProxy } from '../egress/egress-proxy.ts';
import { quietNotes } from '../egress/refusal-notes.ts';
import type { Engine } from '../engine.ts';
import { namesThisMachine } from './first-request.ts';
import { type Relay, startRelay } from './relay.ts';
import { ensureRelayImage } from './relay-image.ts';

/** The isolated network of one start of a workload. */
export interface IsolatedNetwork {
  /** Network mode of its containers. */
  readonly mode: string;
  /** Variables that lead programs to the proxy. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Opens a port of this machine, on 127.0.0.1 only, that leads to a port of the containers. Resolves with its number. With
   * `isMcp` a connection whose first request does not name this machine in `Host` is refused.
   * @throws Error of the system when `hostPort` is taken
   */
  publish(
    containerPort: number,
    use?: { readonly hostPort?: number | undefined; readonly isMcp?: boolean },
  ): Promise<number>;
  /** Resolves when its sidecar has ended by itself. */
  readonly ended: Promise<void>;
  /** Closes ports and connections. The container of the sidecar is removed with those of the workload. */
  close(): void;
}

/** The start that is to be isolated. */
export interface IsolationUse {
  readonly spec: WorkloadSpec;
  readonly isolation: ContainerIsolation;
  readonly runId: string;
  readonly targetPort?: number;
  /** Gets lines for the log of the workload. */
  readonly note: (line: string) => void;
}

/** Gateway of Docker's default bridge, unless it is configured otherwise. */
const DEFAULT_GATEWAY = '172.17.0.1';
const PROXY_PORT = 3128;
const MAX_INGRESS = 512;

/**
 * Makes the network of an isolated workload: a network namespace with loopback only. Programs reach the outside through a
 * proxy of this process, which applies the permission profile, and this process reaches their ports.
 * @throws GatewayFault WORKLOAD_FAILED when the sidecar cannot be started
 */
export async function isolateNetwork(
  engine: Engine,
  { spec, isolation, runId, targetPort, note }: IsolationUse,
  signal: AbortSignal,
): Promise<IsolatedNetwork> {
  const image = await ensureRelayImage(engine, signal, note, engine.env);
  const decide = createDestinations({
    outbound: isolation.outbound,
    allowGateway: isolation.allowGateway,
    gatewayAddresses: await gatewayAddresses(engine),
  });
  const egress = createEgressProxy({ decide, note: quietNotes(note) });
  const egressPort = targetPort === PROXY_PORT ? PROXY_PORT + 1 : PROXY_PORT;
  const identity = {
    owner: await engine.owner(),
    workload: spec.name,
    group: spec.group,
    transport: spec.transport,
    runId,
    role: 'network',
  } as const;
  const name = `${spec.name}-network-${runId.slice(0, 8)}`;
  const relay = await startRelay({ engine, image, name, identity, egressPort, onEgress: egress.serve });
  const ports: Server[] = [];
  const open = new Set<Socket>();
  return {
    mode: `container:${relay.id}`,
    env: proxyVariables(egressPort),
    ended: relay.ended,
    async publish(containerPort, { hostPort = 0, isMcp = false } = {}) {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        open.add(socket);
        socket.once('close', () => open.delete(socket));
        void lead(socket, relay, containerPort, isMcp);
      });
      server.maxConnections = MAX_INGRESS;
      ports.push(server);
      return listen(server, hostPort);
    },
    close() {
      for (const server of ports) server.close();
      for (const socket of open) socket.destroy();
      egress.close();
    },
  };
}

/** Node.js reads the variables of a proxy only when `NODE_USE_ENV_PROXY` is set. */
function proxyVariables(port: number): Readonly<Record<string, string>> {
  const url = `http://127.0.0.1:${port}`;
  const none = 'localhost,127.0.0.1,::1';
  return {
    ...{ HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, https_proxy: url },
    ...{ NO_PROXY: none, no_proxy: none, NODE_USE_ENV_PROXY: '1' },
  };
}

async function gatewayAddresses({ api, kind }: Engine): Promise<readonly string[]> {
  const found = await api
    .getNetwork(kind === 'podman' ? 'podman' : 'bridge')
    .inspect()
    .catch(() => undefined); // an engine without a default bridge
  const configured = ((found?.IPAM?.Config ?? []) as readonly { readonly Gateway?: string }[]).flatMap(
    ({ Gateway }) => Gateway ?? [],
  );
  return [...new Set([...configured, DEFAULT_GATEWAY])];
}

async function lead(socket: Socket, relay: Relay, port: number, isMcp: boolean): Promise<void> {
  let stream: Duplex | undefined;
  socket.on('error', () => socket.destroy());
  if (isMcp && !(await namesThisMachine(socket))) {
    return void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n').resume();
  }
  socket.once('close', () => stream?.destroy());
  try {
    stream = await relay.open(port);
  } catch {
    return void socket.destroy(); // as a connection to a port on which nothing listens
  }
  if (socket.destroyed) return void stream.destroy();
  stream.on('error', () => socket.destroy());
  stream.once('close', () => socket.destroySoon());
  socket.pipe(stream);
  stream.pipe(socket);
}

function listen(server: Server, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  server.once('error', reject);
  server.listen(port, '127.0.0.1', () => {
    const address = server.address();
    resolve(typeof address === 'object' && address !== null ? address.port : port);
  });
  return promise;
}
