import { type Command, InvalidArgumentError, Option } from 'commander';
import { withHeaders } from '../shared/client/headers.ts';
import { GATEWAY_FLAG, GATEWAY_HELP } from '../shared/running/gateway-flag.ts';
import { readPair } from '../workloads/fields/option-values.ts';

/** Adds the commands for workloads that exist. A command loads its code when it runs. */
export function addWorkloadCommands(program: Command): void {
  addListing(program);
  addStartAndStop(program);
  addLogs(program);
  program
    .command('export')
    .argument('<name>', 'name of a workload')
    .argument('[file]', 'file to write; - or none: standard output')
    .description('write the configuration of a workload, for run --from-config')
    .action(async (name: string, file?: string) =>
      (await import('../run/commands/export.ts')).exportWorkload(name, file),
    );
  addGroups(program);
  program
    .command('runtime')
    .description('container engines')
    .command('check')
    .description('show which container engines answer; exit code 1 when none can be used')
    .addOption(format('text', 'json'))
    .action(async (flags) => (await import('../run/commands/runtime-check.ts')).checkRuntimes(flags));
}

function addListing(program: Command): void {
  program
    .command('list')
    .alias('ls')
    .description('show workloads')
    .option('-a, --all', 'stopped workloads too')
    .option('--group <name>', 'only those of this group')
    .addOption(
      new Option('-l, --label <key=value>', 'only those with this label; may be repeated')
        .argParser(readPair)
        .default({}, 'none'),
    )
    .addOption(format('text', 'json', 'mcpservers'))
    .action(async (flags) => (await import('../run/commands/list.ts')).list(flags));
  const status = program
    .command('status')
    .argument('[name]', 'name of a workload, of a running gateway or of one of its backends')
    .description('show the running gateways and workloads with their backends, or only one of them')
    .option(GATEWAY_FLAG, GATEWAY_HELP)
    .option('--url <url>', 'ask the status pages of a gateway, e.g. on another machine');
  withHeaders(status)
    .addOption(format('text', 'json'))
    .addHelpText(
      'after',
      '\nExamples:\n  toolmgr status\n  toolmgr status --url https://mcp.example.com --token-env TOKEN --json',
    )
    .action(async (name: string | undefined, flags) => (await import('../cli/gateways/status.ts')).status(name, flags));
  program
    .command('inspect')
    .argument('<name>', 'name of a workload')
    .description('show the configuration of a workload and how it was started, as JSON without secrets')
    .addOption(format('json'))
    .action(async (name: string) => (await import('../run/commands/show.ts')).inspectWorkload(name));
}

function addStartAndStop(program: Command): void {
  selecting(program.command('start'))
    .description('start stopped workloads again')
    .action(async (names: string[], flags) => (await workloads()).start(names, flags));
  selecting(program.command('restart'), 'names of workloads, or of backends of a running gateway')
    .description('restart workloads, or the sessions and programs of backends')
    .option(GATEWAY_FLAG, GATEWAY_HELP)
    .addHelpText('after', '\nExamples:\n  toolmgr restart my-server\n  toolmgr restart github --gateway 4483')
    .action(async (names: string[], flags) => (await import('../cli/gateways/restart.ts')).restart(names, flags));
  selecting(program.command('stop'))
    .description('stop workloads and keep their configuration')
    .option('--timeout <seconds>', 'time until a workload is killed; its server gets 5 s of it', readSeconds, 30)
    .action(async (names: string[], flags) => (await workloads()).stop(names, flags));
  selecting(program.command('rm'))
    .description('remove workloads with their logs')
    .option('--force', 'stop running workloads first; remove them also when no container engine answers')
    .action(async (names: string[], flags) => (await workloads()).remove(names, flags));
}

function addLogs(program: Command): void {
  const logs = program
    .command('logs')
    .argument('<name>', 'name of a workload, or of a backend of a running gateway')
    .description('show the output of a workload or a backend')
    .option('-f, --follow', 'show new output until Ctrl-C')
    .option('-n, --lines <number>', 'only the last lines', readLines)
    .option('-p, --proxy', 'show the log of its proxy instead')
    .option(GATEWAY_FLAG, GATEWAY_HELP)
    .addHelpText('after', '\nExamples:\n  toolmgr logs my-server --follow\n  toolmgr logs github --lines 20')
    .action(async (name: string, flags) => (await import('../cli/gateways/logs.ts')).logs(name, flags));
  logs
    .command('prune')
    .description('remove the logs and other files of removed workloads that killed commands left behind')
    .action(async () => (await import('../run/commands/show-logs.ts')).pruneLogs());
}

function addGroups(program: Command): void {
  const group = program.command('group').description('groups of workloads');
  group
    .command('create')
    .argument('<name>', 'name of the group')
    .description('create a group without workloads; run --group creates one too')
    .action(async (name: string) => (await import('./groups/commands.ts')).addGroup(name));
  group
    .command('list')
    .alias('ls')
    .description('show groups and their workloads')
    .addOption(format('text', 'json'))
    .action(async (flags) => (await import('./groups/commands.ts')).listGroups(flags));
  group
    .command('rm')
    .argument('<name...>', 'names of groups')
    .description('remove groups; default cannot be removed')
    .option('--with-workloads', 'stop and remove their workloads too')
    .action(async (names: string[], flags) => (await import('./groups/commands.ts')).removeGroups(names, flags));
}

const workloads = () => import('../run/commands/workloads.ts');

function selecting(command: Command, about = 'names of workloads'): Command {
  return command
    .argument('[name...]', about)
    .option('-a, --all', 'all workloads')
    .option('-g, --group <name>', 'all workloads of a group');
}

function format(...choices: [string, ...string[]]): Option {
  return new Option('--format <format>', 'what to print').choices(choices).default(choices[0]);
}

function readSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+$/.test(text) && seconds <= MOST_SECONDS) return seconds;
  throw new InvalidArgumentError(`expected whole seconds, at most ${MOST_SECONDS}`);
}

function readLines(text: string): number {
  const lines = Number(text);
  if (/^\d+$/.test(text) && lines >= 1 && lines <= MOST_LINES) return lines;
  throw new InvalidArgumentError(`expected a number from 1 to ${MOST_LINES}`);
}

const MOST_LINES = 10_000;
const MOST_SECONDS = 3_600;
