import { createLog } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/workloads/state';
import type { Command } from 'commander';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { VERSION } from '../../shared/version.ts';
import { readManagerSetup } from '../manager-config.ts';

/** Loads what adds the commands of the plugins that `manager.yaml` names; nothing when there is no such file. */
export async function loadPluginCommands(): Promise<(program: Command) => void> {
  const setup = await readManagerSetup(undefined, process.env);
  if (setup === undefined) return () => {};
  const [{ openFeatures }, { addOperationCommand }] = await Promise.all([
    import('../open-features.ts'),
    import('./operation-command.ts'),
  ]);
  const state = stateDir();
  const { operations } = await openFeatures({
    ...{ state, env: process.env, signal: new AbortController().signal, version: VERSION },
    log: createLog('warn', (line) => stderr.line(line)),
    ...setup,
    plan: setup.plan.filter(({ use }) => use !== 'endpoints'), // needs the manager
  });
  const runner = async () => (await import('./run-operation.ts')).operationRunner(state);
  return (program) => {
    for (const operation of operations) {
      const { command } = operation;
      if (command === undefined) continue;
      const [word = ''] = command.words.split(' ');
      if (program.commands.some((known) => known.name() === word && !added.has(known)))
        throw new UsageError(`manager.yaml: the command ${word} of ${operation.id} is one of toolmgr`);
      addOperationCommand(program, operation, command, runner);
      for (const known of program.commands) if (known.name() === word) added.add(known);
    }
  };
}

/** Commands that plugins have added; several may share a first word. */
const added = new WeakSet<Command>();
