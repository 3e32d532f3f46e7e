import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { explainIssues } from '@toolmgr/core';
import { z } from 'zod';
import { isRunning, type ProcessMark } from '../../files/process-identity.ts';
import { whenAbsent } from '../../files/when-absent.ts';
import { readRunConfig } from './run-config/read-run-config.ts';
import type { RunConfig } from './run-config/run-config.ts';
import { workloadName } from './workload-name.ts';

const processMark = z.strictObject({ pid: z.int(), started: z.string() });

/** Status of a workload: `status.json`. Written by its proxy and by commands that change it, never by readers. */
export const workloadStatus = z.strictObject({
  format: z.literal(1),
  status: z.enum([
    'starting',
    'running',
    'unhealthy',
    'unauthenticated',
    'auth_retrying',
    'stopping',
    'stopped',
    'removing',
    'error',
    'unknown',
  ]),
  /** What should be, whatever the status is. */
  desired: z.enum(['running', 'stopped']).optional(),
  /** The proxy process; absent when it should not run. */
  proxy: processMark.optional(),
  /** The command that starts, restarts, changes or removes the workload, while it has no proxy. */
  by: processMark.optional(),
  /** Identifies this record: a later workload of the same name has another one. */
  id: z.string().optional(),
  /** Counts starts and stops: a proxy serves only the start that it was made for. */
  generation: z.int().optional(),
  /** Identifies the processes of this start of the workload. */
  runId: z.string().optional(),
  port: z.int().optional(),
  /** The MCP endpoint for clients on this machine. */
  url: z.string().optional(),
  message: z.string().optional(),
  /** When this start was made, in epoch milliseconds. */
  startedAtMs: z.int().optional(),
  /** How often its program or container was started again since then. */
  restarts: z.int().optional(),
  updatedAtMs: z.int(),
});

/** The last status that a workload's proxy wrote. */
export type WorkloadStatus = z.output<typeof workloadStatus>;

/** Which process serves a workload: `process.json`, written with each change of it. It counts while `status.json` cannot be read. */
export const workloadProcess = workloadStatus.pick({
  format: true,
  proxy: true,
  id: true,
  generation: true,
  runId: true,
  port: true,
});

/** What `process.json` holds. */
export type WorkloadProcess = z.output<typeof workloadProcess>;

/** What should be. */
export type DesiredState = NonNullable<WorkloadStatus['desired']>;

/** What should be, also by a record of a version that did not write it. Pure. */
export function desiredOf({ desired, status }: WorkloadStatus): DesiredState {
  return desired ?? (RUNNING.has(status) ? 'running' : 'stopped');
}

/**
 * Why another process must not start a workload again: it runs in the foreground, where its end removes it. `undefined` otherwise.
 * Pure.
 */
export function whyNotRestarted({ alive, status }: Pick<WorkloadRecord, 'alive' | 'status'>): string | undefined {
  // only what ends with its terminal runs without being desired
  if (!alive || status.desired !== 'stopped' || status.status === 'stopping') return undefined;
  return `it runs in the foreground of process ${status.proxy?.pid ?? '?'}: stop it there, and run it again`;
}

const RUNNING: ReadonlySet<WorkloadStatus['status']> = new Set([
  'starting',
  'running',
  'unhealthy',
  'unauthenticated',
  'auth_retrying',
]);

/** One workload on disk, with the real state of its proxy. */
export interface WorkloadRecord {
  readonly name: string;
  /** Absent when `run.json` cannot be read; `message` says why. */
  readonly config: RunConfig | undefined;
  /** The written status, corrected when the proxy no longer runs. */
  readonly status: WorkloadStatus;
  /** The proxy process runs right now. */
  readonly alive: boolean;
  /** The command that works on it, which runs right now. */
  readonly heldBy?: ProcessMark;
}

