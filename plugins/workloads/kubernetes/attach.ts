import type { IncomingMessage } from 'node:http';
import type { PassThrough } from 'node:stream';
import { explainCause, isObject, parsedJson } from '@toolmgr/core';
import type { Connection } from '@toolmgr/plugins/kit/kubernetes';
import { WebSocket } from 'ws';
import { CHANNEL, END_OF_STDIN, SUBPROTOCOLS, stdinMessages } from './channels.ts';

/** A container of a pod. */
export interface PodContainer {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
}

/** The streams of a container that is attached to. */
export interface Attached {
  /** Resolves when the bytes are handed to the network. */
  write(chunk: Buffer): Promise<void>;
  /** Ends stdin. With `v4` that is the end of the connection. */
  end(): void;
  /** Cuts the connection. */
  cut(): void;
  /** Resolves with the reason when the connection has ended: by the end of the container, or without it. */
  readonly closed: Promise<string>;
}

/** Where the output goes. The pipes stay open at the end. */
export interface Pipes {
  readonly stdout: PassThrough;
  readonly stderr: PassThrough;
}

const ATTACH_MS = 30_000;
/** How often a silent connection is checked, and how long an answer may take. */
const PING_MS = 30_000;
/** Largest message: the kubelet copies 32 KiB at a time. */
const MESSAGE_BYTES = 4_194_304;
const STATUS_BYTES = 16_384;

/**
 * Attaches to a running container over the API (`pods/attach`). The output is read only as fast as the pipes take it.
 *
 * @throws Error with the answer of the API server, without the token
 */
export async function attach(connection: Connection, pod: PodContainer, pipes: Pipes): Promise<Attached> {
  const socket = await open(connection, pod);
  const isV5 = socket.protocol === SUBPROTOCOLS[0];
  let said = '';
  socket.on('message', (data: Buffer) => {
    const [channel] = data;
    const piece = data.subarray(1);
    if (channel === CHANNEL.error) said = (said + piece.toString()).slice(-STATUS_BYTES);
    const pipe = channel === CHANNEL.stdout ? pipes.stdout : channel === CHANNEL.stderr ? pipes.stderr : undefined;
    if (pipe === undefined || piece.length === 0 || pipe.write(piece)) return;
    socket.pause();
    pipe.once('drain', () => socket.resume());
  });
  const checking = checkAlive(socket);
  const closed = new Promise<string>((resolve) => {
    socket.once('close', (code) => {
      clearInterval(checking);
      resolve(reasonOf(said) ?? `the connection to the container closed with code ${code}`);
    });
  });
  return {
    async write(chunk) {
      for (const message of stdinMessages(chunk)) await send(socket, message);
    },
    end() {
      if (isV5 && socket.readyState === WebSocket.OPEN) socket.send(END_OF_STDIN);
      else socket.close();
    },
    cut: () => socket.terminate(),
    closed,
  };
}

async function open(connection: Connection, pod: PodContainer): Promise<WebSocket> {
  let { authorization, tls } = await connection.credentials();
  for (let refused = false; ; refused = true) {
    if (refused) ({ authorization, tls } = await connection.credentials(true));
    const socket = new WebSocket(attachUrl(connection.server, pod), [...SUBPROTOCOLS], {
      ...tls,
      headers: { 'user-agent': 'toolmgr', ...(authorization === undefined ? {} : { authorization }) },
      handshakeTimeout: ATTACH_MS,
      maxPayload: MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    const outcome = await opened(socket);
    if (outcome === undefined) return socket;
    if (outcome.status !== 401 || refused) {
      throw new Error(
        `cannot attach to container ${pod.container} of pod ${pod.namespace}/${pod.name}: ${outcome.why}`,
      );
    }
  }
}

/** `undefined` when the connection is open; then errors are followed by its end. */
function opened(socket: WebSocket): Promise<{ readonly status: number; readonly why: string } | undefined> {
  return new Promise((resolve) => {
    socket.on('error', (cause) => resolve({ status: 0, why: explainCause(cause) }));
    socket.once('open', () => resolve(undefined));
    socket.once('unexpected-response', (request, response) => {
      void textOf(response).then((text) => {
        request.destroy();
        const status = response.statusCode ?? 0;
        resolve({ status, why: reasonOf(text) ?? `the API server answered with status ${status}` });
      });
    });
  });
}

function attachUrl(server: string, { namespace, name, container }: PodContainer): string {
  const base = server.replace(/^http/, 'ws').replace(/\/$/, '');
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/attach`;
  return `${base}${path}?container=${encodeURIComponent(container)}&stdin=true&stdout=true&stderr=true&tty=false`;
}

function send(socket: WebSocket, message: Buffer): Promise<void> {
  return new Promise((resolve, reject) => socket.send(message, (cause) => (cause ? reject(cause) : resolve())));
}

/** Ends a connection whose other side does not answer. */
function checkAlive(socket: WebSocket): NodeJS.Timeout {
  let isAlive = true;
  socket.on('pong', () => {
    isAlive = true;
  });
  socket.on('message', () => {
    isAlive = true;
  });
  const checking = setInterval(() => {
    if (socket.isPaused) return; // it is not read, so it cannot answer
    if (!isAlive) return socket.terminate();
    isAlive = false;
    socket.ping();
  }, PING_MS);
  checking.unref();
  return checking;
}

/** The message of a Status object; `undefined` for a success and for other texts. */
function reasonOf(text: string): string | undefined {
  const status = parsedJson(text);
  if (!isObject(status) || typeof status.message !== 'string') return undefined;
  return status.message === '' ? undefined : status.message;
}

async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > STATUS_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    return '';
  }
  return Buffer.concat(chunks).toString();
}
