import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { explainCause, type Gateway, type Log } from '@toolmgr/core';
import { markProcess } from '@toolmgr/plugins/kit/files';
import { VERSION } from '../version.ts';
import { reportBackends } from './backend-report.ts';
import { explainTool } from './explain.ts';
import {
  type GatewayKind,
  type GatewayRecord,
  gatewaysDir,
  makeGatewaysDir,
  recordPath,
  removeRecord,
  writeRecord,
} from './gateway-record.ts';
import { isPipe, socketPlace } from './socket-place.ts';

// `import` of the values loads Node's own undici: 60 ms and 14 MB
const { createServer } = process.getBuiltinModule('node:http');

/** Lines of a backend that the gateway remembers. */
export interface BackendLines {
  /** The last lines, oldest first. */
  of(backend: string, lines: number): readonly object[];
  /** New lines until `signal` aborts. */
  follow(backend: string, signal: AbortSignal): AsyncIterable<object>;
}

/** What {@link serveControl} serves. */
export interface ControlOptions {
  /** The current gateway; a reload replaces it. */
  gateway(): Gateway;
  readonly log: Log;
  /** Lines of the backends; without them `toolmgr logs` says that there are none. */
  readonly lines?: BackendLines;
  readonly about: {
    readonly kind: GatewayKind;
    readonly name: string;
    readonly url?: string;
    /** Absolute path of the configuration file. */
    readonly file?: string;
  };
  /** Ends the service when aborted. */
  readonly signal: AbortSignal;
  /** Folder of the records; that of the user when absent. */
  readonly folder?: string;
}

/**
 * Makes a running gateway known to the commands `status`, `restart`, `logs`, `wait` and `tools preflight` of the same user: writes a
 * record and serves a socket that only this user can open. A state folder that cannot be written is logged, and the gateway runs
 * without them. Disposing removes both.
 */
export async function serveControl(options: ControlOptions): Promise<AsyncDisposable> {
  try {
    return await open(options);
  } catch (cause) {
    options.log.warn('toolmgr status, restart and logs do not see this gateway', { cause: explainCause(cause) });
    return { [Symbol.asyncDispose]: async () => {} };
  }
}

