import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGateway, createLog, type PlanInput } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { serveGateway } from '../../../hosts/http/listen.ts';
import { addRunCommand } from '../../../hosts/run/main.ts';
import { ProgramCommand } from '../../../hosts/shared/program-command.ts';
import { configFromFlags, type NewWorkload } from '../../../hosts/workloads/config/config-from-flags.ts';
import type { RunFlags } from '../../../hosts/workloads/fields/options.ts';
import { checkPlan } from '../../../hosts/workloads/planning/check-plan.ts';
import { planFromRun } from '../../../hosts/workloads/proxy/plan.ts';
import { workloadSecrets } from '../../../hosts/workloads/proxy/workload-secrets.ts';
import { until } from '../../support/until.ts';

/** What `toolmgr run ARGV` makes before it starts anything. */
export interface Planned extends NewWorkload {
  readonly plan: PlanInput;
}

/** Parses a command line of `run` and plans it. */
export async function planned(argv: readonly string[], cwd = '/'): Promise<Planned> {
  const program = new ProgramCommand('toolmgr').enablePositionalOptions().exitOverride();
  program.configureOutput({ writeErr: () => {} });
  addRunCommand(program);
  const run = program.commands.find((command) => command.name() === 'run');
  let read: { target: string; args: string[]; flags: RunFlags } | undefined;
  run?.exitOverride().action((target: string, args: string[], flags: RunFlags) => {
    read = { target, args, flags };
  });
  await program.parseAsync(['node', 'toolmgr', 'run', ...argv]);
  if (read === undefined) throw new Error('the command line was not read');
  const made = await configFromFlags(read.target, read.args, read.flags, cwd, 0);
  const plan = await planFromRun(made.config, {
    runId: 'r',
    logFile: join(tmpdir(), `toolmgr-${process.pid}.log`),
    secrets: made.secrets,
  });
  await checkPlan(plan);
  return { ...made, plan };
}

/** A gateway that serves what `toolmgr run ARGV` plans. */
export interface ServedPlan extends AsyncDisposable {
  readonly url: string;
  readonly origin: string;
  readonly planned: Planned;
  readonly log: readonly string[];
}

/** Serves what a command line plans, in this process, once its server has answered. */
export async function served(argv: readonly string[], cwd = '/'): Promise<ServedPlan> {
  const made = await planned(argv, cwd);
  const log: string[] = [];
  const gateway = await createGateway(made.plan, {
    catalogue,
    plugins: [workloadSecrets(made.secrets)],
    log: createLog('debug', (line) => void log.push(line)),
  });
  const listener = await serveGateway(gateway, { host: '127.0.0.1', port: 0 });
  await until(() => gateway.backends()[0]?.status === 'ready');
  return {
    url: `${listener.url}/mcp`,
    origin: listener.url,
    planned: made,
    log,
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      await listener.close(0);
    },
  };
}

/** Writes files of options into a folder: a text as it is, another value as JSON. Gives the path. */
export function filesIn(folder: string) {
  return async (name: string, value: unknown): Promise<string> => {
    const file = join(folder, name);
    await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
    return file;
  };
}
