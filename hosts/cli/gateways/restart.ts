import { stateDir } from '@toolmgr/plugins/kit/files';
import { readWorkload } from '@toolmgr/plugins/kit/workloads';
import { restart as restartWorkloads } from '../../run/commands/workloads.ts';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { countTools } from '../../shared/report-starts.ts';
import { restartBackend } from '../../shared/running/control-client.ts';
import { printable, stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import type { Selection } from '../../workloads/planning/select.ts';
import { gatewayWith } from './backends-of.ts';

/**
 * `toolmgr restart`: a name of a workload restarts that workload, any other name the backend of a running gateway.
 * @throws UsageError when several gateways have the backend
 */
export async function restart(
  names: readonly string[],
  { gateway, ...selection }: Selection & { readonly gateway?: string },
): Promise<void> {
  if (gateway !== undefined && (selection.all || selection.group !== undefined || names.length === 0)) {
    throw new UsageError('--gateway needs names of backends');
  }
  const workloads: string[] = [];
  for (const name of names) {
    const isWorkload = gateway === undefined && (await readWorkload(stateDir(process.env), name)) !== undefined;
    const record = isWorkload ? undefined : await gatewayWith(name, gateway);
    if (record === undefined) {
      workloads.push(name);
      continue;
    }
    stderr.line(stderr.dim(`restarting ${name} of gateway ${record.name} …`));
    const { state, tools, error } = await restartBackend(record, name);
    const count = tools === null ? '' : `, ${countTools(tools)}`;
    if (error === undefined) {
      stdout.line(`${name} is ${state}${state === 'ready' ? count : ''}`);
      continue;
    }
    stderr.line(`${stderr.red('toolmgr:')} ${name} is not ready: ${printable(error.message)}`);
    stderr.line(`  fix: ${printable(error.fix)}`);
    process.exitCode = EXIT_CODES.failed.code;
  }
  if (workloads.length > 0 || names.length === 0) await restartWorkloads(workloads, selection);
}
