import { join } from 'node:path';
import { createGateway, explainCause, type Gateway, type Log } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import type { WorkloadState } from '@toolmgr/plugins/kit/extension-points';
import { openLogFile } from '@toolmgr/plugins/kit/files';
import {
  type RunConfig,
  type StatusChange,
  servesSse,
  storageFault,
  WORKLOAD_FILES,
  workloadDir,
} from '@toolmgr/plugins/kit/workloads';
import { isLoopbackHost, LOOPBACK_NAMES, type Served } from '../../http/listen.ts';
import { createCallFeed } from '../../http/recent-calls/feed.ts';
import { RECENT_CALLS, recentCallsPlugin } from '../../http/recent-calls/plugin.ts';
import { statusRoutes } from '../../http/status-routes.ts';
import { ALLOWED_ORIGINS } from '../../shared/allowed-origins.ts';
import { widenYoungGeneration } from '../../shared/engine.ts';
import { httpClientFrom } from '../../shared/http-client.ts';
import { logUnhandledRejections } from '../../shared/log-unhandled-rejections.ts';
import { VERSION } from '../../shared/version.ts';
import { createWake, type Wake } from '../../shared/wake.ts';
import { readStartSecrets } from '../secrets/start-secrets.ts';
import { keepCallLog } from './call-log.ts';
import { type Claim, claimWorkload } from './claim.ts';
import { type CurrentStatus, currentStatus, loginStatus, watchRuntime } from './current-status.ts';
import { pageRoutes } from './page-routes.ts';
import { planFromRun } from './plan.ts';
import { listenForWorkload } from './ports.ts';
import { type ProgramEnd, type Programs, watchPrograms } from './programs.ts';
import { type ReasonLog, recordReasons } from './reason-log.ts';
import { startDeadlineMs } from './start-deadline.ts';
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
  /** A supervisor restarts this process: it waits for its server, and gives calls in flight more time at the end. */
  readonly isSupervised?: boolean;
  /** The start that this proxy was made for; without it the proxy makes the start itself. */
  readonly generation?: number;
  /** Fails when another program has the port of the last start. */
  readonly keepsPort?: boolean;
  /** Is called once, when the server has answered. */
  readonly onRunning?: (url: string) => void;
}

/** How a proxy ended: by its signal, with its program, or by an error. The exit code is that of the program. */
export type ProxyEnd =
  | { readonly status: 'stopped'; readonly message?: string }
  /** Nothing was started or changed: another process serves, starts or removes the workload. */
  | { readonly status: 'refused'; readonly message: string }
  | ({ readonly status: 'exited' } & ProgramEnd)
  | { readonly status: 'error'; readonly message: string; readonly exitCode?: number };

/** How a proxy ended that had the workload. */
type Ended = Exclude<ProxyEnd, { readonly status: 'refused' }>;

/**
 * Runs a workload and its proxy in this process until `signal` aborts or the workload fails for good.
 *
 * Writes the status to disk: `starting`, `running` once the server has answered, at the end `stopped` or `error`.
 * Returns `refused` without changes if another live proxy has the workload, or it was stopped before this one began.
 */
export async function runProxy(run: ProxyRun): Promise<ProxyEnd> {
  using _ = logUnhandledRejections(run.log);
  const claim = await claimWorkload(run.state, run.name, run.generation);
  if ('refused' in claim) return { status: 'refused', message: claim.refused };
  const end = await serveUntilEnd(run, claim).catch((cause: unknown) => ({
    status: 'error' as const,
    message: explainCause(cause),
  }));
  if (end.status === 'error') run.log.error('the proxy ends', { workload: run.name, reason: end.message });
  await claim.finish(statusOf(end)).catch(noted(run));
  return end;
}

function endOfRun({ isSupervised }: ProxyRun): { readonly stopMs?: number } {
  return isSupervised ? { stopMs: SUPERVISED_STOP_MS } : {};
}

