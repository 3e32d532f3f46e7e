import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { createProgram } from '../../hosts/cli/main.ts';
import { type CommandWords, commandsIn } from './shell-lines.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Why lines of other programs are only read. Each reason is counted in the output of the test. */
const OTHER_PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'needs a cluster': ['kubectl', 'helm', 'kind', 'minikube'],
  'needs a container engine': ['docker', 'podman', 'nerdctl'],
  'a request to a gateway or manager of the reader': ['curl', 'wget'],
  'changes the system of the reader': [
    'sudo',
    'systemctl',
    'launchctl',
    'brew',
    'winget',
    'apt',
    'apt-get',
    'loginctl',
  ],
  'another client or its settings': ['claude', 'code', 'codex', 'cursor', 'gemini'],
  'a tool of the reader': [
    ...[
      'cd',
      'mkdir',
      'export',
      'umask',
      'openssl',
      'git',
      'tail',
      'jq',
      'grep',
      'cat',
      'source',
      'cp',
      'mv',
      'rm',
      'tar',
    ],
    ...[
      'eval',
      'echo',
      'chmod',
      'ls',
      'redis-cli',
      'nginx',
      'caddy',
      'envoy',
      'promtool',
      'kill',
      'test',
      'ssh',
      'sha256sum',
    ],
    ...[
      'set',
      'unset',
      'cosign',
      'gh',
      'tsx',
      'node',
      'sleep',
      'install',
      'ln',
      'head',
      'sort',
      'mandb',
      'man',
      'printf',
      'autoload',
      'pnpm',
      'touch',
      'yarn',
    ],
  ],
};

/** A program that a line starts: one of ours, checked, or another one with the reason why it is only read. */
export type CheckedLine = { readonly checked: 'toolmgr' | 'npm' } | { readonly notRun: string };

/**
 * Checks the lines of a shell block: commands and flags of toolmgr exist, scripts of npm exist, files of the repository exist.
 * @throws Error naming the line
 */
export async function checkShell(script: string): Promise<readonly CheckedLine[]> {
  const checked: CheckedLine[] = [];
  for (const words of commandsIn(script)) {
    for (const path of words) checkPath(path);
    checked.push(await checkCommand(words));
  }
  return checked;
}

async function checkCommand([program = '', ...args]: CommandWords): Promise<CheckedLine> {
  if (program === 'toolmgr') return checkToolmgr(args);
  if (program === 'npm') return checkNpm(args);
  if (program === 'npx') return checkNpx(args);
  for (const [reason, programs] of Object.entries(OTHER_PROGRAMS))
    if (programs.includes(program)) return { notRun: reason };
  throw new Error(`test/docs/command-lines.ts does not know the program ${program}`);
}

async function checkToolmgr(args: readonly string[]): Promise<CheckedLine> {
  const program = withoutActions(await createProgram());
  try {
    await program.parseAsync([...args], { from: 'user' });
  } catch (cause) {
    if (cause instanceof CommanderError && cause.exitCode === 0) return { checked: 'toolmgr' };
    throw new Error(`toolmgr ${args.join(' ')}: ${(cause as Error).message}`, { cause });
  }
  return { checked: 'toolmgr' };
}

/** Parses as the command line does, but runs nothing. */
function withoutActions(command: Command): Command {
  command.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  for (const each of command.commands) withoutActions(each);
  // a group of commands has no action of its own, and without a subcommand it is an error
  const isGroup = command.commands.length > 0 && !Reflect.get(command, '_actionHandler');
  return isGroup ? command : command.action(() => {});
}

/** Names that the packages will have in a registry. */
const OWN_PACKAGE = /^(?:toolmgr|@toolmgr\/\S+)(?:@\S+)?$/;

/** Until they are published, a command with one of these names may run software of another author. */
function refuseOwnPackage(args: readonly string[]): void {
  const name = args.find((word) => OWN_PACKAGE.test(word));
  if (name !== undefined) throw new Error(`${name} is not in the public registry: its name there may belong to others`);
}

async function checkNpm(args: readonly string[]): Promise<CheckedLine> {
  const [verb = '', ...rest] = args;
  if (['install', 'i', 'add', 'exec', 'x'].includes(verb)) refuseOwnPackage(rest);
  const name =
    verb === 'run' ? rest.find((word) => !word.startsWith('-')) : ['start', 'test'].includes(verb) ? verb : undefined;
  if (name === undefined) return { notRun: 'installs or publishes packages' };
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  if (scripts[name] === undefined) throw new Error(`npm run ${name}: package.json has no such script`);
  if (name === 'toolmgr') return checkToolmgr(rest.slice(rest.indexOf('--') + 1));
  return { checked: 'npm' };
}

/** `npx --no` runs only what the folder has, so a name that others may own in the registry is safe. */
async function checkNpx(args: readonly string[]): Promise<CheckedLine> {
  if (args[0] === '--no' && args[1] === 'toolmgr') return checkToolmgr(args.slice(2));
  refuseOwnPackage(args);
  return { notRun: 'another client or its settings' };
}

function checkPath(word: string): void {
  if (!/^(?:\.\/)?(?:deploy|examples|docs|scripts)\/[\w./-]+$/.test(word)) return;
  if (!existsSync(join(ROOT, word))) throw new Error(`${word} does not exist`);
}
