import { stateDir } from '@toolmgr/plugins/kit/files';
import { readWorkload } from '@toolmgr/plugins/kit/workloads';
import { showLogs } from '../../run/commands/show-logs.ts';
import { fetchLines } from '../../shared/running/control-client.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { printable, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { gatewayWith } from './backends-of.ts';

/** Flags of `toolmgr logs`. */
export interface LogFlags {
  readonly follow?: boolean;
  readonly proxy?: boolean;
  readonly lines?: number;
  readonly gateway?: string;
}

const DEFAULT_LINES = 500;

/**
 * `toolmgr logs`: a name of a workload shows its log file, any other name the last lines of a backend that a running gateway
 * remembers.
 * @throws UsageError when there is neither
 */
export async function logs(name: string, flags: LogFlags): Promise<void> {
  const { gateway, follow = false, lines = DEFAULT_LINES } = flags;
  const isWorkload = gateway === undefined && (await readWorkload(stateDir(process.env), name)) !== undefined;
  const record = isWorkload ? undefined : await gatewayWith(name, gateway);
  if (record === undefined) return showLogs(name, flags);
  if (flags.proxy) throw new UsageError('--proxy is for workloads; the log of a gateway is its own output');
  using stop = stopSignal();
  for await (const line of fetchLines(record, { backend: name, lines, follow, signal: stop.signal })) {
    stdout.line(lineOf(line));
  }
}

/** A line of the program as it was written; our lines with their time and level. */
function lineOf({ time, level, message, fields }: Readonly<Record<string, unknown>>): string {
  const text = printable(String(message));
  if (level === 'output') return text;
  // the lines of stderr are there already
  const { backend: _, stderr: __, ...rest } = (fields ?? {}) as Readonly<Record<string, unknown>>;
  const facts = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return `${stdout.dim(`${time} ${level}`)} ${text}${printable(facts.join(''))}`;
}
