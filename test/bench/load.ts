import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchProcess } from './processes.ts';
import { lua, wrk } from './wrk.ts';

/** One request, sent repeatedly. */
export interface LoadRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Result of one run of the load tool. */
export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Responses other than 2xx, and broken connections. */
  readonly failures: number;
  /** CPU time of the measured process per request, in microseconds. */
  readonly cpuMicrosPerRequest: number;
  readonly residentBytes: number;
}

/** Runs wrk (one thread, on the other core) against a process and reads that process's CPU time around it. */
export async function measure(
  measured: Omit<BenchProcess, keyof AsyncDisposable>,
  request: LoadRequest,
  connections: number,
  seconds: number,
): Promise<LoadResult> {
  const scratch = mkdtempSync(join(tmpdir(), 'toolmgr-bench-'));
  const script = join(scratch, 'request.lua');
  writeFileSync(script, luaScript(request));
  try {
    const cpuBefore = measured.cpuMicros();
    const out = await wrk(['-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, '--timeout', '30s', measured.url]);
    const cpu = measured.cpuMicros() - cpuBefore;
    const summary = JSON.parse(out.slice(out.lastIndexOf('RESULT ') + 7)) as Record<string, number>;
    const { requests = 0, duration = 1, p50 = 0, p99 = 0, failures = 0 } = summary;
    return {
      requests,
      requestsPerSecond: requests / (duration / 1e6),
      p50Ms: p50 / 1000,
      p99Ms: p99 / 1000,
      failures,
      cpuMicrosPerRequest: requests === 0 ? 0 : cpu / requests,
      residentBytes: measured.residentBytes(),
    };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function luaScript({ headers, body }: LoadRequest): string {
  const parts = body.split(/(?<="id":)1(?=,)|#N#/);
  const lines = Object.entries(headers).map(([name, value]) => `wrk.headers[ ${lua(name)} ] = ${lua(value)}`);
  return [
    'wrk.method = "POST"',
    ...lines,
    // Ids must differ: a legacy session refuses two requests in flight under one id.
    `local parts = { ${parts.map(lua).join(', ')} }`,
    'local id = 0',
    'request = function()',
    '  id = id + 1',
    '  return wrk.format(nil, nil, nil, table.concat(parts, id))',
    'end',
    'done = function(summary, latency, requests)',
    '  local e = summary.errors',
    '  local failures = e.connect + e.read + e.write + e.status + e.timeout',
    '  io.write(string.format(\'RESULT {"requests":%d,"duration":%d,"p50":%d,"p99":%d,"failures":%d}\\n\',',
    '    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), failures))',
    'end',
    '',
  ].join('\n');
}
