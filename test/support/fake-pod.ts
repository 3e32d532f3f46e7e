import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type WebSocket, WebSocketServer } from 'ws';
import { certificates } from './certificates.ts';

/** An API server with one pod, whose container is a child process with the semantics of `stdinOnce`. */
export interface FakePod extends AsyncDisposable {
  /** Folder with `token` and `ca.crt`, as Kubernetes mounts it. */
  readonly serviceAccountFolder: string;
  readonly port: number;
  /** Requests as `METHOD path`. */
  readonly requests: string[];
  /** Starts of the container. */
  starts(): number;
  /** Kills the container. The kubelet starts it again. */
  kill(): void;
  /** Cuts the connections without an end of the container. */
  cut(): void;
}

export interface FakePodOptions {
  readonly program: readonly string[];
  readonly protocol?: 'v4.channel.k8s.io' | 'v5.channel.k8s.io';
  /** The server reads on after the end of its stdin. */
  readonly ignoresEnd?: boolean;
  /** Answers to `attach` before it works. */
  readonly refusals?: readonly { readonly status: number; readonly message: string }[];
}

const RESTART_MS = 200;
const POD = '/api/v1/namespaces/team/pods/tools-0';

/** Starts it on a free port of 127.0.0.1 with TLS. */
export async function startFakePod(options: FakePodOptions): Promise<FakePod> {
  const { program, protocol = 'v5.channel.k8s.io', ignoresEnd = false, refusals = [] } = options;
  const folder = await mkdtemp(join(tmpdir(), 'toolmgr-pod-'));
  const { ca, cert, key } = certificates();
  await Promise.all([writeFile(join(folder, 'token'), 'the-token'), writeFile(join(folder, 'ca.crt'), ca)]);
  const requests: string[] = [];
  const sockets = new Set<WebSocket>();
  const left = [...refusals];
  let starts = 0;
  let uid = 1;
  let isStopped = false;
  let child: ChildProcess | undefined;
  let attached: WebSocket | undefined;
  let last: object = {};
  const start = (): void => {
    starts++;
    const id = `containerd://${starts}`;
    const [file = '', ...args] = program;
    const started = spawn(file, args, { stdio: 'pipe' });
    child = started;
    started.stdin.on('error', () => undefined);
    started.stdout.on('data', (piece: Buffer) => attached?.send(Buffer.concat([Buffer.from([1]), piece])));
    started.stderr.on('data', (piece: Buffer) => attached?.send(Buffer.concat([Buffer.from([2]), piece])));
    started.once('close', (code) => {
      last = { terminated: { containerID: id, exitCode: code ?? 137 } };
      child = undefined;
      attached?.send(Buffer.concat([Buffer.from([3]), Buffer.from('{"status":"Success"}')]));
      attached?.close();
      attached = undefined;
      if (!isStopped) setTimeout(start, RESTART_MS);
    });
  };
  start();
  const pod = () => ({
    ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'tools-0', namespace: 'team', uid: `${uid}` } },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          ...{ name: 'mcp', containerID: `containerd://${starts}`, lastState: last },
          state: child === undefined ? { waiting: { reason: 'CrashLoopBackOff' } } : { running: {} },
        },
      ],
    },
  });
  const server = createServer({ cert, key }, (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (request.headers.authorization !== 'Bearer the-token') return void response.writeHead(401).end();
    if (request.url !== POD) return void response.writeHead(404).end();
    if (request.method === 'DELETE') {
      uid++;
      child?.kill('SIGKILL');
    }
    response.setHeader('content-type', 'application/json').end(JSON.stringify(pod()));
  });
  const upgrades = new WebSocketServer({
    noServer: true,
    handleProtocols: (wanted) => wanted.has(protocol) && protocol,
  });
  server.on('upgrade', (request, socket, head) => {
    requests.push(`${request.method} ${request.url}`);
    const refusal = left.shift();
    const isKnown = request.headers.authorization === 'Bearer the-token';
    if (refusal !== undefined || !isKnown || !request.url?.startsWith(`${POD}/attach?`)) {
      const text = JSON.stringify({ kind: 'Status', message: refusal?.message ?? 'refused' });
      const line = `HTTP/1.1 ${refusal?.status ?? 403} Refused\r\nContent-Length: ${text.length}\r\n`;
      return void socket.end(`${line}Connection: close\r\n\r\n${text}`);
    }
    upgrades.handleUpgrade(request, socket, head, (accepted) => {
      sockets.add(accepted);
      attached = accepted;
      const process = child;
      const endStdin = (): void => void (ignoresEnd || process?.stdin?.end());
      accepted.on('message', (data: Buffer) => {
        if (data[0] === 0) process?.stdin?.write(data.subarray(1));
        if (data[0] === 255 && data[1] === 0) endStdin();
      });
      accepted.on('close', () => {
        sockets.delete(accepted);
        endStdin();
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    serviceAccountFolder: folder,
    port: (server.address() as AddressInfo).port,
    requests,
    starts: () => starts,
    kill: () => void child?.kill('SIGKILL'),
    cut: () => {
      for (const socket of sockets) socket.terminate();
    },
    async [Symbol.asyncDispose]() {
      isStopped = true;
      child?.kill('SIGKILL');
      for (const socket of sockets) socket.terminate();
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
