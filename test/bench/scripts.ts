import { availableParallelism } from 'node:os';
import type { Sandbox, ScriptJob, ScriptLimits } from '../../core/index.ts';
import { fakeServer, type TestClient, testGateway } from '../../core/testing/index.ts';
import { quickjsConfig } from '../../plugins/code-mode/quickjs/config.ts';
import { createPool, type Pool } from '../../plugins/code-mode/quickjs/thread-pool.ts';
import { catalogue } from '../../plugins/index.ts';

// Cost of a script: on a new thread, on a ready thread, per tool call, and many at once. Prints one JSON row for each;
// numbers are medians.

const ROUNDS = 100;
const COLD_ROUNDS = 10;
const CALLS = 200; // of one script
const TOGETHER = 50;

const LIMITS: ScriptLimits = {
  steps: 10_000_000,
  wallClockMs: 60_000,
  memoryBytes: 67_108_864,
  resultBytes: 1_048_576,
  logBytes: 65_536,
  concurrency: 10,
  calls: 1_000,
};

const rows = { ...(await startRows()), ...(await gatewayRows()) };
console.log(JSON.stringify({ node: process.version, processors: availableParallelism(), rows }, undefined, 2));

/** Cold: engine, thread, instance and script. Warm: only the script. */
async function startRows() {
  const cold = await medianMs(COLD_ROUNDS, async () => {
    const pool = await opened();
    await nothing(pool);
    await pool.stop();
  });
  const pool = await opened();
  const warm = await medianMs(ROUNDS, () => nothing(pool));
  await pool.stop();
  return { coldStartMs: cold, warmStartMs: warm };
}

/** With a whole gateway in memory, without sockets. */
async function gatewayRows() {
  await using kit = await testGateway({
    backends: { far: fakeServer().tool('echo') },
    catalogue,
    plan: {
      plugins: [{ use: 'code-mode/quickjs' }, { use: 'code-mode/execute-script', with: { stepLimit: 10_000_000 } }],
    },
  });
  const client = await kit.client();
  const inTurn = `for (let n = 0; n < ${CALLS}; n++) await far.echo({ n }); return 1`;
  const atOnce = `await parallel(Array.from({ length: ${CALLS} }, (_, n) => () => far.echo({ n }))); return 1`;
  const one = await medianMs(20, () => script(client, 'return far.echo({ n: 1 })'));
  const inTurnMs = await medianMs(10, () => script(client, inTurn));
  const atOnceMs = await medianMs(10, () => script(client, atOnce));
  const togetherMs = await medianMs(5, () =>
    Promise.all(Array.from({ length: TOGETHER }, () => script(client, 'return far.echo({ n: 1 })'))),
  );
  return {
    scriptWithOneCallMs: one,
    callsPerSecondInTurn: Math.round((CALLS / inTurnMs) * 1000),
    callsPerSecondAtOnce: Math.round((CALLS / atOnceMs) * 1000),
    fiftyScriptsMs: togetherMs,
  };
}

async function opened(): Promise<Pool> {
  const pool = createPool(quickjsConfig.parse({}), { warn: console.warn, debug: () => {} });
  await pool.start();
  return pool;
}

async function nothing(sandbox: Sandbox): Promise<void> {
  const job: ScriptJob = {
    script: 'return 1',
    owner: 'bench',
    data: {},
    functions: [],
    call: async () => ({ json: '1' }),
  };
  const outcome = await sandbox.run(job, LIMITS, new AbortController().signal);
  if ('failure' in outcome) throw new Error(outcome.message);
}

async function script(client: TestClient, text: string): Promise<void> {
  const result = await client.callTool('execute_tool_script', { script: text });
  if (result.isError === true) throw new Error(JSON.stringify(result.content));
}

async function medianMs(rounds: number, run: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await run();
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  return Number((times[Math.floor(rounds / 2)] ?? 0).toFixed(2));
}
