import { expect, it } from 'vitest';
import { SEED } from '../support/fast-check.ts';
import { until } from '../support/until.ts';
import { CELLS, IS_LONG, quantile } from './rig/cells.ts';
import { benchBackend, type GatewayProgram, gatewayProgram, hardStdio } from './rig/programs.ts';
import { type NearClient, nearClient } from './rig/served.ts';

const WARM_UP_MS = IS_LONG ? 30_000 : 1_500;
const SOAK_MS = IS_LONG ? 300_000 : 3_000;
const SAMPLE_MS = IS_LONG ? 5_000 : 125;
/** A busy machine takes longer for as many. */
const LEAST_CALLS = SOAK_MS / 10;
/** Clients per cell, each with one call at a time. */
const CLIENTS = 4;
/** Allowed heap growth of caches in bytes; the long form would exceed it with a real leak. */
const HEAP_SLACK = 3_000_000;

/** Allowed growth of p99 in the last quarter. The short form runs concurrently with other tests. */
const P99_DRIFT = IS_LONG ? { factor: 3, ms: 25 } : { factor: 5, ms: 100 };

/** One call of the mix, and when it was made. */
interface Timed {
  readonly atMs: number;
  readonly tookMs: number;
}

/** Calls of a client in order; most of them are small. */
function deed(client: NearClient, workload: string, turn: number): Promise<unknown> {
  if (turn % 400 === 399) return client.callTool(`${workload}_tool_1`); // 1 MB
  if (turn % 20 === 19) return client.toolNames();
  if (turn % 10 === 9) return client.callTool(`${workload}_tool_2`, {}, { progressToken: turn });
  if (turn % 10 === 4) return client.callTool('piped_quick');
  return client.callTool(`${workload}_tool_0`, { text: 'The quick brown fox', n: turn });
}

/** Until stopped: opens a client, makes some calls, closes it, and repeats. */
async function work(url: string, cell: (typeof CELLS)[number], isOver: () => boolean, done: (timed: Timed) => void) {
  let turn = SEED % 100;
  while (!isOver()) {
    const client = await nearClient(url, { era: cell.near });
    const listen = new AbortController();
    const params = { notifications: { toolsListChanged: true } };
    const isListening = cell.near === '2026-07-28';
    const listening = isListening
      ? client.request('subscriptions/listen', params, listen.signal).catch(() => undefined)
      : undefined;
    for (let n = 0; n < 200 && !isOver(); n++) {
      const startedMs = performance.now();
      const given = await deed(client, cell.workload, ++turn);
      if ((given as { readonly isError?: boolean } | undefined)?.isError === true)
        throw new Error(JSON.stringify(given));
      done({ atMs: startedMs, tookMs: performance.now() - startedMs });
    }
    listen.abort();
    await listening;
    await client.close();
  }
}

/** The slope of a straight line through the samples, in bytes per minute (least squares). */
function slopePerMinute(samples: readonly { readonly atMs: number; readonly bytes: number }[]): number {
  const meanAt = samples.reduce((sum, { atMs }) => sum + atMs, 0) / samples.length;
  const meanBytes = samples.reduce((sum, { bytes }) => sum + bytes, 0) / samples.length;
  const above = samples.reduce((sum, { atMs, bytes }) => sum + (atMs - meanAt) * (bytes - meanBytes), 0);
  const below = samples.reduce((sum, { atMs }) => sum + (atMs - meanAt) ** 2, 0);
  return (above / below) * 60_000;
}

/** Heap and buffers after a full collection, when what was open has been closed. */
async function restingBytes(gateway: GatewayProgram): Promise<number> {
  await until(async () => {
    const { callsInFlight, streams, sessions } = await gateway.counts();
    return callsInFlight === 0 && streams === 0 && sessions === 0;
  });
  const { heapUsed, external } = await gateway.memory();
  return heapUsed + external;
}

it(`mixed calls in the four cells for ${(WARM_UP_MS + SOAK_MS) / 1000} s leave memory and times stable`, {
  timeout: WARM_UP_MS + SOAK_MS + 60_000,
}, async () => {
  const far = await benchBackend();
  const http = { transport: 'streamable-http', url: far.url } as const;
  const gateway = await gatewayProgram(
    [
      { ...http, name: 'old', era: 'legacy' },
      { ...http, name: 'new', era: 'modern' },
      { ...hardStdio().backend, name: 'piped', era: 'legacy' },
    ],
    { plugins: [{ use: 'audit', with: { logFile: '/dev/null' } }] },
  );

  /** Works on all cells for a while; gives the calls and samples of resident memory. */
  const soak = async (ms: number) => {
    const calls: Timed[] = [];
    const samples: { readonly atMs: number; readonly bytes: number }[] = [];
    let isOver = false;
    const workers = CELLS.flatMap((cell) =>
      Array.from({ length: CLIENTS }, () =>
        work(
          gateway.url,
          cell,
          () => isOver,
          (timed) => calls.push(timed),
        ),
      ),
    );
    const startedMs = performance.now();
    while (performance.now() - startedMs < ms || calls.length < LEAST_CALLS) {
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
      const { rss } = await gateway.memoryNow();
      samples.push({ atMs: performance.now() - startedMs, bytes: rss });
    }
    isOver = true;
    await Promise.all(workers);
    return { calls, samples, startedMs, tookMs: performance.now() - startedMs };
  };

  const warmUp = await soak(WARM_UP_MS);
  const before = await restingBytes(gateway);
  const { calls, samples, startedMs, tookMs } = await soak(SOAK_MS);
  const after = await restingBytes(gateway);

  const quarter = tookMs / 4;
  const p99Of = (from: number, to: number): number =>
    quantile(
      calls.filter(({ atMs }) => atMs - startedMs >= from && atMs - startedMs < to).map(({ tookMs }) => tookMs),
      0.99,
    );
  const [first, last] = [p99Of(0, quarter), p99Of(tookMs - quarter, tookMs)];
  const mega = (bytes: number): string => (bytes / 1e6).toFixed(2);
  console.log(
    [
      `soak: ${calls.length} calls in ${(tookMs / 1000).toFixed(1)} s after ${warmUp.calls.length} of warm-up`,
      `heap and buffers ${mega(before)} -> ${mega(after)} MB`,
      `resident ${mega(samples[0]?.bytes ?? 0)} -> ${mega(samples.at(-1)?.bytes ?? 0)} MB, ${mega(slopePerMinute(samples))} MB per minute`,
      `p99 of the first quarter ${first.toFixed(1)} ms, of the last ${last.toFixed(1)} ms`,
    ].join('\n'),
  );
  expect(after - before).toBeLessThan(HEAP_SLACK);
  expect(last).toBeLessThan(P99_DRIFT.factor * first + P99_DRIFT.ms);
});
