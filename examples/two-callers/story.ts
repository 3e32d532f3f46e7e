// Two callers of one gateway, authenticated by an identity provider: which tools each of them sees and may call, how often,
// and the records in the audit trail and the metrics.
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { identityProvider } from './identity-provider.ts';
import { serve } from './served.ts';
import { auditTrail, counters } from './trail.ts';

const AUDIENCE = 'https://gateway.example.com/mcp'; // as in vmcp.yaml
const AGENTS = { ada: { name: 'Ada', groups: ['editors'] }, bob: { name: 'Bob', groups: ['readers'] } };
const REFILL_SECONDS = 1800; // one of two tokens in an hour
const METRICS_MS = 10_000;

await using scratch = await scratchFolder();
await using provider = await identityProvider(AGENTS, AUDIENCE);
await using served = await serve(await localCopy(join(import.meta.dirname, 'vmcp.yaml')));

await checkWithoutToken();
// Ada's client uses MCP 2026-07-28, Bob's 2025-11-25: refusals have the form of each revision.
const ada = await connect('ada', 'auto');
const bob = await connect('bob', 'legacy');
const [ofAda, ofBob] = [await toolsOf(ada), await toolsOf(bob)];
show('tools', [
  `Ada | ${ofAda.length} of all three servers`,
  `Bob | ${ofBob.length} that are read-only: ${ofBob.join(', ')}`,
]);
assert.ok(ofBob.length > 0 && ofBob.length < ofAda.length, 'Bob sees some of the tools that Ada sees');
assert.deepEqual(
  ofBob.filter((name) => !ofAda.includes(name) || /write|edit|create|delete|move|add/.test(name)),
  [],
  'none of them changes anything',
);
assert.ok(ofAda.includes('files_write_file') && ofAda.includes('memory_delete_entities'), 'Ada sees what does');

const notes = { path: join(scratch.path, 'notes.txt') };
const story = [
  ['Ada', 'writes notes.txt', await call(ada, 'files_write_file', { ...notes, content: 'tea' }), 'done'],
  ['Ada', 'writes a secret', await call(ada, 'files_write_file', { path: 'deploy.env', content: 'x' }), 'denied'],
  ['Bob', 'reads notes.txt', await call(bob, 'files_read_text_file', notes), 'done'],
  ['Bob', 'writes notes.txt', await call(bob, 'files_write_file', { ...notes, content: 'ale' }), 'denied'],
  ['Ada', 'reads the graph', await call(ada, 'memory_read_graph'), 'done'],
  ['Ada', 'reads the graph', await call(ada, 'memory_read_graph'), 'done'],
  ['Ada', 'reads the graph', await call(ada, 'memory_read_graph'), 'limited'],
  ['Bob', 'reads the graph', await call(bob, 'memory_read_graph'), 'done'],
  ['Bob', 'reads the graph', await call(bob, 'memory_read_graph'), 'done'],
  ['Bob', 'reads the graph', await call(bob, 'memory_read_graph'), 'limited'],
] as const;
show(
  'calls',
  story.map(([who, what, { end, words }]) => `${who} | ${what} | ${end} | ${words}`),
);
for (const [who, what, { end }, expected] of story) assert.equal(end, expected, `${who} ${what}`);
assert.equal(await readFile(notes.path, 'utf8'), 'tea', 'what was denied did not happen');
await ada.close();
await bob.close();

const metrics = await untilSettled();
show(
  'metrics',
  Object.entries(metrics).map(([name, value]) => `${name} | ${value}`),
);
await served.stop(); // flushes the audit trail

const auditFile = join(scratch.path, 'audit.log');
const trail = await auditTrail(auditFile);
show('audit', trail);
const DENIED = 'denied: call denied by authorization policy';
const LIMITED = 'failure: rate limit exceeded';
assert.deepEqual(trail, [
  'Ada | mcp_tools_list | success',
  'Bob | mcp_tools_list | success',
  'Ada | files_write_file | success',
  `Ada | files_write_file | ${DENIED}`,
  'Bob | files_read_text_file | success',
  `Bob | files_write_file | ${DENIED}`,
  'Ada | memory_read_graph | success',
  'Ada | memory_read_graph | success',
  `Ada | memory_read_graph | ${LIMITED}`,
  'Bob | memory_read_graph | success',
  'Bob | memory_read_graph | success',
  `Bob | memory_read_graph | ${LIMITED}`,
]);
assert.doesNotMatch(await readFile(auditFile, 'utf8'), /eyJ/, 'no token is in the audit file');
console.log('two-callers: two lists, ten calls, two denied, two limited, all of them recorded');

