import { explainCause } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import {
  type RunConfig,
  readWorkload,
  WORKLOAD_FILES,
  type WorkloadRecord,
  workloadDir,
} from '@toolmgr/plugins/kit/workloads';
import { listContainersOf } from '@toolmgr/plugins/workloads/container';
import { HIDDEN, redactArguments, redactUrl } from '../../shared/redact-arguments.ts';
import { columns, printable, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { unknownWorkload } from '../../workloads/planning/select.ts';
import { summaryOf } from '../../workloads/planning/summary.ts';

/** `toolmgr status`: the state of one workload. */
export async function showStatus(name: string, { format }: { readonly format: 'text' | 'json' }): Promise<void> {
  const { record } = await recordOf(name);
  const summary = summaryOf(record);
  if (format === 'json') return stdout.json(summary);
  const { status, pid, restarts } = summary;
  const rows = [
    ['name', name],
    ['status', status === 'running' ? stdout.green(status) : status],
    ['reason', summary.status_context ?? ''],
    ['endpoint', summary.url],
    ['group', summary.group],
    ['target', summary.target],
    ['transport', summary.transport_type],
    ['started', summary.started_at ?? ''],
    ['restarts', restarts === 0 ? '' : String(restarts)],
    ['proxy', pid === null ? '' : `pid ${pid}`],
  ];
  for (const line of columns(rows.filter(([, value]) => value !== ''))) stdout.line(printable(line));
}

/** `toolmgr inspect`: the whole configuration and the facts of the current start, as JSON. Values that may be secret are hidden. */
export async function inspectWorkload(name: string): Promise<void> {
  const { record, state } = await recordOf(name);
  const folder = workloadDir(state, name);
  const { runId, generation } = record.status;
  const facts = {
    ...summaryOf(record),
    configuration: record.config === undefined ? null : redactedConfig(record.config),
    run: { id: runId ?? null, generation: generation ?? 0 },
    files: { folder, log: `${folder}/${WORKLOAD_FILES.log}`, proxy_log: `${folder}/${WORKLOAD_FILES.proxyLog}` },
    ...(record.config?.image === undefined ? {} : { containers: await containersOf(name) }),
  };
  stdout.json(facts);
}

async function recordOf(name: string): Promise<{ readonly record: WorkloadRecord; readonly state: string }> {
  const state = stateDir(process.env);
  const record = await readWorkload(state, name);
  if (record === undefined) throw new UsageError(await unknownWorkload(state, name));
  return { record, state };
}

async function containersOf(name: string): Promise<unknown> {
  return listContainersOf(name, process.env).catch((cause: unknown) => ({ problem: explainCause(cause) }));
}

/** A configuration for printing: values of variables and headers, arguments and the query of the URL may be secret. Pure. */
export function redactedConfig(config: RunConfig): RunConfig {
  const { process: program, remote_url: url, header_forward: forward } = config;
  const headers = forward?.add_plaintext_headers;
  return {
    ...config,
    env_vars: hidden(config.env_vars),
    cmd_args: redactArguments(config.cmd_args) as string[],
    ...(url === undefined ? {} : { remote_url: redactUrl(url) }),
    ...(program === undefined ? {} : { process: { ...program, args: redactArguments(program.args) as string[] } }),
    ...(headers === undefined ? {} : { header_forward: { ...forward, add_plaintext_headers: hidden(headers) } }),
  };
}

function hidden(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.keys(values).map((name) => [name, HIDDEN]));
}
