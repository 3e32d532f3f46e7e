import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreMicros, MEASURED_CORE, OTHER_CORE, processTree } from './processes.ts';
import { lua, wrk } from './wrk.ts';

/** Calls of an echo tool at one URL in one era. */
export interface EchoCalls {
  readonly url: string;
  /** Headers of a call, one set for each session; they are used in turn. */
  headers(tool: string): readonly Readonly<Record<string, string>>[];
  /** Body of a call; `@ID@` and `@TEXT@` are replaced in each request. */
  body(tool: string): string;
  toolNames(): Promise<readonly string[]>;
  /** What is wrong with the answer to one call. */
  fault(tool: string): Promise<string | undefined>;
}

/** Result of a load. */
export interface Checked {
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  /** Answers with another status than 200, without the text of a call, or with a text that another answer had. */
  readonly wrong: number;
  /** Broken connections and timeouts. */
  readonly failed: number;
  readonly cpuMicrosPerCall: number | undefined;
  /** After the load; of the process and its children. */
  readonly residentBytes: number | undefined;
  /** Share of the measured core that other programs had, with what the hypervisor took. */
  readonly disturbed: number | undefined;
  /** Share of the core of the backend and of wrk that was used: at 1 the calls per second are their limit. */
  readonly loaderBusy: number;
}

const COMMON = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const META =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},' +
  '"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"}}';

/** MCP 2026-07-28: no sessions. */
export function modernEcho(url: string): EchoCalls {
  const headers = (method: string) => ({ ...COMMON, 'mcp-protocol-version': '2026-07-28', 'mcp-method': method });
  return echoCalls(url, {
    calling: (tool) => [{ ...headers('tools/call'), 'mcp-name': tool }],
    listing: headers('tools/list'),
    meta: META,
  });
}

/** MCP 2025-11-25: opens sessions, which the calls use in turn. */
export async function legacyEcho(url: string, sessions: number): Promise<EchoCalls> {
  const all = await Promise.all(Array.from({ length: sessions }, () => openSession(url)));
  return echoCalls(url, { calling: () => all, listing: all[0] ?? COMMON, meta: '' });
}

async function openSession(url: string): Promise<Readonly<Record<string, string>>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const post = (headers: Readonly<Record<string, string>>, message: object) =>
    fetch(url, { method: 'POST', headers, body: JSON.stringify({ jsonrpc: '2.0', ...message }) });
  const opened = await post(COMMON, { id: 0, method: 'initialize', params });
  const text = await opened.text();
  if (opened.status !== 200) throw new Error(`initialize: ${opened.status} ${text.slice(0, 200)}`);
  const session = opened.headers.get('mcp-session-id');
  const version = /"protocolVersion":\s*"([^"]+)"/.exec(text)?.[1] ?? '2025-11-25';
  const headers = {
    ...COMMON,
    'mcp-protocol-version': version,
    ...(session === null ? {} : { 'mcp-session-id': session }),
  };
  await (await post(headers, { method: 'notifications/initialized' })).text();
  return headers;
}

interface Parts {
  calling(tool: string): readonly Readonly<Record<string, string>>[];
  readonly listing: Readonly<Record<string, string>>;
  /** Member of the params, or empty. */
  readonly meta: string;
}

