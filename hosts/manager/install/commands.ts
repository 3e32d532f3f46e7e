import { execFile } from 'node:child_process';
import { homedir, userInfo } from 'node:os';
import { join } from 'node:path';
import { stateDir } from '@toolmgr/plugins/kit/files';
import type { Command } from 'commander';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { readDiscovery } from '../server-files/discovery-file.ts';
import { serverFolder } from '../server-files/own-folder.ts';
import { install, type Machine, showInstalled, uninstall } from './install.ts';
import { givenOptions, keptVariables, managerCommand } from './start-command.ts';

/** `toolmgr serve --install`, `--uninstall` and `--status`. @throws UsageError for more than one of them */
export async function installCommand(command: Command): Promise<void> {
  const { install: installs, uninstall: removes, status } = command.opts<Record<string, boolean | undefined>>();
  if ([installs, removes, status].filter(Boolean).length > 1) {
    throw new UsageError('give one of --install, --uninstall and --status');
  }
  const state = stateDir(process.env);
  const machine = thisMachine();
  if (removes) return uninstall(machine);
  if (status) {
    const found = await readDiscovery(state);
    const runs = await showInstalled(machine, found !== undefined && isThere(found.pid) ? found.url : undefined);
    if (!runs) process.exitCode = EXIT_CODES.failed.code;
    return;
  }
  await install(machine, {
    command: managerCommand(givenOptions(command)),
    env: keptVariables(process.env),
    log: join(serverFolder(state), 'manager.log'),
  });
}

function thisMachine(): Machine {
  return {
    platform: process.platform,
    uid: process.getuid?.() ?? -1,
    user: userInfo().username,
    home: process.env.HOME ?? homedir(),
    env: process.env,
    run: runProgram,
    print: (line) => stdout.line(line),
  };
}

function runProgram(program: string, ...args: readonly string[]): ReturnType<Machine['run']> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: RUN_MS }, (failure, out, err) => {
      const code = failure === null ? 0 : typeof failure.code === 'number' ? failure.code : 1;
      resolve({ code, out: `${out}${err}` });
    });
  });
}

const RUN_MS = 30_000;

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}
