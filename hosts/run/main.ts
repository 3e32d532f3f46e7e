import { nearest } from '@toolmgr/core';
import type { Command } from 'commander';
import { UsageError } from '../shared/usage-error.ts';
import { commanderOptions, longNames, type RunFlags } from '../workloads/fields/options.ts';

/** Adds `run`. It loads its code when it runs. */
export function addRunCommand(program: Command): void {
  const run = program
    .command('run')
    .description('start an MCP server as a workload, with an HTTP endpoint in front of it')
    .argument(
      '[target]',
      'a package (npx://, uvx://, go://), an image, an http(s) URL, or a program; not with --from-config',
    )
    .argument('[args...]', 'arguments of the server, after --')
    .usage('[flags] TARGET [-- ARGS...]')
    .showSuggestionAfterError(false) // commander would not suggest hidden options
    .configureOutput({ outputError: (text, write) => write(improveUsageError(text)) })
    .addHelpText('after', HELP);
  for (const option of commanderOptions()) run.addOption(option);
  run.action(async (target: string | undefined, args: string[], flags: RunFlags) => {
    if (flags.fromConfig !== undefined) refuseBesideFile(run, target);
    else if (target === undefined) run.error("error: missing required argument 'target'");
    else if (target === 'true' || target === 'false') run.error(`error: '${target}' is no target; ${BOOLEAN_FORM}`);
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
  throw new UsageError(
    `--from-config takes only --foreground, --supervised, --log-format and --debug beside it, not ${all.join(', ')}`,
  );
}

const BESIDE_FILE: ReadonlySet<string> = new Set([
  '--from-config',
  '--foreground',
  '--supervised',
  '--log-format',
  '--debug',
]);

const BOOLEAN_FORM = 'a boolean option takes its value after =, as in --isolate-network=false';

const HELP = `
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
