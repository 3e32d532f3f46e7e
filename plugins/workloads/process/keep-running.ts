import { constants } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { type Core, GatewayFault, installTurnOf, programEnvironment } from '@toolmgr/core';
import type { WorkloadHandle, WorkloadSpec, WorkloadState } from '@toolmgr/plugins/kit/extension-points';
import { createOutput, nextRestart, type Output, type RestartPolicy } from '@toolmgr/plugins/kit/workloads';
import getPort from 'get-port';
import { portAnswers, waitForPort } from './answering-port.ts';
import { type ProcessGroup, type ProgramEnd, startGroup } from './process-group.ts';

/** Settings of the process runtime. */
export interface ProcessSettings {
  /** What programs inherit from. */
  readonly environment: Core['environment'];
  readonly restart: RestartPolicy;
  /** Time for a restarted program to accept connections on its port. */
  readonly startTimeoutMs: number;
  /** Time for the first start, which may include an installation. */
  readonly firstStartTimeoutMs: number;
}

/** The program of a workload with an HTTP transport, on its port. */
interface Program {
  readonly environment: Core['environment'];
  readonly spec: WorkloadSpec;
  readonly file: string;
  readonly args: readonly string[];
  readonly port: number;
  readonly output: Output;
}

/**
 * Starts a program that listens on a port, and keeps it running until it is stopped or given up.
 *
 * The first start must succeed: a program that ends before it listens is a fault and is not restarted.
 * @throws GatewayFault WORKLOAD_FAILED
 */
export async function keepRunning(
  spec: WorkloadSpec,
  command: { readonly file: string; readonly args: readonly string[] },
  settings: ProcessSettings,
  signal: AbortSignal,
): Promise<WorkloadHandle> {
  const host = spec.targetHost ?? LOOPBACK;
  const port = spec.targetPort ?? (await getPort({ host }));
  if (await portAnswers(port, host)) {
    // otherwise the other program would receive the clients' calls
    throw new GatewayFault('WORKLOAD_FAILED', `workload ${spec.name}: port ${port} is taken by another program`);
  }
  const output = createOutput(spec.logFile);
  const program: Program = { environment: settings.environment, spec, ...command, port, output };
  try {
    const first = await startFirst(program, settings.firstStartTimeoutMs, signal);
    return supervise(first, program, settings);
  } catch (cause) {
    output.close();
    throw cause;
  }
}

/** The first start, with a lock on the installation of the package into the shared cache. */
async function startFirst(program: Program, timeoutMs: number, signal: AbortSignal): Promise<ProcessGroup> {
  const { spec, environment } = program;
  const late = (packages: string): GatewayFault =>
    new GatewayFault(
      'WORKLOAD_FAILED',
      `workload ${spec.name} waited ${timeoutMs} ms for another installation of ${packages}`,
    );
  const env = programEnvironment(environment, spec.env);
  const endTurn = await installTurnOf(program, env, { signal, waitMs: timeoutMs, late });
  try {
    return await startAnswering(program, timeoutMs, signal);
  } finally {
    await endTurn?.();
  }
}

/** Starts the program and resolves when its port accepts connections. Stops it before rejecting. */
async function startAnswering(program: Program, timeoutMs: number, signal: AbortSignal): Promise<ProcessGroup> {
  const { spec, environment, port, output } = program;
  const group = await startGroup({
    name: spec.name,
    file: program.file,
    args: program.args,
    env: programEnvironment(environment, { ...portVariables(spec, port), ...spec.env }),
    cwd: spec.cwd,
    onOutput: (chunk) => output.add(chunk),
  });
  const over = new AbortController();
  const limit = AbortSignal.any([signal, over.signal, AbortSignal.timeout(timeoutMs)]);
  let end: ProgramEnd | undefined;
  void group.ended.then((how) => {
    end = how;
    over.abort();
  });
  const answers = await waitForPort(port, limit, spec.targetHost);
  if (answers && end === undefined) return group;
  const why = startFailure(end, `${spec.targetHost ?? LOOPBACK}:${port}`, timeoutMs, signal);
  await group.stop(FAILED_START_GRACE_MS);
  throw new FailedStart(`workload ${spec.name} ${why}`, end);
}

/** A failed start, with the exit code of the program if it ended. */
class FailedStart extends GatewayFault {
  readonly exitCode: number | undefined;

