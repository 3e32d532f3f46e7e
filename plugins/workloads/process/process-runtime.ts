import { stat } from 'node:fs/promises';
import { GatewayFault } from '@toolmgr/core';
import type { WorkloadHandle, WorkloadRuntime, WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import { heldWorkload } from '@toolmgr/plugins/kit/workloads';
import { findProgram } from './find-program.ts';
import { keepRunning, type ProcessSettings } from './keep-running.ts';

/** Runs local commands as workloads, without isolation and with the rights of toolmgr's user. */
export function createProcessRuntime(settings: ProcessSettings): WorkloadRuntime {
  return {
    async start(spec, signal) {
      const command = await checkedCommand(spec, settings.environment.PATH);
      if (spec.transport === 'stdio') return stdioWorkload(spec, command);
      return keepRunning(spec, command, settings, signal);
    },
  };
}

/**
 * A stdio workload has no process: the gateway starts one per client session, so that a server's state belongs to one client.
 * Its status is running until it is stopped.
 */
function stdioWorkload(
  spec: WorkloadSpec,
  command: { readonly file: string; readonly args: readonly string[] },
): WorkloadHandle {
  const cwd = spec.cwd === undefined ? {} : { cwd: spec.cwd };
  return heldWorkload(spec.name, { transport: 'stdio', command: { ...command, env: spec.env, ...cwd } });
}

/** Checks the program at the start, so that a misspelt command is a clear error. */
async function checkedCommand(
  spec: WorkloadSpec,
  path: string | undefined,
): Promise<{ readonly file: string; readonly args: readonly string[] }> {
  const refuse = (what: string): GatewayFault => new GatewayFault('WORKLOAD_FAILED', `workload ${spec.name}: ${what}`);
  if (spec.command === undefined) throw refuse('the process runtime needs a command');
  const cwd = spec.cwd ?? process.cwd();
  const folder = await stat(cwd).catch(() => undefined);
  if (!folder?.isDirectory()) throw refuse(`its working directory ${cwd} does not exist`);
  const found = await findProgram(spec.command.file, cwd, spec.env.PATH ?? path);
  if (found.kind === 'missing') throw refuse(`there is no program ${spec.command.file}`);
  if (found.kind === 'notExecutable') throw refuse(`${found.path} is not executable`);
  return { file: found.path, args: spec.command.args };
}