async function open(options: ControlOptions): Promise<AsyncDisposable> {
  const { about, signal, folder = gatewaysDir() } = options;
  await makeGatewaysDir(folder);
  const mark = await markProcess(process.pid);
  if (mark === undefined) throw new Error('the start time of this process cannot be read');
  const id = `${process.pid}-${randomBytes(ID_BYTES).toString('hex')}`;
  const socket = await socketPlace(folder, id);
  const record: GatewayRecord = {
    id,
    process: mark,
    ...about,
    version: VERSION,
    startedAt: new Date().toISOString(),
    socket,
  };
  const server = createServer({ headersTimeout: HEADERS_MS, requestTimeout: HEADERS_MS }, (request, response) => {
    void answer(options, record, request, response).catch((cause) => {
      options.log.debug('a control command failed', { cause: explainCause(cause) });
      if (response.headersSent) response.destroy();
      else send(response, 500, { error: explainCause(cause) });
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.on('error', (cause) => options.log.debug('control socket', { cause: explainCause(cause) }));
  // a second Ctrl-C ends the process without disposing anything
  const onExit = (): void => {
    rmSync(recordPath(folder, id), { force: true });
    if (!isPipe(socket)) rmSync(socket, { force: true });
  };
  process.once('exit', onExit);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= shut(server).then(async () => {
      await removeRecord(folder, record).catch(() => {});
      process.off('exit', onExit);
    });
    return closed;
  };
  try {
    await listen(server, socket);
    if (!isPipe(socket)) await chmod(socket, 0o600);
    await writeRecord(folder, record);
  } catch (cause) {
    await close();
    throw cause;
  }
  server.unref();
  if (signal.aborted) await close();
  else signal.addEventListener('abort', () => void close(), { once: true });
  return { [Symbol.asyncDispose]: close };
}

const ID_BYTES = 4;
const HEADERS_MS = 10_000;
const MAX_CONNECTIONS = 64;

function listen(server: Server, socket: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(socket, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function shut(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function answer(
  options: ControlOptions,
  record: GatewayRecord,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  request.resume(); // no route has a body
  const { pathname, searchParams: query } = new URL(request.url ?? '/', 'http://control');
  const route = ROUTES[`${request.method} ${pathname}`];
  if (route === undefined) return send(response, 404, { error: `${request.method} ${pathname} is not known` });
  await route({ options, record, query, response });
}

interface Asked {
  readonly options: ControlOptions;
  readonly record: GatewayRecord;
  readonly query: URLSearchParams;
  readonly response: ServerResponse;
}

/** The protocol of the socket: HTTP with JSON answers, version 1. */
const ROUTES: Readonly<Record<string, (asked: Asked) => Promise<void> | void>> = {
  'GET /v1/status': ({ options, record, response }) => {
    const { socket: _, ...about } = record;
    send(response, 200, {
      ...about,
      backends: reportBackends(options.gateway()),
      blocked: options.gateway().blocked(),
    });
  },
  'POST /v1/restart': async (asked) => {
    const { options, response } = asked;
    const backend = backendOf(asked);
    if (backend === undefined) return;
    const gateway = options.gateway();
    await gateway.restart(backend);
    send(response, 200, reportBackends(gateway).find(({ name }) => name === backend) ?? {});
  },
  'GET /v1/logs': async (asked) => {
    const { options, query, response } = asked;
    const backend = backendOf(asked);
    if (backend === undefined) return;
    if (options.lines === undefined) return send(response, 404, { error: 'this gateway keeps no lines' });
    const lines = Math.min(Math.max(Number.parseInt(query.get('lines') ?? '', 10) || DEFAULT_LINES, 1), MAX_LINES);
    await sendLines(options.lines, backend, lines, query.has('follow'), response);
  },
  'GET /v1/tools': ({ options, response }) => {
    const tools = options.gateway().catalog().visible('tool');
    send(
      response,
      200,
      tools.slice(0, MAX_LISTED).map(({ key }) => key),
    );
  },
  'GET /v1/explain': ({ options, query, response }) => {
    const tools = query.getAll('tool').slice(0, MAX_TOOLS);
    const gateway = options.gateway();
    send(
      response,
      200,
      tools.map((tool) => explainTool(gateway, tool)),
    );
  },
};

const DEFAULT_LINES = 100;
const MAX_LINES = 10_000;
const MAX_TOOLS = 100;
const MAX_LISTED = 5_000;

/** The backend that the query names; answers 404 when the gateway has none of that name. */
function backendOf({ options, query, response }: Asked): string | undefined {
  const name = query.get('backend') ?? '';
  if (
    options
      .gateway()
      .backends()
      .some(({ backend }) => backend.name === name)
  )
    return name;
  send(response, 404, { error: `there is no backend ${name}` });
  return undefined;
}

/** One JSON object per line. A reader that is slow is waited for. */
async function sendLines(
  lines: BackendLines,
  backend: string,
  count: number,
  follows: boolean,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  const ended = new AbortController();
  response.once('close', () => ended.abort());
  const following = follows ? lines.follow(backend, ended.signal)[Symbol.asyncIterator]() : undefined;
  const first = following?.next();
  first?.catch(() => {});
  for (const line of lines.of(backend, count)) response.write(`${JSON.stringify(line)}\n`);
  for (let next = first; next !== undefined && following !== undefined; next = following.next()) {
    const { done, value } = await next;
    if (done === true || ended.signal.aborted) break;
    if (!response.write(`${JSON.stringify(value)}\n`)) await drained(response, ended.signal);
  }
  response.end();
}

function drained(response: ServerResponse, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const resume = (): void => {
      response.off('drain', resume);
      signal.removeEventListener('abort', resume); // else each pause of a slow reader would leave one
      resolve();
    };
    response.once('drain', resume);
    signal.addEventListener('abort', resume, { once: true });
    if (signal.aborted) resume();
  });
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
