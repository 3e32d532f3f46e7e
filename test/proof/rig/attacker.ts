// One caller that overloads a gateway, from its own address. Arguments: KIND, URL. Starts immediately, prints
// `listening 0`, and reports by IPC on request how many of its attempts were answered and how.
import { request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import { modernRequests } from '../../bench/requests.ts';

const [kind = '', target = ''] = process.argv.slice(2);
const url = new URL(target);
/** Another loopback address, so that this is another caller than the measured ones. */
const FROM = '127.0.0.2';
const MEMBERS = 80_000;

setPriority(19); // the cost of the attack itself is not measured

const seen = new Map<string, number>();
const saw = (what: string | number): void => void seen.set(String(what), (seen.get(String(what)) ?? 0) + 1);

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Posts and returns the status and the session; errors count as answers too. */
function post({ headers, body }: Sent, ms = 60_000): Promise<{ readonly status: number; readonly session: string }> {
  return new Promise((resolve) => {
    const end = (what: string): void => {
      saw(what);
      resolve({ status: 0, session: '' });
    };
    const sent = httpRequest(
      { host: url.hostname, port: url.port, path: url.pathname, method: 'POST', headers, localAddress: FROM },
      (answer) => {
        answer.resume();
        answer.once('end', () => {
          saw(answer.statusCode ?? 0);
          resolve({ status: answer.statusCode ?? 0, session: String(answer.headers['mcp-session-id'] ?? '') });
        });
        answer.once('error', () => end('cut'));
      },
    );
    sent.setTimeout(ms, () => sent.destroy());
    sent.once('error', () => end('cut'));
    sent.end(body);
  });
}

/** Repeats a function, `lanes` at a time. */
async function again(lanes: number, what: (n: number) => Promise<unknown>): Promise<void> {
  let n = 0;
  const lane = async (): Promise<void> => {
    for (;;) await what(n++);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const modern = modernRequests();
const wide = Array.from({ length: MEMBERS }, (_, n) => `"m${n}":1`).join(',');
/** The largest allowed number of additional members. */
const most = Array.from({ length: 9_900 }, (_, n) => `"m${n}":1`).join(',');
/** As many numbers, and as much text, as fit into a body of 8 MB. */
const numbers = kind === 'numbers' ? Array(3_900_000).fill(1).join(',') : '';
const text = kind === 'policy' ? '\u6f22'.repeat(2_600_000) : '';
const calling = (tool: string, edit: (body: string) => string = (body) => body): Sent => {
  const { headers, body } = modern.call(tool);
  return { headers, body: edit(body) };
};
const legacy = (method: string, params: object, session?: string): Sent => ({
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(session === undefined ? {} : { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
  },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
});
const HELLO = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'eve', version: '1' } };
const script = (source: string): Sent =>
  calling('execute_tool_script', (body) =>
    body.replace(/"arguments":.*?,"_meta":/, () => `"arguments":${JSON.stringify({ script: source })},"_meta":`),
  );

/** An open connection that never sends a whole head. */
function unfinished(bytes: number): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect({ host: url.hostname, port: Number(url.port), localAddress: FROM });
    socket.once('connect', () =>
      socket.write(`GET ${url.pathname} HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(bytes)}`),
    );
    socket.on('data', () => {});
    socket.on('error', () => {});
    socket.once('close', () => {
      saw('closed');
      resolve();
    });
  });
}

/** A call whose body arrives one byte a chunk. */
function tinyChunks(bytes: number): Promise<void> {
  const { headers, body } = calling('good_quick', (text) => text.padEnd(bytes));
  const head = Object.entries({ ...headers, host: url.host, 'transfer-encoding': 'chunked', connection: 'close' });
  const wire = Buffer.from([...body].map((byte) => `1\r\n${byte}\r\n`).join(''));
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), localAddress: FROM });
    socket.write(
      `POST ${url.pathname} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n`,
    );
    socket.write(wire);
    socket.write('0\r\n\r\n');
    socket.once('data', (chunk) => saw(/ (\d{3}) /.exec(chunk.toString('latin1'))?.[1] ?? 'odd'));
    socket.on('error', () => saw('cut'));
    socket.once('close', () => resolve());
  });
}

