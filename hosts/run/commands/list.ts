import { stateDir } from '@toolmgr/plugins/kit/files';
import { readWorkloads, type WorkloadRecord } from '@toolmgr/plugins/kit/workloads';
import { ownCommand } from '../../shared/own-command.ts';
import { columns, printable, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { groupsOf, unknownGroup } from '../../workloads/planning/groups.ts';
import { rowsOf, scriptOf, summaryOf, type WorkloadSummary } from '../../workloads/planning/summary.ts';

/** Flags of `toolmgr list`. */
export interface ListFlags {
  readonly all?: boolean;
  readonly group?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly format: 'text' | 'json' | 'mcpservers';
}

/** `toolmgr list`: everything that is not stopped, or all workloads with `--all`. Reads files only and changes nothing. */
export async function list({ all = false, group, label = {}, format }: ListFlags): Promise<void> {
  const state = stateDir(process.env);
  const records = await readWorkloads(state);
  if (group !== undefined) {
    const groups = await groupsOf(state, records);
    if (!groups.some(({ name }) => name === group)) throw new UsageError(unknownGroup(group, groups));
  }
  const chosen = records
    .map(summaryOf)
    .filter((workload) => group === undefined || workload.group === group)
    .filter(({ labels }) => Object.entries(label).every(([key, value]) => labels[key] === value));
  const shown = chosen.filter(({ status }) => all || status !== 'stopped');
  if (format === 'json') return stdout.json(shown);
  if (format === 'mcpservers') return stdout.json(clientConfigOf(shown));
  const hidden = chosen.length - shown.length;
  if (shown.length > 0) for (const line of columns(rowsOf(shown, scriptsOf(records)))) stdout.line(line);
  for (const { name, status_context: why } of shown) if (why !== undefined) stderr.line(printable(`${name}: ${why}`));
  if (hidden > 0) stderr.line(`${hidden} stopped: ${ownCommand('list --all')} shows ${hidden === 1 ? 'it' : 'them'}`);
  else if (shown.length === 0) stderr.line(`no workloads; start one: ${ownCommand('run npx://PACKAGE')}`);
}

function scriptsOf(records: readonly WorkloadRecord[]): ReadonlyMap<string, string> {
  return new Map(
    records.flatMap(({ name, config }) => {
      const script = config && scriptOf(config);
      return script === undefined ? [] : [[name, script]];
    }),
  );
}

/** The configuration of an MCP client for the workloads that have an endpoint. */
export function clientConfigOf(workloads: readonly WorkloadSummary[]) {
  const reachable = workloads.filter(({ url }) => url !== '');
  const servers = reachable.map(({ name, url, proxy_mode }) => [
    name,
    { type: proxy_mode === 'sse' ? 'sse' : 'http', url },
  ]);
  return { mcpServers: Object.fromEntries(servers) as Record<string, { type: string; url: string }> };
}
