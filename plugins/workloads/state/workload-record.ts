import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { isRunning } from './process-identity.ts';

/** What a workload is called: letters, digits, `.`, `_`, `-`; it starts with a letter or digit. */
export const workloadName = z
  .string()
  .max(100, 'a workload name has at most 100 characters')
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'a workload name has letters, digits, ".", "_", "-", and starts with one of the first two',
  );

/** What a workload is, as `run` was told: `run.json`, written once. Values of `env` may be secret. */
export const workloadConfig = z.strictObject({
  format: z.literal(1),
  name: workloadName,
  group: workloadName,
  /** The TARGET as it was typed. */
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

/** A workload as it was asked for. */
export type WorkloadConfig = z.output<typeof workloadConfig>;

/** How a workload is doing, as its proxy last said: `status.json`. */
export const workloadStatus = z.strictObject({
  format: z.literal(1),
  status: z.enum(['starting', 'running', 'stopping', 'stopped', 'error']),
  /** The proxy process; absent when none should run. */
  proxy: z.strictObject({ pid: z.int(), started: z.string() }).optional(),
  /** Marks every process that this start of the workload made. */
  runId: z.string().optional(),
  port: z.int().optional(),
  /** The MCP endpoint, as clients on this machine reach it. */
  url: z.string().optional(),
  message: z.string().optional(),
  updatedAtMs: z.int(),
});

/** The last word of a workload's proxy. */
export type WorkloadStatus = z.output<typeof workloadStatus>;

/** One workload on disk, with the truth about its proxy. */
export interface WorkloadRecord {
  readonly name: string;
  /** Absent when `run.json` cannot be read; `message` says why. */
  readonly config: WorkloadConfig | undefined;
  /** What was written, with `status` corrected when the proxy is not there any more. */
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
 * Names that begin with a dot are half-made or half-removed ones and do not count. A file that cannot be read gives a
 * record in status `error` that says so.
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

/** One workload, or `undefined` when there is none of this name. */
export async function readWorkload(state: string, name: string): Promise<WorkloadRecord | undefined> {
  if (!workloadName.safeParse(name).success) return undefined;
  let [config, status] = await readBoth(state, name);
  // one of two missing: most likely the folder was taken away, or made anew, between the two reads
  for (let n = 1; n < READ_TRIES && (config === undefined) !== (status === undefined); n++) {
    [config, status] = await readBoth(state, name);
  }
  if (config === undefined && status === undefined) return undefined;
  if (status === undefined || 'unreadable' in status) return broken(name, config, status?.unreadable);
  if (config === undefined || 'unreadable' in config) {
    const alive = status.value.proxy !== undefined && (await isRunning(status.value.proxy));
    const message = config?.unreadable ?? `${WORKLOAD_FILES.config} is missing`;
    return { name, config: undefined, status: { ...status.value, status: 'error', message }, alive };
  }
  const alive = status.value.proxy !== undefined && (await isRunning(status.value.proxy));
  return { name, config: config.value, status: truth(status.value, alive), alive };
}

const READ_TRIES = 5; // more only meets a record that is damaged for good

/** What a written status is worth when its proxy is gone. */
function truth(written: WorkloadStatus, alive: boolean): WorkloadStatus {
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

function broken(name: string, config: Read<WorkloadConfig>, why: string | undefined): WorkloadRecord {
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
