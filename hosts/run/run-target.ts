import { readWorkload, removeRecord, stateDir, type WorkloadConfig } from '@toolmgr/plugins/workloads/state';
import { EXIT_CODES } from '../shared/exit-codes.ts';
import { stopSignal } from '../shared/stop-signal.ts';
import { stderr, stdout } from '../shared/terminal.ts';
import { UsageError } from '../shared/usage-error.ts';
import { addWorkload, configFromFlags, exposureWarning } from './add-workload.ts';
import { runInForeground } from './foreground.ts';
import type { RunFlags } from './options.ts';
import { printFailure, startAndReport } from './start-detached.ts';

/**
 * `toolmgr run`: writes a workload to disk, starts it, and prints its URL once it has answered.
 * Removes a workload that does not answer, so that the same command can be repeated.
 * @throws UsageError when the arguments are invalid
 */
export async function runTarget(target: string, args: readonly string[], flags: RunFlags): Promise<void> {
  if (process.platform === 'win32')
    throw new UsageError('run needs process groups, which Windows does not have: use WSL');
  const state = stateDir();
  const config = await configFromFlags(target, args, flags, process.cwd(), Date.now());
  await addWorkload(state, config);
  const warning = exposureWarning(config);
  if (warning !== undefined) stderr.line(`${stderr.yellow('warning')} ${warning}`);
  if (flags.foreground) return foreground(state, config);
  const started = await startAndReport(state, config);
  if (started.kind === 'running') return printNextSteps(config, started.record.status.url ?? '');
  await removeRecord(state, config.name);
  printFailure(config.name, started);
}

function printNextSteps(config: WorkloadConfig, url: string): void {
  const { name, transport } = config;
  const behind =
    config.url === undefined ? `a program over ${transport}, not isolated: it has your rights` : 'a remote server';
  stdout.line(`${stdout.bold(name)} runs at ${stdout.green(url)}`);
  stdout.line(`behind it: ${behind}`);
  stdout.line();
  stdout.line(`  see its tools   toolmgr tools --url ${url}`);
  stdout.line(`  its output      toolmgr logs ${name} --follow`);
  stdout.line(`  stop it         toolmgr stop ${name}`);
}

async function foreground(state: string, config: WorkloadConfig): Promise<void> {
  const stop = stopSignal();
  const over = new AbortController();
  try {
    const running = runInForeground(state, config, (text) => void process.stderr.write(text), stop.signal);
    void printWhenRunning(state, config.name, over.signal);
    const end = await running;
    if (end.status === 'stopped') return stderr.line(`${config.name} is stopped and removed`);
    if (end.status === 'exited') {
      stderr.line(`${config.name} ended by itself (${end.how}) and is removed`);
      process.exitCode = end.exitCode;
      return;
    }
    stderr.line(`${stderr.red('toolmgr:')} ${config.name}: ${end.message}`);
    process.exitCode = end.exitCode ?? EXIT_CODES.failed.code;
  } finally {
    over.abort();
    stop.release();
  }
}

async function printWhenRunning(state: string, name: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const record = await readWorkload(state, name);
    if (record?.status.status === 'running') {
      stdout.line(`${stdout.bold(name)} runs at ${stdout.green(record.status.url ?? '')}`);
      return stderr.line('Ctrl-C stops and removes it');
    }
    await new Promise((resolve) => setTimeout(resolve, RUNNING_POLL_MS).unref());
  }
}

const RUNNING_POLL_MS = 100;