  constructor(message: string, end: ProgramEnd | undefined) {
    super('WORKLOAD_FAILED', message);
    this.exitCode = end === undefined ? undefined : exitCodeOf(end);
  }
}

function startFailure(end: ProgramEnd | undefined, address: string, timeoutMs: number, signal: AbortSignal): string {
  if (end !== undefined) return `ended (${describeEnd(end)}) before it listened on ${address}`;
  if (signal.aborted) return 'was stopped while it started';
  return `did not listen on ${address} within ${timeoutMs} ms (passed in PORT and MCP_PORT)`;
}

/** Variables with the port, under the names that server frameworks read. */
function portVariables(spec: WorkloadSpec, port: number): Record<string, string> {
  return {
    PORT: String(port),
    MCP_PORT: String(port),
    FASTMCP_PORT: String(port),
    MCP_HOST: spec.targetHost ?? LOOPBACK,
    MCP_TRANSPORT: spec.transport,
  };
}

function supervise(first: ProcessGroup, program: Program, settings: ProcessSettings): WorkloadHandle {
  const { spec, port, output } = program;
  const stopping = new AbortController();
  let group: ProcessGroup | undefined = first;
  let startedAtMs = Date.now();
  let state: WorkloadState = { name: spec.name, status: 'running', pid: first.pid, startedAtMs, restarts: 0 };

  const ended = watch();
  return {
    get state() {
      return state;
    },
    reach: { transport: spec.transport, url: urlOf(spec, port) },
    ended,
    logs: () => output.tail(),
    async stop(graceMs) {
      stopping.abort();
      await group?.stop(graceMs);
      await ended;
    },
  };

  async function watch(): Promise<WorkloadState> {
    let inARow = 0;
    let restarts = 0;
    for (;;) {
      const how = await group?.ended;
      const end = how === undefined ? 'it could not be started' : describeEnd(how);
      // remaining processes of the group would keep the port
      await group?.stop(0);
      if (stopping.signal.aborted) return finish({ status: 'stopped' });
      const next = nextRestart(settings.restart, inARow, group === undefined ? 0 : Date.now() - startedAtMs);
      if (next === undefined) {
        const message = inARow === 0 ? `it ended: ${end}` : `given up after ${inARow} restarts in a row: ${end}`;
        return finish({ status: 'error', message, ...(how === undefined ? {} : { exitCode: exitCodeOf(how) }) });
      }
      output.note(`[toolmgr] ${spec.name} ended (${end}); starting it again in ${next.delayMs} ms`);
      inARow = next.restarts;
      state = { name: spec.name, status: 'starting', restarts, message: end };
      await delay(next.delayMs, undefined, { signal: stopping.signal }).catch(() => {});
      if (stopping.signal.aborted) return finish({ status: 'stopped' });
      restarts++;
      startedAtMs = Date.now();
      group = await startAnswering(program, settings.startTimeoutMs, stopping.signal).catch(() => undefined);
      if (group !== undefined) {
        state = { name: spec.name, status: 'running', pid: group.pid, startedAtMs, restarts };
      }
    }
  }

  function finish(last: Pick<WorkloadState, 'status' | 'message' | 'exitCode'>): WorkloadState {
    state = { name: spec.name, restarts: state.restarts, ...last };
    output.note(`[toolmgr] ${spec.name} ${last.message ?? 'stopped'}`);
    output.close();
    return state;
  }
}

function urlOf({ transport, targetHost = LOOPBACK }: WorkloadSpec, port: number): string {
  const host = targetHost.includes(':') ? `[${targetHost}]` : targetHost;
  return `http://${host}:${port}${ENDPOINT_PATHS[transport]}`;
}

/** The exit code for a signal is 128 plus its number, as in shells. */
function exitCodeOf({ code, signal }: ProgramEnd): number {
  return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
}

function describeEnd(end: ProgramEnd): string {
  return end.signal === null ? `exit code ${end.code ?? 'unknown'}` : `signal ${end.signal}`;
}

/** Default endpoint paths per transport. */
const ENDPOINT_PATHS = { 'streamable-http': '/mcp', sse: '/sse', stdio: '' } as const;
const LOOPBACK = '127.0.0.1';
const FAILED_START_GRACE_MS = 2_000;