function statusOf(end: Ended): Pick<StatusChange, 'status' | 'message' | 'desired'> {
  if (end.status === 'error') return { status: 'error', message: end.message };
  // with a message the user has removed its container
  if (end.status === 'stopped') return end.message === undefined ? end : { ...end, desired: 'stopped' };
  return end.exitCode === 0 ? { status: 'stopped' } : { status: 'error', message: `its program ended (${end.how})` };
}

async function serveUntilEnd(run: ProxyRun, claim: Claim): Promise<Ended> {
  const { state, name, signal } = run;
  const { config, runId } = claim;
  const logFile = join(workloadDir(state, name), WORKLOAD_FILES.log);
  const output = openLogFile(logFile);
  const wake = createWake();
  const log = recordReasons(run.log, wake);
  const programs = watchPrograms(output, wake);
  const restartsProgram = run.endsWithProgram !== true;
  const { secrets, variables } = await readStartSecrets(state, config);
  const runtime = watchRuntime(wake);
  const calls = createCallFeed();
  const start = { runId, state, logFile, restartsProgram, secrets, variables, ...endOfRun(run) };
  const planned = await planFromRun(config, start);
  const plan = {
    ...planned,
    plugins: [...planned.plugins, { use: runtime.plugin.address }, { use: RECENT_CALLS }],
    ...httpClientFrom(process.env),
  };
  const gateway = await createGateway(plan, {
    ownsProcess: true,
    catalogue,
    plugins: [workloadSecrets(secrets), runtime.plugin, recentCallsPlugin(calls)],
    log,
    originOption: ALLOWED_ORIGINS.name,
    spawn: programs.spawn,
  });
  const callLog = keepCallLog(calls, join(workloadDir(state, name), WORKLOAD_FILES.calls));
  let served: Served | undefined;
  try {
    served = await listenForWorkload({
      gateway,
      state,
      name,
      host: config.host,
      requested: config.port,
      remembered: claim.port,
      keepsPort: run.keepsPort === true,
      routes: [
        ...statusRoutes(run.isSupervised ? readyWithServer(gateway) : gateway, {
          version: VERSION,
          groupRef: config.group,
          mode: 'static',
          authTypeOf: () => plan.outgoingAuth?.default?.type ?? 'unauthenticated',
        }),
        ...pageRoutes(gateway, config),
      ],
      ...(isLoopbackHost(config.host) ? { allowedHosts: LOOPBACK_NAMES } : {}),
    });
    const at = { port: served.port, url: `${served.url}${servesSse(config) ? '/sse' : '/mcp'}` };
    let isTold = false;
    const report = async (status: CurrentStatus): Promise<void> => {
      await claim.report({ ...at, ...status });
      if (isTold || status.status !== 'running') return;
      isTold = true;
      run.onRunning?.(at.url);
    };
    await report({ status: 'starting' });
    const failed = await whyNotReady(gateway, config, log, wake, run);
    if (failed !== undefined) {
      if (signal.aborted) return { status: 'stopped' };
      const exitCode = log.exitCode ?? programs.ended()?.exitCode;
      return { status: 'error', message: failed, ...(exitCode === undefined ? {} : { exitCode }) };
    }
    programs.forget(); // some servers end when they are asked for their revision, and are started again
    widenYoungGeneration();
    run.log.info('the workload answers', { workload: name, url: at.url });
    const [backend] = gateway.backends();
    const first = (backend && loginStatus(backend)) ?? { status: 'running' };
    await report(first);
    const watched = (status: CurrentStatus): Promise<void> => report(status).catch(noted(run));
    return await watchUntilEnd(run, { gateway, runtime: runtime.latest, programs, wake, report: watched, first });
  } finally {
    // stopping takes some seconds while calls or streams are open
    const port = served?.port ?? claim.port; // clients know the port of the last start, also when this one failed
    await claim.report({ status: 'stopping', ...(port === undefined ? {} : { port }) }).catch(noted(run));
    await Promise.all([gateway.stop(), served?.close(run.isSupervised ? SUPERVISED_STOP_MS : CLOSE_MS)]);
    await callLog.close();
    output.close();
  }
}

