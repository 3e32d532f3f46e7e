import { readFile } from 'node:fs/promises';
import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { Duplex, PassThrough } from 'node:stream';
import { GatewayFault, LATE, within } from '@toolmgr/core';
import type { Container } from 'dockerode';
import { attach } from '../attach.ts';
import type { Engine } from '../engine.ts';
import { type ContainerIdentity, labelsOf } from '../labels.ts';
import { sidecarLimits } from '../limits.ts';
import { frameSplitter } from '../stream-frames.ts';
import { byteStream } from './byte-stream.ts';

const { createServer } = process.getBuiltinModule('node:http2');

const READY_MS = 30_000;
const OPEN_MS = 10_000;
const IDLE_MS = 3_600_000;
const HEAP_MB = 64;
const UNPRIVILEGED_USER = '65534:65534';

/** How a sidecar is made. */
export interface RelayUse {
  readonly engine: Engine;
  readonly image: string;
  readonly name: string;
  readonly identity: ContainerIdentity;
  /** Port on 127.0.0.1 of the network namespace where programs find the proxy. */
  readonly egressPort: number;
  /** Gets each connection that a program makes to that port. */
  readonly onEgress: (connection: Duplex) => void;
}

/** The sidecar of a workload: a network namespace with loopback only, and a way in and out of it. */
export interface Relay {
  /** Id of its container, whose network namespace other containers join. */
  readonly id: string;
  /** Connects to a port of the namespace. @throws Error when nothing listens there, or within 10 s nothing answers */
  open(port: number): Promise<Duplex>;
  /** Resolves when the sidecar has ended. */
  readonly ended: Promise<void>;
}

/**
 * Starts the network sidecar of a workload: a container without network that forwards connections over its stdin and
 * stdout, which the gateway attaches to. It ends with this process, also when that is killed.
 *
 * Nothing but loopback is in its network namespace, on every engine: there is no route to this machine, to other containers
 * or to the internet beside the gateway's own proxy.
 * @throws GatewayFault WORKLOAD_FAILED when it does not start within 30 s
 */
export async function startRelay(use: RelayUse): Promise<Relay> {
  const { engine, name, onEgress } = use;
  const container = await createRelay(use);
  let stderr = '';
  try {
    const { socket, head } = await attach(engine.socketPath, container.id);
    const connection = framedDuplex(socket, head, (piece) => {
      stderr = (stderr + piece.toString('utf8')).slice(-MAX_STDERR);
    });
    const waiting = new Map<string, PromiseWithResolvers<Duplex>>();
    const control = Promise.withResolvers<ServerHttp2Stream>();
    const server = createServer({ maxSessionMemory: SESSION_MB });
    server.on('sessionError', () => undefined); // the end of the connection follows
    server.on('stream', (stream, headers) => {
      stream.on('error', () => undefined); // its user sees it close
      stream.setTimeout(IDLE_MS, () => stream.destroy());
      const path = String(headers[':path']);
      stream.respond({ ':status': 200 });
      if (path === '/control') {
        stream.setTimeout(0);
        return control.resolve(stream);
      }
      if (path === '/egress') return onEgress(byteStream(stream));
      const wanted = waiting.get(path);
      if (wanted === undefined) return stream.close();
      waiting.delete(path);
      if (headers.failed === undefined) return wanted.resolve(byteStream(stream));
      stream.end();
      wanted.reject(new Error(String(headers.failed)));
    });
    const ended = endOf(socket, connection, server);
    await container.start();
    const first = await within(READY_MS, undefined, Promise.race([control.promise, ended]));
    if (first === undefined || first === LATE) throw new Error(`its network sidecar did not start ${stderr.trim()}`);
    let opened = 0;
    return {
      id: container.id,
      ended,
      async open(port) {
        const id = String(++opened);
        const wanted = Promise.withResolvers<Duplex>();
        waiting.set(`/ingress/${id}`, wanted);
        first.write(`${id} ${port}\n`);
        const stream = await within(OPEN_MS, undefined, wanted.promise);
        if (stream !== LATE) return stream;
        waiting.delete(`/ingress/${id}`);
        throw new Error(`port ${port} did not answer within ${OPEN_MS / 1_000} s`);
      },
    };
  } catch (cause) {
    await container.remove({ force: true, v: true }).catch(() => undefined);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new GatewayFault('WORKLOAD_FAILED', `network isolation failed: ${name}: ${why}`, { cause });
  }
}

const MAX_STDERR = 2_000;
const SESSION_MB = 64;

async function createRelay({ engine, image, name, identity, egressPort }: RelayUse): Promise<Container> {
  const file = new URL(import.meta.url.endsWith('.ts') ? './relay-main.ts' : './relay-main.js', import.meta.url);
  const program = await readFile(file, 'utf8');
  const language = file.pathname.endsWith('.ts') ? 'module-typescript' : 'module';
  const flags = [`--max-old-space-size=${HEAP_MB}`, `--input-type=${language}`];
  return engine.api.createContainer({
    name,
    Image: image,
    Entrypoint: ['node'],
    Cmd: [...flags, '-e', program, '--', String(egressPort)],
    Labels: labelsOf(identity),
    User: UNPRIVILEGED_USER,
    Tty: false,
    ...{ OpenStdin: true, StdinOnce: true, AttachStdin: true, AttachStdout: true, AttachStderr: true },
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      ReadonlyRootfs: true,
      ...(await sidecarLimits(engine)),
      RestartPolicy: { Name: 'no' },
      LogConfig: { Type: 'none', Config: {} }, // its output is traffic
    },
  });
}

/** The connection of an attached container as one stream of bytes. */
function framedDuplex(socket: Socket, head: Buffer, onStderr: (piece: Buffer) => void): Duplex {
  const incoming = new PassThrough();
  const split = frameSplitter((kind, piece) => {
    if (kind === 'stderr') return onStderr(piece);
    if (incoming.write(piece) || socket.isPaused()) return;
    socket.pause();
    incoming.once('drain', () => socket.resume());
  });
  if (head.length > 0) split(head);
  socket.on('data', split);
  socket.on('error', () => undefined); // close follows
  socket.once('close', () => incoming.end());
  const connection = Duplex.from({ readable: incoming, writable: socket });
  connection.on('error', () => socket.destroy());
  return connection;
}

/** Serves HTTP/2 on the connection; resolves when the engine has closed it, or the sidecar does not speak HTTP/2. */
function endOf(socket: Socket, connection: Duplex, server: Http2Server): Promise<undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  socket.once('close', () => {
    connection.destroy();
    resolve(undefined);
  });
  connection.once('close', () => socket.destroy());
  server.once('session', (session) => {
    session.once('close', () => socket.destroy());
    promise.then(() => session.destroy());
  });
  server.emit('connection', connection);
  return promise;
}
