import { nearest } from '@toolmgr/core';
import { type Command, Option } from 'commander';
import { UsageError } from '../shared/usage-error.ts';
import { commanderOptions, longNames, type RunFlags } from './options/options.ts';

/** Adds `run`, `list`, `start`, `stop`, `rm`, `logs` and `export`. A command loads its code when it runs. */
export function addRunCommands(program: Command): void {
  addRun(program);
  program
    .command('list')
    .alias('ls')
    .description('show workloads')
    .option('--group <name>', 'only those of this group')
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'))
    .action(async (flags) => (await workloads()).list(flags));
  program
    .command('start')
    .argument('<name...>', 'names of workloads')
    .description('start stopped workloads again')
    .action(async (names: string[]) => (await workloads()).start(names));
  program
    .command('stop')
    .argument('<name...>', 'names of workloads')
    .description('stop workloads and keep their configuration')
    .action(async (names: string[]) => (await workloads()).stop(names));
  program
    .command('rm')
    .argument('<name...>', 'names of workloads')
    .description('remove workloads with their logs')
    .option('--force', 'stop running workloads first')
    .action(async (names: string[], flags) => (await workloads()).remove(names, flags));
  program
    .command('logs')
    .argument('<name>', 'name of a workload')
    .description('show the output of a workload')
    .option('--follow', 'show new output until Ctrl-C')
    .option('--proxy', 'show the log of its proxy instead')
    .action(async (name: string, flags) => (await import('./commands/show-logs.ts')).showLogs(name, flags));
  program
    .command('export')
    .argument('<name>', 'name of a workload')
    .argument('[file]', 'file to write (default: standard output)')
    .description('write the configuration of a workload, for run --from-config')
    .action(async (name: string, file?: string) => (await import('./commands/export.ts')).exportWorkload(name, file));
}

const workloads = () => import('./commands/workloads.ts');

function addRun(program: Command): void {
  const run = program
    .command('run')
    .description('start an MCP server as a workload, with an HTTP endpoint in front of it')
    .argument('[target]', 'npx://PACKAGE, an http(s) URL, or a program; not with --from-config')
    .argument('[args...]', 'arguments of the server, after --')
    .usage('[flags] TARGET [-- ARGS...]')
    .showSuggestionAfterError(false) // commander would not suggest hidden options
    .configureOutput({ outputError: (text, write) => write(improveUsageError(text)) })
    .addHelpText('after', HELP);
  for (const { option, availableWith } of commanderOptions()) {
    run.addOption(option);
    if (availableWith === undefined) continue;
    run.on(`option:${option.name()}`, () => {
      throw new UsageError(`${option.long} is not available yet: it comes with ${availableWith}`);
    });
  }
  run.action(async (target: string | undefined, args: string[], flags: RunFlags) => {
    if (flags.fromConfig !== undefined) refuseBesideFile(run, target);
    else if (target === undefined) run.error("error: missing required argument 'target'");
    return (await import('./commands/run-target.ts')).runTarget({ target, args, flags });
  });
}

/** A file says everything: another flag beside it would have no effect. */
function refuseBesideFile(run: Command, target: string | undefined): void {
  const given = run.options.filter((option) => run.getOptionValueSource(option.attributeName()) === 'cli');
  const others = given.flatMap(({ long }) =>
    long === null || long === undefined || BESIDE_FILE.has(long) ? [] : [long],
  );
  const all = [...(target === undefined ? [] : ['TARGET']), ...others];
  if (all.length === 0) return;
  throw new UsageError(`--from-config takes only --foreground and --debug beside it, not ${all.join(', ')}`);
}

const BESIDE_FILE: ReadonlySet<string> = new Set(['--from-config', '--foreground', '--debug']);

const HELP = `
The other options of the command are not available yet; each of them says what it comes with.

Examples:
  toolmgr run npx://@modelcontextprotocol/server-everything
  toolmgr run --name files npx://@modelcontextprotocol/server-filesystem -- /srv/data
  toolmgr run --transport streamable-http --target-port 3001 ./my-server
  toolmgr run https://mcp.example.com/mcp --name example`;

/** Suggests a similar option, hidden ones included. Values are not repeated, because they may be secret. */
function improveUsageError(text: string): string {
  const unknown = /unknown option '([^'=]+)/.exec(text)?.[1];
  if (unknown === undefined) return text.replace(/(option '[^']+') argument '[\s\S]*' is invalid/, '$1 is wrong');
  const meant = nearest(unknown, longNames());
  const hint = meant === undefined ? '' : `, did you mean ${meant}?`;
  return `error: unknown option ${unknown}${hint} (options of the server go after --)\n`;
}