/** A disk that is full ends no workload that runs, and delays no end. */
function noted({ log, name }: ProxyRun): (cause: unknown) => void {
  return (cause) => {
    const reason = storageFault(cause);
    if (reason === undefined) throw cause;
    log.warn('the status of the workload cannot be written', { workload: name, reason });
  };
}

/** What status pages show of a gateway that is not ready without its server. */
function readyWithServer(gateway: Gateway): Pick<Gateway, 'backends' | 'catalog' | 'settled' | 'unready'> {
  return {
    backends: () => gateway.backends(),
    catalog: () => gateway.catalog(),
    settled: () => gateway.settled(),
    unready: () => {
      const backends = gateway.backends();
      const waits = backends.filter(({ status }) => status === 'unknown' || status === 'unavailable');
      return backends.length === 0 ? ['server'] : waits.map(({ backend }) => backend.name);
    },
  };
}

/** Waits until the server has answered; then `undefined`. Otherwise the reason why it will not. */
async function whyNotReady(
  gateway: Gateway,
  config: RunConfig,
  log: ReasonLog,
  wake: Wake,
  { signal, isSupervised = false }: ProxyRun,
): Promise<string | undefined> {
  const limitMs = startDeadlineMs(config);
  const deadlineMs = performance.now() + limitMs + SPARE_MS;
  while (!signal.aborted) {
    const state = gateway.backends()[0];
    // its token is refreshed when the token endpoint is back
    if (state?.status === 'ready' || state?.health?.errorCategory === 'auth_retrying') return undefined;
    if (isSupervised) {
      await wake.after(WATCH_MS, signal);
      continue;
    }
    const isFinal = state?.status === 'unavailable' || state?.status === 'unauthenticated';
    // a timeout is retried with a longer limit; other causes would fail again
    if (isFinal && state.cause?.category !== 'timeout')
      return explainCause(state.cause?.message ?? `it is ${state.status}`);
    if (state === undefined && log.reason !== undefined) return log.reason;
    if (performance.now() > deadlineMs) return `it did not answer within ${Math.round(limitMs / 1000)} s`;
    await wake.after(WATCH_MS, signal);
  }
  return 'it was stopped while it started';
}

/** What {@link watchUntilEnd} observes, and where it reports. */
interface Watched {
  readonly gateway: Gateway;
  readonly runtime: () => WorkloadState | undefined;
  readonly programs: Programs;
  readonly wake: Wake;
  report(status: CurrentStatus): Promise<void>;
  /** What was reported. */
  readonly first: CurrentStatus;
}

/** Reports changes of the status until the runtime gives the workload up, its container is removed, or `signal` aborts. */
async function watchUntilEnd(
  { signal, endsWithProgram }: ProxyRun,
  { gateway, runtime, programs, wake, report, first }: Watched,
): Promise<Ended> {
  let written = JSON.stringify(first);
  while (!signal.aborted) {
    await wake.after(WATCH_MS, signal);
    if (signal.aborted) break;
    const ended = programs.ended();
    if (endsWithProgram && ended !== undefined) return { status: 'exited', ...ended };
    const backend = gateway.backends()[0];
    const last = runtime();
    if (backend === undefined) return endOf(last, endsWithProgram === true);
    const current = currentStatus(backend, last);
    const text = JSON.stringify(current);
    if (text === written) continue;
    written = text;
    await report(current);
  }
  return { status: 'stopped' };
}

/** The end of a workload that its runtime will not start again. */
function endOf(last: WorkloadState | undefined, endsWithProgram: boolean): Ended {
  const { status, exitCode, message } = last ?? {};
  if (status === 'stopped') return { status: 'stopped', ...(message === undefined ? {} : { message }) };
  if (endsWithProgram && exitCode !== undefined) return { status: 'exited', exitCode, how: `exit code ${exitCode}` };
  return { status: 'error', message: message ?? 'its program ended again and again: see its logs' };
}

const CLOSE_MS = 5_000;
/** Less than the 30 s in which Kubernetes ends a pod, minus its `preStop`. */
const SUPERVISED_STOP_MS = 20_000;
const SPARE_MS = 1_000; // the start reports its own timeout first
/** A change that nothing reports: the health of its tokens. */
const WATCH_MS = 1_000;
