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
  type RunConfig,
  readWorkloadSecrets,
  type StatusChange,
  WORKLOAD_FILES,
  workloadDir,
} from '@toolmgr/plugins/workloads/state';
import { isLoopbackHost, LOOPBACK_NAMES, type Served } from '../../http/listen.ts';
import { statusRoutes } from '../../http/status-routes.ts';
import { widenYoungGeneration } from '../../shared/engine.ts';
import { httpClientFrom } from '../../shared/http-client.ts';
import { logUnhandledRejections } from '../../shared/log-unhandled-rejections.ts';
import { VERSION } from '../../shared/version.ts';
import { planFromRun } from './plan.ts';
import { listenForWorkload } from './ports.ts';
import { startDeadlineMs } from './start-deadline.ts';
import { sweepOrphans } from './sweep-orphans.ts';
import { workloadSecrets } from './workload-secrets.ts';

/** Parameters of the proxy of one workload, which runs in this process. */
export interface ProxyRun {
  readonly state: string;
  readonly name: string;
  readonly log: Log;
  /** Ends the proxy and its program. */
  readonly signal: AbortSignal;
  /** The proxy ends when its program ends; the program is not restarted. */
  readonly endsWithProgram?: boolean;
}

/** How a proxy ended: by its signal, with its program, or by an error. The exit code is that of the program. */
export type ProxyEnd =
  | { readonly status: 'stopped' }
  | ({ readonly status: 'exited' } & ProgramEnd)
  | { readonly status: 'error'; readonly message: string; readonly exitCode?: number };

/** The workload that this process has claimed, and its start. */
interface Claim {
  readonly config: RunConfig;
  readonly mine: Pick<StatusChange, 'proxy' | 'runId'>;
  readonly runId: string;
  /** Port of the last start. */
  readonly port: number | undefined;
}

/**
 * Runs a workload and its proxy in this process until `signal` aborts or the workload fails for good.
 *
 * Writes the status to disk: `starting`, `running` once the server has answered, at the end `stopped` or `error`.
 * Returns an error without changes if another live proxy has the workload.
 */
export async function runProxy(run: ProxyRun): Promise<ProxyEnd> {
  using _ = logUnhandledRejections(run.log);
  const claim = await claimWorkload(run);
  if ('status' in claim) return claim;
  const end = await serveUntilEnd(run, claim).catch(
    (cause: unknown): ProxyEnd => ({ status: 'error', message: explainCause(cause) }),
  );
  if (end.status === 'error') run.log.error('the proxy ends', { workload: run.name, reason: end.message });
  await changeStatus(run.state, run.name, ({ status }) =>
    // another proxy may have taken over, e.g. while this machine was suspended
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
  // orphans of a killed proxy would hold files, ports and memory
  if (before.runId !== undefined) await sweepOrphans(before.runId);
  return { config: after.config, mine: { proxy, runId }, runId, port: before.port };
}

async function serveUntilEnd(run: ProxyRun, claim: Claim): Promise<ProxyEnd> {
  const { state, name, signal } = run;
  const { config, mine, runId } = claim;
  const logFile = join(workloadDir(state, name), WORKLOAD_FILES.log);
  const output = openLogFile(logFile);
  const log = recordReasons(run.log);
  const programs = watchPrograms(output);
  const restartsProgram = run.endsWithProgram !== true;
  const secrets = await readWorkloadSecrets(state, name);
  const plan = {
    ...planFromRun(config, { runId, logFile, restartsProgram, secrets }),
    ...httpClientFrom(process.env),
  };
  const gateway = await createGateway(plan, {
    catalogue,
    plugins: [workloadSecrets(secrets)],
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
      requested: config.port,
      remembered: claim.port,
      routes: statusRoutes(gateway, {
        version: VERSION,
        groupRef: config.group,
        mode: 'static',
        authTypeOf: () => plan.outgoingAuth?.default?.type ?? 'unauthenticated',
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
    programs.forget(); // some servers end when they are asked for their revision, and are started again
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

/** Waits until the server has answered; then `undefined`. Otherwise the reason why it will not. */
async function whyNotReady(
  gateway: Gateway,
  config: RunConfig,
  log: ReasonLog,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limitMs = startDeadlineMs(config);
  const deadlineMs = performance.now() + limitMs + SPARE_MS;
  while (!signal.aborted) {
    const state = gateway.backends()[0];
    if (state?.status === 'ready') return undefined;
    const isFinal = state?.status === 'unavailable' || state?.status === 'unauthenticated';
    // a timeout is retried with a longer limit; other causes would fail again
    if (isFinal && state.cause?.category !== 'timeout') return state.cause?.message ?? `it is ${state.status}`;
    if (state === undefined && log.reason !== undefined) return log.reason;
    if (performance.now() > deadlineMs) return `it did not answer within ${Math.round(limitMs / 1000)} s`;
    await delay(READY_POLL_MS, undefined, { signal }).catch(() => {});
  }
  return 'it was stopped while it started';
}

/** Updates the status message until the runtime gives the workload up or `signal` aborts. */
async function watchUntilEnd(
  { state, name, signal, endsWithProgram }: ProxyRun,
  gateway: Gateway,
  at: Omit<StatusChange, 'status'>,
  programs: Programs,
  log: ReasonLog,
): Promise<ProxyEnd> {
  let written: string | undefined;
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
    if (message === written) continue;
    written = message;
    await changeStatus(state, name, () => ({
      ...at,
      status: 'running',
      ...(message === undefined ? {} : { message }),
    }));
  }
  return { status: 'stopped' };
}

/** How a program ended without being stopped. A signal counts as 128 plus its number, as in shells. */
interface ProgramEnd {
  readonly exitCode: number;
  readonly how: string;
}

/** Starts and watches the programs of the gateway. */
interface Programs {
  readonly spawn: NonNullable<GatewayOptions['spawn']>;
  /** The last one that ended by itself. */
  ended(): ProgramEnd | undefined;
  /** Forgets the programs that have ended. */
  forget(): void;
}

/** Starts programs for the gateway, writes their stderr to `output` and records how they end. */
function watchPrograms(output: LogFile): Programs {
  let ended: ProgramEnd | undefined;
  return {
    spawn(file, args, options) {
      const child = spawnChild(file, [...args], options);
      child.stderr?.on('data', (chunk: Buffer) => output.write(chunk));
      child.once('exit', (code, signal) => {
        // the gateway stops a program by closing its input
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

interface ReasonLog extends Log {
  /** The reason of the last error line that had one. */
  readonly reason: string | undefined;
  /** The exit code in the last error line that had one. */
  readonly exitCode: number | undefined;
}

/** A workload that cannot be started has no backend with a cause, so the reason is taken from the error log. */
function recordReasons(log: Log): ReasonLog {
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
const SPARE_MS = 1_000; // the start reports its own timeout first
const WATCH_MS = 1_000;