/** A request without a token is refused, and the challenge says where to get one. */
async function checkWithoutToken(): Promise<void> {
  const answer = await fetch(served.endpoint, { method: 'POST', body: '{}' });
  assert.equal(answer.status, 401, 'a request without a token');
  assert.match(
    answer.headers.get('www-authenticate') ?? '',
    /resource_metadata=/,
    'the challenge names the resource metadata',
  );
}

async function connect(id: 'ada' | 'bob', mode: 'auto' | 'legacy'): Promise<Client> {
  const client = new Client({ name: `agent of ${id}`, version: '1.0.0' }, { versionNegotiation: { mode } });
  const requestInit = { headers: { authorization: `Bearer ${await provider.token(id)}` } };
  await client.connect(new StreamableHTTPClientTransport(served.endpoint, { requestInit }));
  return client;
}

async function toolsOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name);
}

/** How a call ended, and the text to print. */
interface Ending {
  readonly end: 'done' | 'denied' | 'limited';
  readonly words: string;
}

/** @throws Error when the call was neither done, denied nor limited */
async function call(client: Client, name: string, args: Record<string, unknown> = {}): Promise<Ending> {
  try {
    const result = await client.callTool({ name, arguments: args });
    if (result.isError !== true) return { end: 'done', words: textOf(result) };
    return limited(result.structuredContent); // the form of 2025-11-25
  } catch (cause) {
    if (!(cause instanceof Error) || !('data' in cause)) throw cause;
    const { message } = cause;
    if (message.includes('denied by authorization policy')) return { end: 'denied', words: 'HTTP 403' };
    return limited({ ...cause, message }); // the form of 2026-07-28
  }
}

function limited(error: unknown): Ending {
  const { code, data } = error as { readonly code?: unknown; readonly data?: { readonly retryAfterSeconds?: unknown } };
  const seconds = Number(data?.retryAfterSeconds);
  if (code !== 429) throw new Error(`neither done, denied nor limited: ${JSON.stringify(error)}`);
  assert.ok(seconds >= 1 && seconds <= REFILL_SECONDS, `a limited call says when to retry, got ${seconds}`);
  return { end: 'limited', words: `again in ${seconds} s` };
}

function textOf({ content }: CallToolResult): string {
  const [first] = content;
  return first?.type === 'text' ? first.text.replaceAll(/\s+/g, ' ') : '';
}

/** Calls are counted after they are answered, so this waits until all are counted. */
async function untilSettled(): Promise<Record<string, number>> {
  const [calls, refused] = ['toolmgr_mcp_tool_calls_total', 'toolmgr_mcp_calls_refused_total'];
  const expected = {
    [`${calls} | tool=files_write_file | status=success`]: 1,
    [`${calls} | tool=files_write_file | status=refused`]: 2,
    [`${calls} | tool=files_read_text_file | status=success`]: 1,
    [`${calls} | tool=memory_read_graph | status=success`]: 4,
    [`${calls} | tool=memory_read_graph | status=refused`]: 2,
    [`${refused} | mcp_method=tools/call | status_code=403`]: 2,
    [`${refused} | mcp_method=tools/call | status_code=429`]: 2,
  };
  for (const giveUpAt = performance.now() + METRICS_MS; ; await pause(50)) {
    const found = await counters(new URL('/metrics', served.endpoint), [calls, refused]);
    try {
      assert.deepEqual(found, expected);
      return found;
    } catch (cause) {
      if (performance.now() > giveUpAt) throw cause;
    }
  }
}

/** Writes a copy of the vmcp file with the address of this provider and this folder. */
async function localCopy(file: string): Promise<string> {
  const text = await readFile(file, 'utf8');
  const here = text.replaceAll('http://127.0.0.1:9400', provider.issuer).replaceAll('/tmp/two-callers', scratch.path);
  const served = join(scratch.path, 'vmcp.yaml');
  await writeFile(served, here);
  return served;
}

async function scratchFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'toolmgr-two-callers-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Prints rows with cells separated by ` | ` as columns. */
function show(title: string, rows: readonly string[]): void {
  const cells = rows.map((row) => row.split(' | '));
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = cells.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`);
  console.log([`\n${title}`, ...lines.map((line) => line.trimEnd())].join('\n'));
}
