import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isRunning } from './process-identity.ts';

/** Name of a workload: letters, digits, `.`, `_`, `-`; starts with a letter or digit. */
export const workloadName = z
  .string()
  .max(100, 'a workload name has at most 100 characters')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'a workload name has letters, digits, ".", "_", "-", and starts with a letter or digit',
  );

/** Configuration of a workload from `run`: `run.json`, written once. Values of `env` may be secret. */
export const workloadConfig = z.strictObject({
  format: z.literal(1),
  name: workloadName,
  group: workloadName,
  /** The TARGET argument. */
  target: z.string(),
  transport: z.enum(['stdio', 'sse', 'streamable-http']),
  command: z.strictObject({ file: z.string(), args: z.array(z.string()) }).optional(),
  url: z.string().optional(),
  env: z.record(z.string(), z.string()),
  cwd: z.string(),
  host: z.string(),
  /** 0 or absent: any free port, kept over restarts. */
  proxyPort: z.int().min(0).max(65_535).optional(),
  targetPort: z.int().min(1).max(65_535).optional(),
  strictProtocolValidation: z.boolean().optional(),
  /** Time for the first start of its program; 5 minutes when absent. */
  startTimeoutMs: z.int().min(1).optional(),
  createdAtMs: z.int(),
});

/** The configuration of a workload. */
export type WorkloadConfig = z.output<typeof workloadConfig>;

/** Status of a workload, written by its proxy: `status.json`. */
export const workloadStatus = z.strictObject({
  format: z.literal(1),
  status: z.enum(['starting', 'running', 'stopping', 'stopped', 'error']),
  /** The proxy process; absent when it should not run. */
  proxy: z.strictObject({ pid: z.int(), started: z.string() }).optional(),
  /** Identifies the processes of this start of the workload. */
  runId: z.string().optional(),
  port: z.int().optional(),
  /** The MCP endpoint for clients on this machine. */
  url: z.string().optional(),
  message: z.string().optional(),
  updatedAtMs: z.int(),
});

/** The last status that a workload's proxy wrote. */
export type WorkloadStatus = z.output<typeof workloadStatus>;

/** One workload on disk, with the real state of its proxy. */
export interface WorkloadRecord {
  readonly name: string;
  /** Absent when `run.json` cannot be read; `message` says why. */
  readonly config: WorkloadConfig | undefined;
  /** The written status, corrected when the proxy no longer runs. */
  readonly status: WorkloadStatus;
  /** The proxy process runs right now. */
  readonly alive: boolean;
}

/** File names inside a workload's folder. */
export const WORKLOAD_FILES = {
  config: 'run.json',
  status: 'status.json',
  log: 'workload.log',
  proxyLog: 'proxy.log',
} as const;

/** Folder of everything that is kept between runs: `TOOLMGR_STATE_DIR`, else `toolmgr` in the XDG state folder. */
export function stateDir(env: Readonly<Record<string, string | undefined>> = process.env): string {
  if (env.TOOLMGR_STATE_DIR) return env.TOOLMGR_STATE_DIR;
  // XDG base directory specification: a relative path is ignored
  if (env.XDG_STATE_HOME?.startsWith('/')) return join(env.XDG_STATE_HOME, 'toolmgr');
  return join(env.HOME ?? homedir(), '.local', 'state', 'toolmgr');
}

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
  const names = await readdir(workloadsDir(state)).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return [];
    throw cause;
  });
  const known = names.filter((name) => workloadName.safeParse(name).success).sort();
  const records = await Promise.all(known.map((name) => readWorkload(state, name)));
  return records.filter((record) => record !== undefined);
}

/** One workload; `undefined` when it does not exist. */
export async function readWorkload(state: string, name: string): Promise<WorkloadRecord | undefined> {
  if (!workloadName.safeParse(name).success) return undefined;
  let [config, status] = await readBoth(state, name);
  // one of two missing: probably the folder was removed or created between the two reads
  for (let n = 1; n < READ_TRIES && (config === undefined) !== (status === undefined); n++) {
    [config, status] = await readBoth(state, name);
  }
  if (config === undefined && status === undefined) return undefined;
  if (status === undefined || 'unreadable' in status) return unreadableRecord(name, config, status?.unreadable);
  if (config === undefined || 'unreadable' in config) {
    const alive = status.value.proxy !== undefined && (await isRunning(status.value.proxy));
    const message = config?.unreadable ?? `${WORKLOAD_FILES.config} is missing`;
    return { name, config: undefined, status: { ...status.value, status: 'error', message }, alive };
  }
  const alive = status.value.proxy !== undefined && (await isRunning(status.value.proxy));
  return { name, config: config.value, status: correctedStatus(status.value, alive), alive };
}

const READ_TRIES = 5; // then the record is damaged

/** The status, corrected when the proxy no longer runs. */
function correctedStatus(written: WorkloadStatus, alive: boolean): WorkloadStatus {
  if (alive || !(written.status in WITHOUT_PROXY)) return written;
  return { ...written, ...WITHOUT_PROXY[written.status as keyof typeof WITHOUT_PROXY] };
}

const WITHOUT_PROXY = {
  starting: { status: 'error', message: 'its proxy ended while starting' },
  running: { status: 'error', message: 'its proxy ended unexpectedly' },
  stopping: { status: 'stopped' },
} as const satisfies Partial<Record<WorkloadStatus['status'], Partial<WorkloadStatus>>>;

async function readBoth(state: string, name: string): Promise<[Read<WorkloadConfig>, Read<WorkloadStatus>]> {
  const folder = workloadDir(state, name);
  return [
    await readRecord(join(folder, WORKLOAD_FILES.config), workloadConfig),
    await readRecord(join(folder, WORKLOAD_FILES.status), workloadStatus),
  ];
}

type Read<T> = { readonly value: T } | { readonly unreadable: string } | undefined;

async function readRecord<S extends z.ZodType>(path: string, schema: S): Promise<Read<z.output<S>>> {
  try {
    const read = schema.safeParse(JSON.parse(await readFile(path, 'utf8')));
    if (read.success) return { value: read.data };
    return { unreadable: `${path} does not fit: ${read.error.issues[0]?.path.join('.') ?? ''} is wrong` };
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    return { unreadable: `${path} cannot be read: ${code ?? 'not JSON'}` };
  }
}

function unreadableRecord(name: string, config: Read<WorkloadConfig>, why: string | undefined): WorkloadRecord {
  return {
    name,
    config: config !== undefined && 'value' in config ? config.value : undefined,
    status: {
      format: 1,
      status: 'error',
      message: why ?? `${WORKLOAD_FILES.status} is missing`,
      updatedAtMs: 0,
    },
    alive: false,
  };
}
