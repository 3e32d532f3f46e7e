// A hand-written MCP server whose tools misbehave as their names say, over HTTP or stdio.
// Arguments: http|stdio, ERA (legacy|modern|both), LEDGER (a file that gets a line per start, hello and call; '' = none),
// HELLO_MS (delay of its hello; default 0).
import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';

const [transport = 'http', era = 'both', ledger = '', helloMs = '0'] = process.argv.slice(2);

/** A request as it came. */
interface Asked {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: Readonly<Record<string, unknown>>;
    readonly _meta?: Readonly<Record<string, unknown>>;
    readonly [key: string]: unknown;
  };
}

/** The response channel of one request. */
interface Way {
  readonly isModern: boolean;
  /** Sends the complete response. */
  answer(id: Asked['id'], result: string, headers?: Record<string, string>): void;
  /** Sends one of several messages; `false` when the reader is slow. */
  say(message: string): boolean;
  /** Sends raw bytes of the current message. */
  bytes(chunk: Buffer | string): boolean;
  drained(go: () => void): void;
  /** Whether the other side is still connected. */
  isOpen(): boolean;
  end(): void;
  /** Closes the connection. */
  cut(): void;
}

const note = (what: string): void => {
  if (ledger !== '') appendFileSync(ledger, `${what}\n`);
};
const words = (text: string, way: Way): string =>
  `{${way.isModern ? '"resultType":"complete",' : ''}"content":[{"type":"text","text":"${text}"}]}`;