/** File names inside a workload's folder. */
export const WORKLOAD_FILES = {
  config: 'run.json',
  /** The configuration before a change that is not finished. */
  previousConfig: 'run.previous.json',
  secrets: 'secrets.json',
  status: 'status.json',
  process: 'process.json',
  containers: 'containers.json',
  log: 'workload.log',
  proxyLog: 'proxy.log',
  /** The last calls, one JSON object a line; bounded. */
  calls: 'calls.jsonl',
} as const;

/** Folder that holds one folder per workload. */
export function workloadsDir(state: string): string {
  return join(state, 'workloads');
}

/** Folder of one workload. */
export function workloadDir(state: string, name: string): string {
  return join(workloadsDir(state), name);
}

/**
 * Every workload on disk, sorted by name. Read-only: nothing is repaired.
 *
 * Skips names with a leading dot, which are temporary. A file that cannot be read gives a record with status `error` and a
 * message.
 */
export async function readWorkloads(state: string): Promise<readonly WorkloadRecord[]> {
  const names = await listWorkloadNames(state);
  const records = await Promise.all(names.map((name) => readWorkload(state, name)));
  return records.filter((record) => record !== undefined);
}

/** The names of all workloads on disk, sorted. */
export async function listWorkloadNames(state: string): Promise<readonly string[]> {
  const names = await readdir(workloadsDir(state)).catch(whenAbsent([]));
  return names.filter((name) => workloadName.safeParse(name).success).sort();
}

/** One workload; `undefined` when it does not exist. */
export function readWorkload(state: string, name: string): Promise<WorkloadRecord | undefined> {
  return settledRecord(name, () => readWrittenWorkload(state, name), isRunning);
}

/**
 * The record of files that are read before their processes are looked for. Where a process has ended, they are read once more: it may
 * have written how it ended in between.
 */
export async function settledRecord(
  name: string,
  read: () => Promise<WrittenWorkload | undefined>,
  runs: (mark: ProcessMark) => Promise<boolean>,
): Promise<WorkloadRecord | undefined> {
  const first = await read();
  if (first === undefined) return undefined;
  const record = await recordWith(name, first, runs);
  if (contentOf(first.status)?.status === record.status.status) return record;
  const again = await read();
  return again && recordWith(name, again, runs);
}

async function recordWith(
  name: string,
  written: WrittenWorkload,
  runs: (mark: ProcessMark) => Promise<boolean>,
): Promise<WorkloadRecord> {
  const marks = [contentOf(written.status)?.proxy, contentOf(written.status)?.by, contentOf(written.process)?.proxy];
  const running = new Set<unknown>();
  for (const mark of marks) if (mark !== undefined && (await runs(mark))) running.add(mark);
  return recordOf(name, written, (mark) => running.has(mark));
}

/** The files of a workload as they are written. */
export interface WrittenWorkload {
  readonly config: FileResult<RunConfig>;
  readonly status: FileResult<WorkloadStatus>;
  /** Read when the status cannot be. */
  readonly process?: FileResult<WorkloadProcess>;
}

/** The files of one workload; `undefined` when it does not exist. */
export async function readWrittenWorkload(state: string, name: string): Promise<WrittenWorkload | undefined> {
  if (!workloadName.safeParse(name).success) return undefined;
  let [config, status] = await readBoth(state, name);
  // one of two missing: probably the folder was removed or created between the two reads
  for (let n = 1; n < READ_TRIES && (config === undefined) !== (status === undefined); n++) {
    [config, status] = await readBoth(state, name);
  }
  if (config === undefined && status === undefined) return undefined;
  if (contentOf(status) !== undefined) return { config, status };
  const path = join(workloadDir(state, name), WORKLOAD_FILES.process);
  return { config, status, process: await readRecord(path, readProcess) };
}

