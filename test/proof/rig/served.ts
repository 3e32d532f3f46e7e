import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { type Backend, createGateway, createLog, type Gateway, type PlanInput } from '@toolmgr/core';
import { pushSource, type TestClient, type TestClientOptions, testClient } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { serveGateway } from '../../../hosts/http/listen.ts';
import { modernRequests } from '../../bench/requests.ts';

/** Backends by name. */
export type Backends = Readonly<Record<string, Omit<Backend, 'name'>>>;

/** A client with its own connections; closing it ends the session and the connections. */
export interface NearClient extends TestClient {
  /** Drops the connections without ending the session. */
  drop(): void;
}

/** A gateway on a real port in this process. */
export interface ServedGateway extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly url: string;
  /** Lines of the gateway's log. */
  readonly lines: readonly string[];
  setBackends(backends: Backends): void;
  client(options?: TestClientOptions): Promise<NearClient>;
}

/** How to serve. */
export interface ServeOptions {
  readonly plan?: Partial<PlanInput>;
  readonly logLevel?: 'debug' | 'info' | 'warn';
  /** Do not wait for the backends. */
  readonly isImpatient?: boolean;
  readonly now?: () => number;
}

/** Serves the given backends to anonymous callers. */
export async function serve(backends: Backends, options: ServeOptions = {}): Promise<ServedGateway> {
  const lines: string[] = [];
  const source = pushSource(named(backends));
  const { plan = {} } = options;
  const gateway = await createGateway(
    {
      ...plan,
      plugins: [
        { use: 'incoming-auth/anonymous' },
        { use: 'outgoing-auth/unauthenticated' },
        { use: source.plugin.address },
        { use: 'aggregation' },
        ...(plan.plugins ?? []),
      ],
    },
    {
      catalogue,
      plugins: [source.plugin],
      log: createLog(options.logLevel ?? 'warn', (line) => lines.push(line)),
      ...(options.now === undefined ? {} : { now: options.now }),
    },
  );
  if (options.isImpatient !== true) await gateway.settled();
  const listener = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
  const url = `${listener.url}/mcp`;
  return {
    gateway,
    url,
    lines,
    setBackends: (next) => source.push(named(next)),
    client: (clientOptions) => nearClient(url, clientOptions),
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await listener.close(200);
    },
  };
}

/** A client with its own connections, which close with it. */
export async function nearClient(url: string, options: TestClientOptions = {}): Promise<NearClient> {
  const agent = new Agent({ keepAlive: true });
  const client = await testClient(fetchOver(agent), url, options);
  return {
    request: (method, params, signal) => client.request(method, params, signal),
    notify: (method, params) => client.notify(method, params),
    callTool: (name, given, meta) => client.callTool(name, given, meta),
    toolNames: () => client.toolNames(),
    async close() {
      await client.close();
      agent.destroy();
    },
    drop: () => agent.destroy(),
  };
}

/**
 * Calls a tool that floods its caller with log messages and progress. Returns only the end of the response, because
 * parsing all of it would be measured too.
 */
export function flooded(url: string, name: string): Promise<string> {
  const { headers, body } = modernRequests().call(name, 'progress');
  const wanting = body.replace('"_meta":{', '"_meta":{"io.modelcontextprotocol/logLevel":"debug",');
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method: 'POST', headers }, (answer) => {
      let end = '';
      answer.on('data', (chunk: Buffer) => {
        end = (end + chunk.toString('latin1')).slice(-TAIL_CHARS);
      });
      answer.once('end', () => resolve(end));
    });
    sent.once('error', reject);
    sent.end(wanting);
  });
}

const TAIL_CHARS = 4_096;

/** `fetch` by `node:http` and one agent. Aborting closes the connection. */
export function fetchOver(agent: Agent): (request: Request) => Promise<Response> {
  return async (request) => {
    const body = Buffer.from(await request.arrayBuffer());
    const headers = { ...Object.fromEntries(request.headers), 'content-length': String(body.length) };
    const { method, signal } = request;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = httpRequest(request.url, { method, headers, agent }, resolve);
      const abort = (): void => void sent.destroy(new Error('aborted'));
      signal.addEventListener('abort', abort);
      sent.once('close', () => signal.removeEventListener('abort', abort));
      sent.on('error', reject);
      sent.end(body);
    });
    const plain = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string]);
    const status = answer.statusCode ?? 0;
    const hasBody = status !== 204 && status !== 304;
    return new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream<Uint8Array>) : null, {
      status,
      headers: plain,
    });
  };
}

function named(backends: Backends): readonly Backend[] {
  return Object.entries(backends).map(([name, backend]) => ({ ...backend, name }));
}
