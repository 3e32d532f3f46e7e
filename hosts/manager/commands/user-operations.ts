import { createLog, type JsonObject } from '@toolmgr/core';
import { stateDir } from '@toolmgr/plugins/kit/files';
import { stderr } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { VERSION } from '../../shared/version.ts';
import { readManagerSetup } from '../manager-config.ts';
import { argumentsFrom } from '../mcp/tool-from-operation.ts';
import { openFeatures } from '../open-features.ts';
import { operationRunner, type Waiting } from './run-operation.ts';

/** Calls an operation by its id, with parameters and members of the body in one object, and resolves with the body of its success. */
export type CallOperation = (id: string, given?: JsonObject, waiting?: Waiting) => Promise<unknown>;

/**
 * Operations for a command of the user: those of the default plugins with these addresses, or of the whole plan of `manager.yaml`.
 * @throws UsageError for a refusal, and when no plugin offers the operation
 */
export async function userOperations(...addresses: readonly string[]): Promise<CallOperation> {
  const setup = await readManagerSetup(undefined, process.env);
  const state = stateDir(process.env);
  const { operations } = await openFeatures({
    ...{ state, env: process.env, signal: new AbortController().signal, version: VERSION },
    log: createLog('warn', (line) => stderr.line(line)),
    plan: (setup?.plan ?? addresses.map((use) => ({ use }))).filter(({ use }) => use !== 'endpoints'),
    baseDir: setup?.baseDir,
  });
  const run = await operationRunner(state);
  return (id, given = {}, waiting) => {
    const operation = operations.find((each) => each.id === id);
    if (operation === undefined)
      throw new UsageError(`no plugin of manager.yaml offers ${id}, which this command needs`);
    return run(operation, argumentsFrom(operation).partsOf(given), waiting);
  };
}
