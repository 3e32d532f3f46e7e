import { stateDir } from '@toolmgr/plugins/kit/files';
import { readWorkload, readWorkloads } from '@toolmgr/plugins/kit/workloads';
import { showStatus } from '../../run/commands/show.ts';
import { headersOf } from '../../shared/client/headers.ts';
import { ownCommand } from '../../shared/own-command.ts';
import type { BackendReport } from '../../shared/running/backend-report.ts';
import { oneOf } from '../../shared/running/choose-gateway.ts';
import type { GatewayStatus } from '../../shared/running/control-client.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { unknownWorkload } from '../../workloads/planning/select.ts';
import { summaryOf, type WorkloadSummary } from '../../workloads/planning/summary.ts';
import { type AskedGateway, askGateways } from './backends-of.ts';

/** Flags of `toolmgr status`. */
export interface StatusFlags {
  readonly gateway?: string;
  readonly url?: string;
  readonly header?: readonly string[];
  readonly tokenEnv?: string;
  readonly format: 'text' | 'json';
}

/** One gateway of the list. */
interface Shown {
  readonly name: string;
  readonly kind?: string;
  readonly url?: string;
  readonly file?: string;
  readonly pid?: number;
  readonly version: string;
  readonly startedAt?: string;
  readonly backends: readonly BackendReport[];
  readonly blocked?: GatewayStatus['blocked'];
  readonly problem?: string;
}

/**
 * `toolmgr status`: the gateways of this user and the workloads that run. A name of a workload shows that workload, any other
 * name the gateway or the backend with it.
 * @throws UsageError for a name that nothing has
 */
export async function status(name: string | undefined, flags: StatusFlags): Promise<void> {
  const { gateway: which, url, format } = flags;
  if (url !== undefined && which !== undefined) throw new UsageError('give --url or --gateway, not both');
  const isHere = url === undefined && which === undefined;
  if (name !== undefined && isHere && (await readWorkload(stateDir(process.env), name)) !== undefined) {
    return showStatus(name, { format });
  }
  const all = url === undefined ? (await askGateways(which)).map(shownFrom) : [await shownAt(url, flags)];
  if (which !== undefined && all.length === 0) oneOf([], which);
  const gateways = name === undefined ? all : all.flatMap((one) => named(one, name));
  if (name !== undefined && gateways.length === 0) throw new UsageError(await unknownName(name, all));
  const workloads = name === undefined && isHere ? await runningWorkloads() : [];
  if (format === 'json') return stdout.json({ gateways, workloads });
  for (const gateway of gateways) printGateway(gateway);
  if (workloads.length > 0) printWorkloads(workloads);
  if (gateways.length + workloads.length === 0) stderr.line(`nothing runs; start a gateway: ${ownCommand('up')}`);
}

function shownFrom({ record, status: told, problem }: AskedGateway): Shown {
  const { name, kind, url, file, process: mark, version, startedAt } = record;
  return {
    name,
    kind,
    ...(url === undefined ? {} : { url }),
    ...(file === undefined ? {} : { file }),
    pid: mark.pid,
    version,
    startedAt,
    backends: told?.backends ?? [],
    ...(told?.blocked?.length ? { blocked: told.blocked } : {}),
    ...(problem === undefined ? {} : { problem }),
  };
}

async function shownAt(url: string, flags: StatusFlags): Promise<Shown> {
  const { fetchStatusPages } = await import('../client/fetch-status-pages.ts');
  return fetchStatusPages(url, headersOf(flags.header ?? [], flags.tokenEnv));
}

/** A gateway when the name is its own; with one backend when the name is that of a backend. */
function named(gateway: Shown, name: string): readonly Shown[] {
  if (gateway.name === name) return [gateway];
  const backends = gateway.backends.filter((backend) => backend.name === name);
  return backends.length === 0 ? [] : [{ ...gateway, backends }];
}

async function unknownName(name: string, gateways: readonly Shown[]): Promise<string> {
  if (gateways.length === 0) return unknownWorkload(stateDir(process.env), name);
  const known = gateways.flatMap((gateway) => [gateway.name, ...gateway.backends.map((backend) => backend.name)]);
  return `${await unknownWorkload(stateDir(process.env), name)}; no gateway or backend has this name either (known: ${known.join(', ')})`;
}

async function runningWorkloads(): Promise<readonly WorkloadSummary[]> {
  return (await readWorkloads(stateDir(process.env)))
    .map(summaryOf)
    .filter((workload) => workload.status !== 'stopped');
}

function printGateway({ name, kind, url, file, pid, startedAt, backends, blocked = [], problem }: Shown): void {
  const facts = [kind, file, pid === undefined ? undefined : `pid ${pid}`, startedAt && `for ${ago(startedAt)}`];
  const about = stdout.dim(printable(facts.filter(Boolean).join(', ')));
  stdout.line(`${stdout.bold(printable(name))}  ${printable(url ?? 'stdio')}  ${about}`);
  if (problem !== undefined) stdout.line(`  ${stdout.red(printable(problem))}`);
  const rows = backends.map((one) => [
    one.name,
    one.state,
    one.tools === null ? '-' : String(one.tools),
    one.since === null ? '-' : ago(one.since),
    one.transport,
  ]);
  const lines = columns([['BACKEND', 'STATE', 'TOOLS', 'FOR', 'TRANSPORT'], ...rows].map(plain), '  ');
  for (const [at, line] of lines.entries()) {
    stdout.line(at === 0 ? stdout.dim(line) : line);
    const error = backends[at - 1]?.error;
    if (error === undefined) continue;
    stdout.line(`    ${stdout.red('why')}  ${printable(`${error.category}: ${error.message}`)}`);
    stdout.line(`    ${stdout.green('fix')}  ${printable(error.fix)}`);
  }
  for (const { plugin = 'unknown plugin', stage, method, name: called, ms, times, latestMs } of blocked) {
    const where = [plugin, stage, method, called].filter(Boolean).join(' ');
    const how = `${ms} ms, ${times === 1 ? 'once' : `${times} times`}, ${ago(new Date(latestMs).toISOString())} ago`;
    stdout.line(`  ${stdout.red('blocked')}  ${printable(`${where}: ${how}`)}`);
  }
}

const plain = (row: readonly string[]): readonly string[] => row.map((cell) => printable(cell));

function printWorkloads(workloads: readonly WorkloadSummary[]): void {
  const rows = workloads.map(({ name, status: state, url, started_at: since }) => [
    name,
    state,
    url || '-',
    since === null ? '-' : ago(since),
  ]);
  for (const line of columns([['WORKLOAD', 'STATE', 'URL', 'FOR'], ...rows].map(plain))) stdout.line(line);
}

/** `12 s`, `5 min`, `3 h`, `2 days`. */
export function ago(since: string, nowMs: number = Date.now()): string {
  const seconds = Math.max(0, Math.round((nowMs - Date.parse(since)) / 1000));
  if (!Number.isFinite(seconds)) return '-';
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)} h` : `${Math.floor(seconds / 86_400)} days`;
}
