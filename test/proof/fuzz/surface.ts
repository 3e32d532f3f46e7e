import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import { fakeServer, type TestGateway, testGateway, text } from '@toolmgr/core/testing';
import { serveGateway } from '../../../hosts/http/listen.ts';

/** A gateway with low limits on a real port, with servers in memory of both revisions. */
export interface Surface extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  counts(): ReturnType<TestGateway['gateway']['counts']>;
  /** Warnings and errors that were logged. */
  readonly logged: readonly string[];
}

export const BODY_BYTES = 16_384;
export const BODY_TIMEOUT_MS = 200;

export async function openSurface(): Promise<Surface> {
  const form = { message: 'name?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } };
  const old = fakeServer(['2025-11-25'])
    .tool('echo', ({ params }) => text(JSON.stringify(params.arguments ?? null)))
    .tool('ask', async (context) => text(JSON.stringify(await context.ask('elicitation/create', form))))
    .tool('fail', () => {
      throw { code: -32050, message: 'it failed', data: [1] };
    })
    .resource('memo://1', 'remember')
    .prompt('plan', 'think');
  const fresh = fakeServer(['2026-07-28'])
    .tool('say', (context) => {
      context.progress(1, 2);
      return text('said');
    })
    .tool('wonder', ({ params }) => {
      if (params.inputResponses !== undefined) return text('thank you');
      const inputRequests = { who: { method: 'elicitation/create', params: form } };
      return { resultType: 'input_required', inputRequests, requestState: 'mine' };
    });
  const at = await testGateway({
    backends: { old, fresh },
    plan: {
      limits: {
        bodyBytes: BODY_BYTES,
        bodyTimeoutMs: BODY_TIMEOUT_MS,
        askTimeoutMs: 300,
        callTimeoutMs: 2000,
        requestStateTtlMs: 1000, // abandoned calls with a question end after this time
        sessionIdleMs: 3000, // ends sessions of clients that left before they read the session id
        keepAliveMs: 200,
        streamsPerCaller: 1000,
        linkIdleMs: 1000, // arbitrary capabilities make classes, each with links of its own
        stopMs: 500,
      },
    },
  });
  const listener = await serveGateway(at.gateway, { host: '127.0.0.1', port: 0 });
  return {
    port: listener.port,
    url: `${listener.url}/mcp`,
    counts: () => at.gateway.counts(),
    logged: at.logged,
    async [Symbol.asyncDispose]() {
      await at.gateway.stop();
      await listener.close(0);
    },
  };
}

/** One HTTP exchange; endless streams are closed after a time. */
export interface Exchanged {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Whether the response was complete. */
  readonly isWhole: boolean;
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | undefined;
}

const STREAM_MS = 40; // after this time a stream is closed
const ANSWER_MS = 5_000;

/** Sends a request through Node's own client. */
export function exchange(port: number, { method, path, headers: given, body }: Sent): Promise<Exchanged> {
  // without a length Node's client frames no body of GET, HEAD and their like
  const headers = body === undefined ? given : { ...given, 'content-length': `${body.length}` };
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      const settle = (isWhole: boolean): void => {
        clearTimeout(timer);
        const { statusCode: status = 0, headers: got } = response;
        resolve({ status, headers: got, text: Buffer.concat(chunks).toString(), isWhole });
        request.destroy();
      };
      const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true;
      const leave = isStream ? setTimeout(() => settle(false), STREAM_MS) : undefined;
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        clearTimeout(leave);
        settle(true);
      });
      response.on('error', () => settle(false));
    });
    const timer = setTimeout(() => request.destroy(new Error(`${method} ${path}: no answer`)), ANSWER_MS);
    request.on('error', (cause) => {
      clearTimeout(timer);
      reject(cause);
    });
    request.end(body);
  });
}

/**
 * Writes pieces of bytes to a new connection and returns the received bytes until it closes, is silent, or `isEnough`.
 * What must come is given `ANSWER_MS`; without `isEnough` a short silence is an end.
 */
export function speakRaw(
  port: number,
  pieces: readonly Buffer[],
  quietMs: number,
  isEnough?: (came: Buffer) => boolean,
): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    const settle = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    const waitMs = isEnough === undefined ? quietMs : ANSWER_MS;
    let timer = setTimeout(settle, waitMs);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      clearTimeout(timer);
      if (isEnough?.(Buffer.concat(chunks)) === true) return settle();
      timer = setTimeout(settle, waitMs);
    });
    socket.on('error', settle);
    socket.on('close', settle);
    for (const piece of pieces) if (piece.length > 0) socket.write(piece);
  });
}
