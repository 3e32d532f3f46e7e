import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../scripts/rigs/run-tool.ts';
import { until } from './until.ts';

/**
 * Namespaces of a node for network, mounts and processes, with one link to this machine. When the namespaces end, the kernel
 * removes all processes, mounts, bridges and packet rules of the node. This happens also when the test process is killed.
 */
export interface NodeNamespace extends AsyncDisposable {
  /** Number of the node on this machine; part of its addresses. */
  readonly number: number;
  /** Address of this machine, as pods see it. */
  readonly hostAddress: string;
  readonly nodeAddress: string;
  /** Range of pod addresses, which this machine reaches. */
  readonly podRange: string;
  /** Range of service addresses, which this machine reaches. */
  readonly serviceRange: string;
  /** Path of the control group of the node below each hierarchy. */
  readonly cgroup: string;
  /** Starts a program in the namespaces; its output goes to `log`. */
  start(log: string, program: string, args: readonly string[]): ChildProcess;
  /** Runs a program in the namespaces to its end. @throws Error with its output */
  run(program: string, args: readonly string[]): Promise<string>;
}

const MAX_NODES = 200;
const READY_MS = 60_000;
const CGROUPS = '/sys/fs/cgroup';

/** A kubelet sets these for the entire machine. Files in their place keep the values of the machine. */
const KERNEL_SETTINGS = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
];

/** Creates the namespaces of a node. */
export async function createNodeNamespace(): Promise<NodeNamespace> {
  const number = createLink();
  const link = linkName(number);
  const [hostAddress, nodeAddress] = [`10.216.${number}.1`, `10.216.${number}.2`];
  const [podRange, serviceRange] = [`10.217.${number}.0/24`, `10.218.${number}.0/24`];
  const cgroup = `/${link}`;
  removeControlGroups(cgroup);
  createControlGroups(cgroup);
  // The first process of the namespaces ends when its standard input closes, thus also with the test process.
  const flags = ['--net', '--mount', '--pid', '--ipc', '--uts', '--fork', '--kill-child', '--mount-proc'];
  const first = spawn('unshare', [...flags, 'bash', '-c', firstProcess()], { stdio: ['pipe', 'pipe', 'inherit'] });
  const dispose = async (): Promise<void> => {
    if (first.exitCode === null && first.signalCode === null) {
      const gone = once(first, 'exit');
      first.stdin.end();
      await gone;
    }
    ip('link', 'del', link);
    await until(() => removeControlGroups(cgroup), READY_MS);
  };
  try {
    const [line] = (await once(first.stdout, 'data')) as [Buffer];
    if (!line.toString().includes('ready')) throw new Error(`the namespaces were not set up: ${line.toString()}`);
    const pid = execFileSync('pgrep', ['--parent', String(first.pid)], { encoding: 'utf8' }).trim();
    const enter = ['--target', pid, '--net', '--mount', '--pid', '--ipc', '--uts'];
    const inside = (program: string, ...args: readonly string[]): string =>
      execFileSync('nsenter', [...enter, program, ...args], { encoding: 'utf8', env: environment() });
    const must = (...args: readonly string[]): void => {
      if (!ip(...args)) throw new Error(`ip ${args.join(' ')} failed`);
    };
    must('link', 'set', `${link}p`, 'netns', pid);
    must('addr', 'add', `${hostAddress}/24`, 'dev', link);
    must('link', 'set', link, 'up');
    inside('ip', 'link', 'set', `${link}p`, 'name', 'eth0');
    inside('ip', 'addr', 'add', `${nodeAddress}/24`, 'dev', 'eth0');
    inside('ip', 'link', 'set', 'eth0', 'up');
    inside('ip', 'route', 'add', 'default', 'via', hostAddress);
    for (const range of [podRange, serviceRange]) must('route', 'add', range, 'via', nodeAddress);
    return {
      ...{ number, hostAddress, nodeAddress, podRange, serviceRange, cgroup },
      start(log, program, args) {
        const output = openSync(log, 'a');
        const child = spawn('nsenter', [...enter, program, ...args], {
          stdio: ['ignore', output, output],
          env: environment(),
        });
        closeSync(output);
        child.once('error', () => undefined);
        return child;
      },
      run: (program, args) => runTool('nsenter', [...enter, program, ...args]),
      [Symbol.asyncDispose]: dispose,
    };
  } catch (cause) {
    await dispose();
    throw cause;
  }
}

/** Hides the folders in which container programs keep state, and waits for the end of the standard input. */
function firstProcess(): string {
  return [
    'set -e',
    'mount -t tmpfs none /run',
    'mount -t tmpfs none /var/lib',
    'mkdir -p /run/settings /run/lock',
    'ip link set lo up',
    'echo 1 > /proc/sys/net/ipv4/ip_forward',
    `for path in ${KERNEL_SETTINGS.join(' ')}; do`,
    '  copy=/run/settings/$(echo $path | tr / -)',
    '  cat /proc/sys/$path > $copy',
    '  mount --bind $copy /proc/sys/$path',
    'done',
    'echo ready',
    'read -r line || true',
  ].join('\n');
}

/** Creates a link with an unused number. A name of a link can be taken only once, so that two tests never share a number. */
function createLink(): number {
  for (let number = 0; number < MAX_NODES; number++) {
    const name = linkName(number);
    if (ip('link', 'add', name, 'type', 'veth', 'peer', 'name', `${name}p`)) return number;
  }
  throw new Error(`no link could be created (Debian: apt-get install iproute2), or ${MAX_NODES} are left`);
}

function linkName(number: number): string {
  return `toolmgrn${number}`;
}

/** The hierarchies of control groups: one of version 2, or one per controller of version 1. */
function hierarchies(): readonly string[] {
  if (existsSync(join(CGROUPS, 'cgroup.controllers'))) return [CGROUPS];
  return readdirSync(CGROUPS).map((name) => join(CGROUPS, name));
}

function createControlGroups(cgroup: string): void {
  for (const hierarchy of hierarchies()) spawnSync('mkdir', ['-p', hierarchy + cgroup], { stdio: 'ignore' });
}

/** Whether no control group of the node is left. Their folders can be removed once all processes in them have ended. */
function removeControlGroups(cgroup: string): boolean {
  const folders = hierarchies().map((hierarchy) => hierarchy + cgroup);
  const left = (): readonly string[] => folders.filter((folder) => existsSync(folder));
  if (left().length > 0)
    spawnSync('find', [...left(), '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'], { stdio: 'ignore' });
  return left().length === 0;
}

/** Without proxies: the programs of the node reach only each other. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/_proxy$/i.test(name)));
}

function ip(...args: readonly string[]): boolean {
  return spawnSync('ip', args, { stdio: 'ignore' }).status === 0;
}
