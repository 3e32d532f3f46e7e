import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { atomicWrite } from '@toolmgr/plugins/kit/files';
import { ownCommand } from '../../shared/own-command.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { AGENT_LABEL, launchAgent, type StartCommand, systemdUnit, UNIT_NAME } from './unit-text.ts';

/** The machine, as installing needs it. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly uid: number;
  readonly user: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Runs a program without a shell; the exit code and what it printed. Never throws. */
  run(program: string, ...args: readonly string[]): Promise<{ readonly code: number; readonly out: string }>;
  print(line: string): void;
}

/** One way in which a system starts programs of a user. */
interface System {
  readonly file: string;
  text(start: StartCommand): string;
  /** Commands that start it now and at each login. */
  readonly enable: readonly (readonly string[])[];
  readonly disable: readonly (readonly string[])[];
  readonly show: readonly string[];
  /** Whether the commands work here. */
  answers(): Promise<boolean>;
  /** What is missing for a start without a login. */
  hint(): Promise<string | undefined>;
}

/**
 * `toolmgr serve --install`: writes the unit or agent, starts it, and starts it at each login. Repeating it changes what differs.
 * @throws UsageError on other systems, and with sudo
 */
export async function install(machine: Machine, start: StartCommand): Promise<void> {
  refuseSudo(machine);
  const system = systemOf(machine);
  const text = system.text(start);
  const before = await readFile(system.file, 'utf8').catch(() => undefined);
  if (before !== text) {
    await mkdir(dirname(system.file), { recursive: true });
    await atomicWrite(system.file, text, 0o644);
  }
  machine.print(before === text ? `${system.file} is as it should be` : `wrote ${system.file}:`);
  if (before !== text) machine.print(text.trimEnd());
  if (machine.uid === 0) machine.print('warning: it runs as root, and so do the workloads');
  const isRunning = await runAll(machine, system, system.enable);
  if (isRunning) machine.print('the manager runs, and starts at each login');
  const hint = await system.hint();
  if (hint !== undefined) machine.print(hint);
}

/** `toolmgr serve --uninstall`: stops the manager and removes the file. Workloads run on. */
export async function uninstall(machine: Machine): Promise<void> {
  refuseSudo(machine);
  const system = systemOf(machine);
  const isThere = (await readFile(system.file, 'utf8').catch(() => undefined)) !== undefined;
  if (!isThere) return machine.print(`nothing is installed: there is no ${system.file}`);
  await runAll(machine, system, system.disable);
  await rm(system.file, { force: true });
  if (machine.platform === 'linux' && (await system.answers()))
    await machine.run('systemctl', '--user', 'daemon-reload');
  machine.print(`removed ${system.file}; workloads run on`);
}

/** `toolmgr serve --status`: whether it is installed and runs. Resolves with false when it does not. */
export async function showInstalled(machine: Machine, manager: string | undefined): Promise<boolean> {
  const system = systemOf(machine);
  const isThere = (await readFile(system.file, 'utf8').catch(() => undefined)) !== undefined;
  machine.print(isThere ? `installed: ${system.file}` : `not installed: ${ownCommand('serve --install')}`);
  if (isThere && (await system.answers())) {
    const [program = '', ...args] = system.show;
    const { code, out } = await machine.run(program, ...args);
    const state = machine.platform === 'linux' ? out.trim() : code === 0 ? 'loaded' : 'not loaded';
    machine.print(`${machine.platform === 'linux' ? 'systemd' : 'launchd'}: ${state}`);
  }
  machine.print(manager === undefined ? 'no manager runs' : `a manager serves ${manager}`);
  return manager !== undefined;
}

function systemOf(machine: Machine): System {
  if (machine.platform === 'linux') return systemd(machine);
  if (machine.platform === 'darwin') return launchd(machine);
  throw new UsageError(`--install knows systemd (Linux) and launchd (macOS), not ${machine.platform}`);
}

function systemd({ home, env, user, run }: Machine): System {
  const { XDG_CONFIG_HOME: config } = env;
  const folder = config?.startsWith('/') ? config : join(home, '.config');
  return {
    file: join(folder, 'systemd', 'user', UNIT_NAME),
    text: systemdUnit,
    enable: [
      ['systemctl', '--user', 'daemon-reload'],
      ['systemctl', '--user', 'enable', UNIT_NAME],
      ['systemctl', '--user', 'restart', UNIT_NAME],
    ],
    disable: [['systemctl', '--user', 'disable', '--now', UNIT_NAME]],
    show: ['systemctl', '--user', 'is-active', UNIT_NAME],
    answers: async () => (await run('systemctl', '--user', 'show-environment')).code === 0,
    async hint() {
      const { code, out } = await run('loginctl', 'show-user', user, '--property=Linger');
      if (code === 0 && out.trim() === 'Linger=yes') return undefined;
      return `it starts at login; to start it with the machine: loginctl enable-linger ${user}`;
    },
  };
}

function launchd({ home, uid, run }: Machine): System {
  const file = join(home, 'Library', 'LaunchAgents', `${AGENT_LABEL}.plist`);
  const domain = `gui/${uid}`;
  return {
    file,
    text: launchAgent,
    // bootout fails when it is not loaded, which is as good
    enable: [
      ['launchctl', 'bootout', `${domain}/${AGENT_LABEL}`],
      ['launchctl', 'bootstrap', domain, file],
    ],
    disable: [['launchctl', 'bootout', `${domain}/${AGENT_LABEL}`]],
    show: ['launchctl', 'print', `${domain}/${AGENT_LABEL}`],
    answers: async () => (await run('launchctl', 'print', domain)).code === 0,
    hint: async () => undefined,
  };
}

/** Runs the commands, or prints them where they do not work. Resolves with whether the last one succeeded. */
async function runAll(machine: Machine, system: System, commands: readonly (readonly string[])[]): Promise<boolean> {
  if (!(await system.answers())) {
    machine.print('the session of the user is not reachable from here; run:');
    for (const command of commands) machine.print(`  ${command.join(' ')}`);
    return false;
  }
  let isDone = true;
  for (const [program = '', ...args] of commands) {
    const { code, out } = await machine.run(program, ...args);
    isDone = code === 0;
    if (!isDone && !args.includes('bootout')) {
      machine.print(`warning: ${[program, ...args].join(' ')} failed (exit code ${code}): ${out.trim()}`);
    }
  }
  return isDone;
}

function refuseSudo({ uid, env }: Machine): void {
  if (uid === 0 && env.SUDO_USER) {
    throw new UsageError('run it without sudo: it is installed for one user, and workloads would run as root');
  }
}
