import { createLog, explainCause } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import type { Operation } from '@toolmgr/plugins/kit/operations';
import type { Command } from 'commander';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { VERSION } from '../../shared/version.ts';
import { type ManagerSetup, readManagerSetup } from '../manager-config.ts';

/**
 * Loads what adds the commands of the plugins that `manager.yaml` names; nothing when there is no such file. The other commands and the help
 * work with a file or a plugin that is wrong: what is wrong is a warning. `taken`: first words of the commands of the program.
 */
export async function loadPluginCommands(taken: ReadonlySet<string>): Promise<(program: Command) => void> {
  try {
    const setup = await readManagerSetup(undefined, process.env);
    return setup === undefined ? () => {} : await commandsOf(setup, taken);
  } catch (cause) {
    warn(`the commands of plugins are missing: ${explainCause(cause)}`);
    return () => {};
  }
}

async function commandsOf(setup: ManagerSetup, taken: ReadonlySet<string>): Promise<(program: Command) => void> {
  const [{ openFeatures }, { addOperationCommand }] = await Promise.all([
    import('../open-features.ts'),
    import('./operation-command.ts'),
  ]);
  const state = stateDir(process.env);
  const { operations, pluginOf } = await openFeatures({
    ...{ state, env: process.env, signal: new AbortController().signal, version: VERSION },
    log: createLog('warn', (line) => stderr.line(line)),
    ...setup,
    plan: setup.plan.filter(({ use }) => use !== 'endpoints'), // needs the manager
  });
  const runner = async () => (await import('./run-operation.ts')).operationRunner(state);
  return (program) => {
    const named = (operation: Operation) => `${operation.id} of the plugin ${pluginOf.get(operation)}`;
    const owners = new Map<string, Operation>();
    for (const operation of operations) {
      const { command } = operation;
      if (command === undefined) continue;
      const { words } = command;
      const [word = ''] = words.split(' ');
      const owner = owners.get(words);
      try {
        if (taken.has(word)) throw new UsageError(`toolmgr has a command ${word}`);
        if (owner !== undefined) throw new UsageError(`${named(owner)} has this command`);
        addOperationCommand(program, operation, command, runner);
        owners.set(words, operation);
      } catch (cause) {
        warn(`the command ${words} of ${named(operation)} is missing: ${explainCause(cause)}`);
      }
    }
  };
}

function warn(text: string): void {
  stderr.line(`${stderr.yellow('warning')} ${text}`);
}