function echoCalls(url: string, { calling, listing, meta }: Parts): EchoCalls {
  const body = (tool: string): string => {
    const given = `"name":"${tool}","arguments":{"text":"@TEXT@"}${meta === '' ? '' : `,${meta}`}`;
    return `{"jsonrpc":"2.0","id":@ID@,"method":"tools/call","params":{${given}}}`;
  };
  const post = async (headers: Readonly<Record<string, string>>, text: string) => {
    const response = await fetch(url, { method: 'POST', headers, body: text });
    return { status: response.status, text: await response.text() };
  };
  return {
    url,
    headers: calling,
    body,
    async toolNames() {
      const listed = await post(listing, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{${meta}}}`);
      if (listed.status !== 200) throw new Error(`tools/list: ${listed.status} ${listed.text.slice(0, 200)}`);
      return [...listed.text.matchAll(/"name":\s*"([^"]+)"/g)].map(([, name = '']) => name);
    },
    async fault(tool) {
      const [headers = COMMON] = calling(tool);
      const { status, text } = await post(headers, body(tool).replace('@ID@', '7').replace('@TEXT@', 'n7n'));
      const isRight = status === 200 && text.includes('n7n') && !/"isError":\s*true/.test(text);
      return isRight ? undefined : `${status} ${text}`;
    },
  };
}

/** Loads an echo tool with wrk (one thread, on the other core) and checks every answer. */
export async function checkedLoad(load: {
  readonly calls: EchoCalls;
  readonly tool: string;
  readonly connections: number;
  readonly payloadBytes: number;
  readonly seconds: number;
  readonly pid: number | undefined;
}): Promise<Checked> {
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-bench-'));
  const script = join(scratch, 'echo.lua');
  writeFileSync(script, luaScript(load));
  const tree = load.pid === undefined ? undefined : processTree(load.pid);
  try {
    const before = tree?.cpuMicros() ?? 0;
    const coresBefore = [MEASURED_CORE, OTHER_CORE].map(coreMicros);
    const startedMs = performance.now();
    const flags = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '30s', '-s', script];
    const out = await wrk([...flags, load.calls.url]);
    const elapsedMicros = (performance.now() - startedMs) * 1000;
    const [measured, loader] = [MEASURED_CORE, OTHER_CORE].map((core, n) => {
      const { busy, stolen } = coreMicros(core);
      return { busy: busy - (coresBefore[n]?.busy ?? 0), stolen: stolen - (coresBefore[n]?.stolen ?? 0) };
    });
    const cpu = (tree?.cpuMicros() ?? 0) - before;
    const counts = JSON.parse(out.slice(out.lastIndexOf('RESULT ') + 7)) as Record<string, number>;
    const { calls = 0, micros = 1, p50 = 0, p95 = 0, p99 = 0, wrong = 0, failed = 0 } = counts;
    return {
      calls,
      callsPerSecond: calls / (micros / 1e6),
      p50Ms: p50 / 1000,
      p95Ms: p95 / 1000,
      p99Ms: p99 / 1000,
      wrong,
      failed,
      cpuMicrosPerCall: tree === undefined || calls === 0 ? undefined : cpu / calls,
      residentBytes: tree?.residentBytes(),
      disturbed:
        tree === undefined || measured === undefined
          ? undefined
          : Math.max(0, measured.busy + measured.stolen - cpu) / elapsedMicros,
      loaderBusy: loader === undefined ? 0 : (loader.busy + loader.stolen) / elapsedMicros,
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function luaScript({ calls, tool, payloadBytes }: Parameters<typeof checkedLoad>[0]): string {
  const [before = '', between = '', after = ''] = calls.body(tool).split(/@ID@|@TEXT@/);
  const sessions = calls.headers(tool).map((headers) => {
    const members = Object.entries(headers).map(([name, value]) => `[ ${lua(name)} ] = ${lua(value)}`);
    return `{ ${members.join(', ')} }`;
  });
  return `
local sessions = { ${sessions.join(',\n')} }
local fill = string.rep("x", ${payloadBytes})
local id, wrong, seen = 0, 0, {}
function setup(thread) worker = thread end
function request()
  id = id + 1
  local text = "n" .. id .. "n" .. fill
  local body = ${lua(before)} .. id .. ${lua(between)} .. text .. ${lua(after)}
  return wrk.format("POST", nil, sessions[id % #sessions + 1], body)
end
function response(status, headers, body)
  local n = status == 200 and string.match(body, '"n(%d+)n' .. string.sub(fill, 1, 64))
  if not n or tonumber(n) > id or seen[n] or #body < #fill or string.find(body, '"isError": ?true') then
    wrong = wrong + 1
    worker_wrong = wrong
  else
    seen[n] = true
  end
end
function done(summary, latency, requests)
  local e = summary.errors
  io.write(string.format('RESULT {"calls":%d,"micros":%d,"p50":%d,"p95":%d,"p99":%d,"wrong":%d,"failed":%d}\\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(95), latency:percentile(99),
    worker:get("worker_wrong") or 0, e.connect + e.read + e.write + e.timeout))
end
`;
}