/** The record of written files. `runs` says whether a process runs. Pure but for that. */
export function recordOf(
  name: string,
  { config, status, process: served }: WrittenWorkload,
  runs: (mark: ProcessMark) => boolean,
): WorkloadRecord {
  if (status === undefined || 'problem' in status) {
    const known = contentOf(served) ?? { format: 1 };
    const alive = known.proxy !== undefined && runs(known.proxy);
    return unreadableRecord(name, contentOf(config), status?.problem, known, alive);
  }
  const { proxy, by } = status.value;
  const alive = proxy !== undefined && runs(proxy);
  if (config === undefined || 'problem' in config) {
    const message = config?.problem ?? `${WORKLOAD_FILES.config} is missing`;
    return { name, config: undefined, status: { ...status.value, status: 'error', message }, alive };
  }
  const isWorkedOn = by !== undefined && runs(by);
  const held = isWorkedOn ? { heldBy: by } : {};
  return { name, config: config.value, status: correctedStatus(status.value, alive, isWorkedOn), alive, ...held };
}

const READ_TRIES = 5; // then the record is damaged

/**
 * The written status, corrected when the processes that it names no longer run. Pure: a reader writes nothing back, so it
 * cannot overwrite what a start has written meanwhile.
 *
 * Shape: `alive`, the proxy runs; `isWorkedOn`, the command in `by` runs.
 */
export function correctedStatus(written: WorkloadStatus, alive: boolean, isWorkedOn: boolean): WorkloadStatus {
  if (alive || isWorkedOn) return written;
  return { ...written, ...WITHOUT_PROCESS[written.status] };
}

const ENDED = { status: 'unhealthy', message: 'its proxy ended unexpectedly' } as const;

const WITHOUT_PROCESS: Readonly<Partial<Record<WorkloadStatus['status'], Partial<WorkloadStatus>>>> = {
  starting: { status: 'error', message: 'its proxy ended while starting' },
  running: ENDED,
  unhealthy: ENDED,
  unauthenticated: ENDED,
  auth_retrying: ENDED,
  stopping: { status: 'stopped' },
  removing: { status: 'stopped', message: 'its removal was interrupted: remove it again' },
};

async function readBoth(state: string, name: string): Promise<[FileResult<RunConfig>, FileResult<WorkloadStatus>]> {
  const folder = workloadDir(state, name);
  return [
    await readRecord(join(folder, WORKLOAD_FILES.config), readConfig),
    await readRecord(join(folder, WORKLOAD_FILES.status), readStatus),
  ];
}

type FileResult<T> = { readonly value: T } | { readonly problem: string } | undefined;

type ParseResult<T> = { readonly value: T } | { readonly problem: string };

function readConfig(value: unknown): ParseResult<RunConfig> {
  const read = readRunConfig(value);
  return 'config' in read ? { value: read.config } : { problem: read.problems.join('; ') };
}

function readStatus(value: unknown): ParseResult<WorkloadStatus> {
  const read = workloadStatus.safeParse(value);
  return read.success ? { value: read.data } : { problem: explainIssues('', workloadStatus, read.error).join('; ') };
}

function readProcess(value: unknown): ParseResult<WorkloadProcess> {
  const read = workloadProcess.safeParse(value);
  return read.success ? { value: read.data } : { problem: 'it is damaged' };
}

function contentOf<T>(read: FileResult<T>): T | undefined {
  return read !== undefined && 'value' in read ? read.value : undefined;
}

async function readRecord<T>(path: string, readValue: (value: unknown) => ParseResult<T>): Promise<FileResult<T>> {
  try {
    const read = readValue(JSON.parse(await readFile(path, 'utf8')));
    return 'value' in read ? read : { problem: `${path} is not valid: ${read.problem}` };
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return { problem: `${path} cannot be read: ${code ?? 'not JSON'}` };
  }
}

function unreadableRecord(
  name: string,
  config: RunConfig | undefined,
  why: string | undefined,
  known: WorkloadProcess,
  alive: boolean,
): WorkloadRecord {
  const message = why ?? `${WORKLOAD_FILES.status} is missing`;
  return { name, config, status: { ...known, status: 'unknown', message, updatedAtMs: 0 }, alive };
}

/** Whether a record keeps its name from a new workload: a failed one without a process does not. */
export function isHeldName({ alive, status }: WorkloadRecord): boolean {
  return alive || status.status !== 'error';
}