const whole = (id: Asked['id'], result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;
const later = (ms: number, run: () => void): void => void setTimeout(run, ms).unref();

const held: { readonly asked: Asked; readonly way: Way }[] = [];
let withdrawn = 0;
let wide: string | undefined;

const TOOLS: Record<string, (asked: Asked, way: Way) => void> = {
  quick: ({ id }, way) => way.answer(id, words('quick', way)),
  slow: ({ id, params }, way) => later(Number(params?.arguments?.ms ?? 500), () => way.answer(id, words('slow', way))),
  pid: ({ id }, way) => way.answer(id, words(String(process.pid), way)),
  hang: () => undefined,
  /** The valid response, byte by byte. */
  trickle: ({ id }, way) => drip(way, Buffer.from(whole(id, words('trickled', way))), 1, () => way.end()),
  /** Bytes of a response that does not end until the call is cancelled. */
  drip: ({ id }, way) => drip(way, Buffer.from(`{"jsonrpc":"2.0","id":${id},"result":{"x":"${'y'.repeat(1e6)}`), 20),
  /** Log messages as fast as they are read, without a response. */
  flood: (_, way) => flood(way, () => '{"level":"error","data":"flooded, and flooded again"}', 'message'),
  /** Progress as fast as it is read, without a response. */
  progressFlood: ({ params }, way) => {
    const token = JSON.stringify(params?._meta?.progressToken ?? 'none');
    let progress = 0;
    flood(way, () => `{"progressToken":${token},"progress":${++progress}}`, 'progress');
  },
  /** `mebibytes` of text. */
  big: ({ id, params }, way) => {
    const block = 'z'.repeat(1_048_576);
    const [head = '', tail = ''] = whole(id, words('|', way)).split('|');
    let left = Number(params?.arguments?.mebibytes ?? 100);
    way.bytes(head);
    const more = (): void => {
      while (left > 0 && way.isOpen()) {
        left--;
        if (!way.bytes(block)) return way.drained(more);
      }
      way.bytes(tail);
      way.end();
    };
    more();
  },
  /** A result with `members` members in its `_meta`. */
  wide: ({ id, params }, way) => {
    const count = Number(params?.arguments?.members ?? 80_000);
    wide ??= Array.from({ length: count }, (_, n) => `"m${n}":1`).join(',');
    way.answer(id, words('wide', way).replace('{', `{"_meta":{${wide}},`));
  },
  reset: (_, way) => way.cut(),
  halfReset: ({ id }, way) => {
    way.bytes(whole(id, words('half', way)).slice(0, 30));
    later(20, () => way.cut());
  },
  /** Answers three calls in the opposite order. */
  reversed: (asked, way) => {
    held.push({ asked, way });
    if (held.length < 3) return;
    for (const each of held.splice(0).reverse()) {
      each.way.answer(each.asked.id, words(String(each.asked.params?.arguments?.mark), each.way));
    }
  },
  twice: ({ id }, way) => {
    way.say(whole(id, words('first', way)));
    way.say(whole(id, words('second', way)));
    way.say(whole(999_999, words('unrequested', way)));
    way.end();
  },
};

function drip(way: Way, bytes: Buffer, everyMs: number, done: () => void = () => {}): void {
  const before = withdrawn;
  let at = 0;
  const next = (): void => {
    if (!way.isOpen()) return;
    if (withdrawn > before) return way.end();
    way.bytes(bytes.subarray(at, ++at));
    if (at < bytes.length) later(everyMs, next);
    else done();
  };
  next();
}

/** Continues until the connection ends or the call is cancelled. */
function flood(way: Way, params: () => string, kind: string): void {
  const before = withdrawn;
  const more = (): void => {
    for (let n = 0; n < 1_000; n++) {
      if (!way.isOpen() || withdrawn > before) return;
      if (!way.say(`{"jsonrpc":"2.0","method":"notifications/${kind}","params":${params()}}`)) return way.drained(more);
    }
    setImmediate(more);
  };
  more();
}

/** With RESOURCES=1 it has one resource that can be watched, and never changes. */
const hasResources = process.env.RESOURCES === '1';
const CAPABILITIES = `"capabilities":{"tools":{"listChanged":true},"logging":{}${hasResources ? ',"resources":{"subscribe":true}' : ''}}`;
const HINTS = ',"ttlMs":0,"cacheScope":"private"';
let sessions = 0;

const METHODS: Record<string, (asked: Asked, way: Way) => void> = {
  initialize({ id }, way) {
    note('initialize');
    const hello = `{"protocolVersion":"2025-11-25","serverInfo":{"name":"hard","version":"1"},${CAPABILITIES}}`;
    later(Number(helloMs), () => way.answer(id, hello, { 'mcp-session-id': `s${++sessions}` }));
  },
  'server/discover'({ id }, way) {
    const hello = `{"resultType":"complete","supportedVersions":["2026-07-28"],${CAPABILITIES}${HINTS}}`;
    if (era === 'legacy') return void way.say(unknownMethod(id));
    later(Number(helloMs), () => way.answer(id, hello));
  },
  'tools/list'({ id }, way) {
    const tools = Object.keys(TOOLS).map((name) => `{"name":"${name}","inputSchema":{"type":"object"}}`);
    way.answer(id, `{${way.isModern ? '"resultType":"complete",' : ''}"tools":[${tools}]${way.isModern ? HINTS : ''}}`);
  },
  'tools/call'(asked, way) {
    const { name = '', arguments: given = {} } = asked.params ?? {};
    note(`call ${name} ${String(given.mark ?? '')}`);
    TOOLS[name]?.(asked, way);
  },
  'resources/list': ({ id }, way) => way.answer(id, '{"resources":[{"uri":"memo://1","name":"one"}]}'),
  'resources/templates/list': ({ id }, way) => way.answer(id, '{"resourceTemplates":[]}'),
  'resources/subscribe': ({ id }, way) => way.answer(id, '{}'),
  'resources/unsubscribe': ({ id }, way) => way.answer(id, '{}'),
  'logging/setLevel': ({ id }, way) => way.answer(id, '{}'),
  ping: ({ id }, way) => way.answer(id, '{}'),
  'subscriptions/listen'({ id }, way) {
    const meta = `{"io.modelcontextprotocol/subscriptionId":${JSON.stringify(id)}}`;
    const params = `{"notifications":{"toolsListChanged":true},"_meta":${meta}}`;
    way.say(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":${params}}`);
  },
};

function unknownMethod(id: Asked['id']): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"unknown method"}}`;
}

function take(asked: Asked, way: Way): void {
  const run = METHODS[asked.method ?? ''];
  if (run !== undefined) return run(asked, way);
  way.say(unknownMethod(asked.id));
  way.end();
}

/** One request over HTTP. Messages in parts are sent on an event stream. */
function httpWay(request: IncomingMessage, response: ServerResponse): Way {
  let isStreaming = false;
  let isInMessage = false;
  const open = (): void => {
    if (isStreaming) return;
    isStreaming = true;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
  };
  const way: Way = {
    isModern: request.headers['mcp-protocol-version'] === '2026-07-28',
    answer(id, result, headers = {}) {
      if (isStreaming) {
        way.say(whole(id, result));
        return way.end();
      }
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.end(whole(id, result));
    },
    say(message) {
      open();
      return response.write(`data: ${message}\n\n`);
    },
    bytes(chunk) {
      open();
      if (!isInMessage) response.write('data: ');
      isInMessage = true;
      return response.write(chunk);
    },
    drained: (go) => void response.once('drain', go),
    isOpen: () => !response.destroyed && !response.closed,
    end: () => void response.end(isInMessage ? '\n\n' : ''),
    cut: () => void request.socket.resetAndDestroy(),
  };
  return way;
}

function serveHttp(): void {
  const server = createServer((request, response) => {
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 200 : 405).end();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const asked = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Asked;
      if (asked.id === undefined) {
        if (asked.method === 'notifications/cancelled') withdrawn++;
        return void response.writeHead(202).end();
      }
      take(asked, httpWay(request, response));
    });
  });
  server.listen(0, '127.0.0.1', () => console.log(`listening ${(server.address() as AddressInfo).port}`));
}

function serveStdio(): void {
  const { stdout } = process;
  const isModern = era === 'modern';
  const way: Way = {
    isModern,
    answer: (id, result) => void stdout.write(`${whole(id, result)}\n`),
    say: (message) => stdout.write(`${message}\n`),
    bytes: (chunk) => stdout.write(chunk),
    drained: (go) => void stdout.once('drain', go),
    isOpen: () => true,
    end: () => void stdout.write('\n'),
    cut: () => process.exit(3),
  };
  createInterface({ input: process.stdin }).on('line', (line) => {
    const asked = JSON.parse(line) as Asked;
    if (asked.method === 'notifications/cancelled') withdrawn++;
    if (asked.id !== undefined) take(asked, way);
  });
  // Like servers with timers, it does not end with its input.
  if (process.env.DEAF === '1') setInterval(() => undefined, 1_000);
}

note('start');
if (transport === 'http') serveHttp();
else serveStdio();