/** A connection that sends all of a body except its last byte. */
function unfinishedBody(bytes: number): Promise<void> {
  const { headers } = calling('good_quick');
  const head = Object.entries({ ...headers, host: url.host, 'content-length': String(bytes) });
  const body = Buffer.alloc(bytes - 1, ' ');
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), localAddress: FROM });
    socket.write(
      `POST ${url.pathname} HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n`,
    );
    socket.write(body);
    socket.once('data', (chunk) => {
      saw(/ (\d{3}) /.exec(chunk.toString('latin1'))?.[1] ?? 'odd');
      socket.destroy();
    });
    socket.on('error', () => saw('cut'));
    socket.once('close', () => setTimeout(resolve, 100));
  });
}

const HOGS = 16;
const ATTACKS: Record<string, () => Promise<void>> = {
  params: () => again(4, () => post(calling('good_quick', (body) => body.replace('"params":{', `"params":{${wide},`)))),
  meta: () => again(4, () => post(calling('good_quick', (body) => body.replace('"_meta":{', `"_meta":{${wide},`)))),
  arguments: () =>
    again(4, () => post(calling('good_quick', (body) => body.replace('"arguments":{', `"arguments":{${wide},`)))),
  allowed: () =>
    again(4, () =>
      post(
        calling('good_quick', (body) =>
          body.replace('"arguments":{', `"arguments":{${most},`).replace('"_meta":{', `"_meta":{${most},`),
        ),
      ),
    ),
  result: () => again(4, () => post(calling('good_wide'))),
  loops: () =>
    again(HOGS, () =>
      post(
        script('const a = Array.from({ length: 200000 }, (_, i) => (i * 7919) % 200003); for (;;) a.slice().sort();'),
      ),
    ),
  inner: () =>
    again(2, () =>
      post(
        script(
          `const big = {}; for (let i = 0; i < 5000; i++) big['k' + i] = i;
           for (let i = 0; i < 150; i++) { try { await callTool('no_such_tool', big); } catch {} } return 1;`,
        ),
      ),
    ),
  sessions: () => again(8, () => post(legacy('initialize', HELLO))),
  watched: async () => {
    await again(8, async () => {
      const { session } = await post(legacy('initialize', HELLO));
      await post(legacy('resources/subscribe', { uri: 'memo://1' }, session));
    });
  },
  hanging: () => again(1_500, () => post(calling('good_hang'))),
  slow: () => again(8, () => post(calling('good_hang'))),
  spelled: () =>
    again(4, (n) =>
      post(
        calling('piped_quick', (body) =>
          body.replace('clientCapabilities":{}', `clientCapabilities":{"elicitation":{"form":{"x${n}":1},"y${n}":{}}}`),
        ),
      ),
    ),
  heads: () => again(1_000, () => unfinished(30_000)),
  chunks: () => again(4, () => tinyChunks(1_000_000)),
  results: () =>
    again(10, () =>
      post(calling('good_big', (body) => body.replace('"arguments":{', () => '"arguments":{"mebibytes":86,'))),
    ),
  bodies: () => again(120, () => unfinishedBody(8_000_000)),
  numbers: () =>
    again(4, () =>
      post(calling('good_quick', (body) => body.replace('"arguments":{', `"arguments":{"x":[${numbers}],`))),
    ),
  policy: () =>
    again(4, () => post(calling('good_quick', (body) => body.replace('"arguments":{', `"arguments":{"x":"${text}",`)))),
  tokens: () =>
    again(400, (n) => {
      const { headers, body } = calling('good_quick');
      return post({ headers: { ...headers, authorization: `Bearer rubbish-${process.pid}-${n}` }, body });
    }),
};

process.on('message', () => process.send?.(Object.fromEntries(seen)));
process.on('disconnect', () => process.exit(0));
console.log('listening 0');
await ATTACKS[kind]?.();
