import { spawn as spawnChild } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createGateway, explainCause, type Gateway, type GatewayOptions, type Log } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import {
  changeStatus,
  type LogFile,
  markProcess,
  openLogFile,
  type StatusChange,
  WORKLOAD_FILES,
  type WorkloadConfig,
  workloadDir,
} from '@toolmgr/plugins/workloads/state';
import { isLoopbackHost, LOOPBACK_NAMES, type Served } from '../http/listen.ts';
import { statusRoutes } from '../http/status-routes.ts';
import { widenYoungGeneration } from '../shared/engine.ts';
import { hearRejections } from '../shared/log-unhandled-rejections.ts';
import { VERSION } from '../shared/version.ts';
import { planFromRun } from './plan.ts';
import { listenForWorkload } from './ports.ts';
import { startDeadlineMs } from './start-deadline.ts';
import { sweepOrphans } from './sweep-orphans.ts';

/** One workload and this process, which is its proxy. */
export interface ProxyRun {
  readonly state: string;
  readonly name: string;
  readonly log: Log;
  /** Ends the proxy and everything behind it. */
  readonly signal: AbortSignal;
  /** The proxy ends when a program of the workload ends by itself; nothing is started again. */
  readonly endsWithProgram?: boolean;
}

/** How a proxy ended: as it was told, with its program, or by itself. An exit code is that of the program. */
export type ProxyEnd =
  | { readonly status: 'stopped' }
  | ({ readonly status: 'exited' } & ProgramEnd)
  | { readonly status: 'error'; readonly message: string; readonly exitCode?: number };

/** What this process claimed. */
interface Claim {
  readonly config: WorkloadConfig;
  readonly mine: Pick<StatusChange, 'proxy' | 'runId'>;
  readonly runId: string;
  /** The port of the last start. */
  readonly port: number | undefined;
}

/**
 * Runs a workload behind its proxy in this process until `signal` aborts or the workload is given up.
 *
 * The status on disk follows: `starting`, `running` once the server has answered, at last `stopped` or `error`. A
 * workload that another live proxy has is left alone.
 */
export async function runProxy(run: ProxyRun): Promise<ProxyEnd> {
  using _ = hearRejections(run.log);
  const claim = await claimWorkload(run);
  if ('status' in claim) return claim;
  const end = await serveUntilEnd(run, claim).catch(
    (cause: unknown): ProxyEnd => ({ status: 'error', message: explainCause(cause) }),
  );
  if (end.status === 'error') run.log.error('the proxy ends', { workload: run.name, reason: end.message });
  await changeStatus(run.state, run.name, ({ status }) =>
    // only the holder writes the end: after a suspend another proxy may have taken over
    status.runId === claim.runId
      ? { ...statusOf(end), ...(status.port === undefined ? {} : { port: status.port }) }
      : undefined,
  );
  return end;
}

function statusOf(end: ProxyEnd): Pick<StatusChange, 'status' | 'message'> {
  if (end.status === 'error') return { status: 'error', message: end.message };
  return end.status === 'stopped' || end.exitCode === 0
    ? { status: 'stopped' }
    : { status: 'error', message: `its program ended (${end.how})` };
}

async function claimWorkload({ state, name }: ProxyRun): Promise<Claim | Extract<ProxyEnd, { status: 'error' }>> {
  const proxy = await markProcess(process.pid);
  const runId = randomUUID();
  let before: { readonly runId?: string; readonly port?: number } = {};
  const after = await changeStatus(state, name, ({ alive, config, status }) => {
    if (alive || config === undefined) return undefined;
    before = status;
    return { status: 'starting', proxy, runId, ...(status.port === undefined ? {} : { port: status.port }) };
  });
  if (after === undefined) return { status: 'error', message: `there is no workload ${name}` };
  if (after.config === undefined) return { status: 'error', message: after.status.message ?? 'it cannot be read' };
  if (after.status.runId !== runId) return { status: 'error', message: `workload ${name} runs already` };
  // what a killed predecessor left would keep files, ports and memory
  if (before.runId !== undefined) await sweepOrphans(before.runId);
  return { config: after.config, mine: { proxy, runId }, runId, port: before.port };
}

async function serveUntilEnd(run: ProxyRun, claim: Claim): Promise<ProxyEnd> {
  const { state, name, signal } = run;
  const { config, mine, runId } = claim;
  const logFile = join(workloadDir(state, name), WORKLOAD_FILES.log);
  const output = openLogFile(logFile);
  const log = rememberReasons(run.log);
  const programs = watchPrograms(output);
  const keepsUp = run.endsWithProgram !== true;
  const gateway = await createGateway(planFromRun(config, { runId, logFile, keepsUp }), {
    catalogue,
    log,
    spawn: programs.spawn,
  });
  let served: Served | undefined;
  try {
    served = await listenForWorkload({
      gateway,
      state,
      name,
      host: config.host,
      requested: config.proxyPort,
      remembered: claim.port,
      routes: statusRoutes(gateway, {
        version: VERSION,
        groupRef: config.group,
        mode: 'static',
        authTypeOf: () => 'unauthenticated',
      }),
      ...(isLoopbackHost(config.host) ? { allowedHosts: LOOPBACK_NAMES } : {}),
    });
    const at = { ...mine, port: served.port, url: `${served.url}/mcp` };
    await changeStatus(state, name, () => ({ ...at, status: 'starting' }));
    const failed = await whyNotReady(gateway, config, log, signal);
    if (failed !== undefined) {
      if (signal.aborted) return { status: 'stopped' };
      const exitCode = log.exitCode ?? programs.ended()?.exitCode;
      return { status: 'error', message: failed, ...(exitCode === undefined ? {} : { exitCode }) };
    }
    programs.forget(); // some servers end on the question which revision they speak
    widenYoungGeneration();
    run.log.info('the workload answers', { workload: name, url: at.url });
    await changeStatus(state, name, () => ({ ...at, status: 'running' }));
    return await watchUntilEnd(run, gateway, at, programs, log);
  } finally {
    if (signal.aborted) {
      await changeStatus(state, name, ({ status }) => ({ ...mine, status: 'stopping', port: status.port }));
    }
    await Promise.all([gateway.stop(), served?.close(CLOSE_MS)]);
    output.close();
  }
}

