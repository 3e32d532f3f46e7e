import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type CliOptions, type Finished, stateFolder } from './cli.ts';
import { printIfTestFails } from './output-of-failed.ts';
import { SESSION_PROGRAM } from './program.ts';

/** What a session is asked: one command line with its whole environment. */
export interface CommandTask {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly input: string;
}

const ROOT = join(import.meta.dirname, '../..');

/**
 * Runs command lines of `toolmgr` one after another in one process, which is started once for the test file: a start costs
 * more than most commands. For commands that end by themselves and leave nothing running; others use {@link startCli}. To be called
 * outside of a test.
 */
export function cliSession(
  program = SESSION_PROGRAM,
): (args: readonly string[], options?: Pick<CliOptions, 'env' | 'cwd' | 'input'>) => Promise<Finished> {
  let child: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();
  afterAll(async () => {
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  const send = (task: CommandTask): Promise<Finished> => {
    child ??= fork(program, {
      execArgv: ['--conditions=development'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    const running = child;
    return new Promise((resolve, reject) => {
      const onEnd = (code: number | null): void => {
        child = undefined;
        reject(new Error(`the command ended the process of the session with ${code}: toolmgr ${task.args.join(' ')}`));
      };
      running.once('exit', onEnd);
      running.once('message', (message) => {
        running.off('exit', onEnd);
        resolve(message as Finished);
      });
      running.send(task);
    });
  };
  return async (args, { env = {}, cwd = ROOT, input = '' } = {}) => {
    const given = {
      ...process.env,
      NO_COLOR: '1',
      TOOLMGR_URL: undefined,
      PORT: undefined,
      ...stateFolder(env),
      ...env,
    };
    const defined = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const done = last.then(() => send({ args, env: Object.fromEntries(defined), cwd, input }));
    last = done.catch(() => undefined);
    let finished: Finished | undefined;
    printIfTestFails(
      ['toolmgr', ...args],
      () => `${finished?.out ?? ''}${finished?.err ?? ''}(exit code ${finished?.code})`,
    );
    finished = await done;
    return finished;
  };
}
