import { createLog, explainCause } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import type { Command } from 'commander';
import { stderr } from '../../shared/terminal.ts';
import { VERSION } from '../../shared/version.ts';
import { type ManagerSetup, readManagerSetup } from '../manager-config.ts';

/**
 * Loads what adds the commands of the plugins that `manager.yaml` names; nothing when there is no such file. The other commands and the help
 * work with a file that is wrong: what is wrong is a warning.
 */
export async function loadPluginCommands(): Promise<(program: Command) => void> {
  try {
    const setup = await readManagerSetup(undefined, process.env);
    return setup === undefined ? () => {} : await commandsOf(setup);
  } catch (cause) {
    warn(`the commands of plugins are missing: ${explainCause(cause)}`);
    return () => {};
  }
}

async function commandsOf(setup: ManagerSetup): Promise<(program: Command) => void> {
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
    const own = new Set(program.commands.map((command) => command.name()));
    for (const operation of operations) {
      const { command } = operation;
      if (command === undefined) continue;
      const [word = ''] = command.words.split(' ');
      if (own.has(word))
        warn(`the command ${command.words} of ${operation.id} is missing: toolmgr has a command ${word}`);
      else addOperationCommand(program, operation, command, runner);
    }
  };
}

function warn(text: string): void {
  stderr.line(`${stderr.yellow('warning')} ${text}`);
}
