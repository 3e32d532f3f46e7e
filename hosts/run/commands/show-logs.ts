import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { readWorkload, removeLeftFolders, WORKLOAD_FILES, workloadDir } from '@toolmgr/plugins/kit/workloads';
import { stopSignal } from '../../shared/stop-signal.ts';
import { harmless, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { followFile } from '../../workloads/planning/follow-file.ts';
import { unknownWorkload } from '../../workloads/planning/select.ts';
import { followLog, tailLog } from '../../workloads/planning/tail-log.ts';

/** Flags of `toolmgr logs` for workloads. */
export interface LogFlags {
  readonly follow?: boolean;
  readonly proxy?: boolean;
  /** Only the last lines. */
  readonly lines?: number;
}

/**
 * `toolmgr logs`: prints the stderr of a workload, or the log of its proxy.
 *
 * On a terminal only text and colours are printed. The output of a remote server is not available, so a URL workload shows the
 * log of its proxy.
 * @throws UsageError when there is no such workload
 */
export async function showLogs(name: string, flags: LogFlags): Promise<void> {
  const state = stateDir(process.env);
  const record = await readWorkload(state, name);
  if (record === undefined) throw new UsageError(await unknownWorkload(state, name));
  const isProxy = flags.proxy === true || record.config?.remote_url !== undefined;
  const path = join(workloadDir(state, name), isProxy ? WORKLOAD_FILES.proxyLog : WORKLOAD_FILES.log);
  const print = (text: string): void => void process.stdout.write(stdout.isTty ? harmless(text) : text);
  // the output may end in a colour, or hidden
  if (stdout.isTty) process.once('exit', () => void process.stdout.write(RESET_STYLE));
  if (flags.lines !== undefined) {
    const { text, end } = await tailLog(path, flags.lines);
    print(text);
    if (!flags.follow) return;
    using stop = stopSignal();
    for await (const more of followLog(path, end, stop.signal, async () => false)) print(more);
    return;
  }
  if (await isThere(`${path}.1`)) await followFile(`${path}.1`, print, AbortSignal.abort());
  if (!flags.follow) return followFile(path, print, AbortSignal.abort());
  const stop = stopSignal();
  await followFile(path, print, stop.signal);
  stop.release();
}

const RESET_STYLE = '\u001b[0m';

/** `toolmgr logs prune`: a killed command may leave the folder of a removed workload, with its logs. */
export async function pruneLogs(): Promise<void> {
  const removed = await removeLeftFolders(stateDir(process.env));
  stdout.line(removed === 0 ? 'nothing was left' : `${removed} ${removed === 1 ? 'folder' : 'folders'} removed`);
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