/** `undefined` once the server has said hello; else a sentence, at once when its process ended or it refused. */
async function whyNotReady(
  gateway: Gateway,
  config: WorkloadConfig,
  log: RememberingLog,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limitMs = startDeadlineMs(config);
  const deadlineMs = performance.now() + limitMs + SPARE_MS;
  while (!signal.aborted) {
    const state = gateway.backends()[0];
    if (state?.status === 'ready') return undefined;
    const isFinal = state?.status === 'unavailable' || state?.status === 'unauthenticated';
    // a slow server is asked again with more patience; everything else would only fail again
    if (isFinal && state.cause?.category !== 'timeout') return state.cause?.message ?? `it is ${state.status}`;
    if (state === undefined && log.reason !== undefined) return log.reason;
    if (performance.now() > deadlineMs) return `it did not answer within ${Math.round(limitMs / 1000)} s`;
    await delay(READY_POLL_MS, undefined, { signal }).catch(() => {});
  }
  return 'it was stopped while it started';
}

/** Keeps the message of the status true; ends when the runtime gave the workload up or `signal` aborts. */
async function watchUntilEnd(
  { state, name, signal, endsWithProgram }: ProxyRun,
  gateway: Gateway,
  at: Omit<StatusChange, 'status'>,
  programs: Programs,
  log: RememberingLog,
): Promise<ProxyEnd> {
  let told: string | undefined;
  while (!signal.aborted) {
    await delay(endsWithProgram ? READY_POLL_MS : WATCH_MS, undefined, { signal }).catch(() => {});
    const backend = gateway.backends()[0];
    if (signal.aborted) break;
    const ended = programs.ended();
    if (endsWithProgram && ended !== undefined) return { status: 'exited', ...ended };
    if (backend === undefined) {
      const { exitCode } = log;
      if (endsWithProgram && exitCode !== undefined)
        return { status: 'exited', exitCode, how: `exit code ${exitCode}` };
      return { status: 'error', message: 'its program ended again and again: see its logs' };
    }
    const message = backend.status === 'unavailable' ? backend.cause?.message : undefined;
    if (message === told) continue;
    told = message;
    await changeStatus(state, name, () => ({
      ...at,
      status: 'running',
      ...(message === undefined ? {} : { message }),
    }));
  }
  return { status: 'stopped' };
}

/** How a program ended that nobody had told to. A signal counts as 128 and its number, as in shells. */
interface ProgramEnd {
  readonly exitCode: number;
  readonly how: string;
}

/** The programs that the gateway starts. */
interface Programs {
  readonly spawn: NonNullable<GatewayOptions['spawn']>;
  /** The last of them that ended by itself. */
  ended(): ProgramEnd | undefined;
  /** Those that have ended count no more. */
  forget(): void;
}

/** Starts programs as the gateway asks, keeps what they write to stderr, and sees how they end. */
function watchPrograms(output: LogFile): Programs {
  let ended: ProgramEnd | undefined;
  return {
    spawn(file, args, options) {
      const child = spawnChild(file, [...args], options);
      child.stderr?.on('data', (chunk: Buffer) => output.write(chunk));
      child.once('exit', (code, signal) => {
        // the gateway ends a program's input first
        if (child.stdin?.writableEnded === true) return;
        const exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
        ended = { exitCode, how: signal === null ? `exit code ${exitCode}` : `signal ${signal}` };
      });
      return child;
    },
    ended: () => ended,
    forget() {
      ended = undefined;
    },
  };
}

interface RememberingLog extends Log {
  /** The reason of the last error line that had one. */
  readonly reason: string | undefined;
  /** The exit code in the last error line that had one. */
  readonly exitCode: number | undefined;
}

/** A source that cannot start its workload has no backend that could say why; its log line does. */
function rememberReasons(log: Log): RememberingLog {
  let reason: string | undefined;
  let exitCode: number | undefined;
  return {
    ...log,
    error(message, fields) {
      if (typeof fields?.reason === 'string') reason = fields.reason;
      if (typeof fields?.exitCode === 'number') exitCode = fields.exitCode;
      log.error(message, fields);
    },
    get reason() {
      return reason;
    },
    get exitCode() {
      return exitCode;
    },
  };
}

const CLOSE_MS = 5_000;
const READY_POLL_MS = 50;
const SPARE_MS = 1_000; // the start itself says first that its time is over
const WATCH_MS = 1_000;
