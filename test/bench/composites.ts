// Cost of a composite tool per step, compared with a client that makes the same calls itself. Flag: --seconds N.
import { parseArgs } from 'node:util';
import { type LoadResult, measure } from './load.ts';
import { MEASURED_CORE, OTHER_CORE, startProcess } from './processes.ts';
import { modernRequests } from './requests.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } });
const seconds = Number(values.seconds);
const WARM_UP_SECONDS = Math.min(seconds, 3);
const CONNECTIONS = { alone: 1, busy: 32 }; // one connection shows the latency, many show the CPU cost
const DIRECT = 'far_tool_0';
const COMPOSITES = [
  { tool: 'chain_1', what: '1 step', steps: 1 },
  { tool: 'chain_5', what: '5 steps, one after the other', steps: 5 },
  { tool: 'chain_10', what: '10 steps, one after the other', steps: 10 },
  { tool: 'fan_10', what: '10 steps, all at once', steps: 10 },
];

/** One tool, called by one connection and by many. */
interface Measured {
  readonly alone: LoadResult;
  readonly busy: LoadResult;
}

await using backend = await startProcess(OTHER_CORE, 'backend.ts', ['0', '10']);
await using gateway = await startProcess(MEASURED_CORE, 'gateway.mjs', [
  'modern',
  `far=${backend.url}`,
  '--plugins',
  'composites',
]);
const direct = await measured(DIRECT);
const rows: string[][] = [['direct call', '', ms(direct.alone.p50Ms), '', '', micros(direct), '', '']];
for (const { tool, what, steps } of COMPOSITES) {
  const cost = await measured(tool);
  const perStepMs = (cost.alone.p50Ms - steps * direct.alone.p50Ms) / steps;
  const perStepMicros = cost.busy.cpuMicrosPerRequest / steps - direct.busy.cpuMicrosPerRequest;
  rows.push([
    what,
    String(steps),
    ms(cost.alone.p50Ms),
    ms(steps * direct.alone.p50Ms),
    signed(perStepMs * 1000),
    micros(cost),
    `${Math.round(steps * direct.busy.cpuMicrosPerRequest)} µs`,
    signed(perStepMicros),
  ]);
}
print(['', 'steps', 'p50', 'p50 of calls', 'p50 per step', 'CPU', 'CPU of calls', 'CPU per step'], rows);

/** Checks the result of the tool, then loads it. */
async function measured(tool: string): Promise<Measured> {
  const request = modernRequests().call(tool);
  const answer = await fetch(gateway.url, { method: 'POST', headers: request.headers, body: request.body });
  const body = await answer.text();
  if (!answer.ok || !body.includes('quick brown fox') || body.includes('"isError":true')) {
    throw new Error(`${tool} answered ${answer.status}: ${body.slice(0, 500)}`);
  }
  await measure(gateway, request, CONNECTIONS.busy, WARM_UP_SECONDS);
  const alone = await measure(gateway, request, CONNECTIONS.alone, seconds);
  const busy = await measure(gateway, request, CONNECTIONS.busy, seconds);
  const failures = alone.failures + busy.failures;
  if (failures > 0) throw new Error(`${failures} calls of ${tool} failed`);
  return { alone, busy };
}

function ms(time: number): string {
  return `${time.toFixed(2)} ms`;
}

function micros({ busy }: Measured): string {
  return `${Math.round(busy.cpuMicrosPerRequest)} µs`;
}

/** Difference to a direct call in microseconds. */
function signed(time: number): string {
  return `${time < 0 ? '−' : '+'}${Math.abs(Math.round(time))} µs`;
}

function print(head: readonly string[], table: readonly string[][]): void {
  for (const row of [head, head.map(() => '---'), ...table]) console.log(`| ${row.join(' | ')} |`);
  console.log(
    `\np50 by ${CONNECTIONS.alone} connection, CPU time of the gateway per request by ${CONNECTIONS.busy}; ` +
      `"of calls" is as many direct calls one after the other, "per step" what a step takes more (+) or less (−) than one. ` +
      `${seconds} s per row and load.`,
  );
}
