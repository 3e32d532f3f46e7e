import type { Command } from 'commander';
import { Option } from 'commander';
import { EXIT_CODES } from '../../shared/exit-codes.ts';
import { formatOption } from '../../shared/format-option.ts';
import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { readFile } from '../../vmcp/file-options.ts';

/** Adds `toolmgr vmcp explain`. */
export function addExplain(vmcp: Command): void {
  vmcp
    .command('explain')
    .description('show where a tool comes from, what changed it, and what may refuse its calls')
    .usage('[options] <tool>\n       toolmgr vmcp explain [options] call <tool> [arguments]')
    .argument('<tool...>', 'advertised name, or workload.original')
    .addOption(new Option('-c, --config <file>', 'vmcp file; connects to its backends').conflicts('url'))
    .option(
      '--url <url>',
      'a gateway that runs on this machine (default: http://127.0.0.1:4483/mcp, or the only one that runs)',
    )
    .addOption(new Option('--as <file>', 'JSON file with the claims of the caller of a call').conflicts('url'))
    .addOption(formatOption())
    .addHelpText(
      'after',
      `
"call" before the tool decides one call as the gateway of --config would: its policies, policy servers, webhooks, pins and
rewriting. Nothing is sent to a backend. Exit code ${EXIT_CODES.toolFailed.code} when the call would be refused.

Examples:
  toolmgr vmcp explain github_search -c vmcp.yaml
  toolmgr vmcp explain github_search --url http://127.0.0.1:4483/mcp
  toolmgr vmcp explain -c vmcp.yaml --as person.json call github_search '{"query":"mcp"}'`,
    )
    .action(async (words: readonly string[], options: ExplainOptions) => {
      const [first = '', second] = words;
      if (first === 'call' && second !== undefined) return explainCallOf(words.slice(1), options);
      if (second !== undefined) throw new UsageError('give one tool; "call" before it takes arguments after it');
      if (options.as !== undefined) throw new UsageError('--as is for a call: explain call TOOL');
      const { explanationLines } = await import('../../shared/running/explain.ts');
      const told =
        options.config === undefined ? await explainAt(first, options.url) : await explainFile(first, options.config);
      if (options.format === 'json') stdout.json(told);
      else for (const line of explanationLines(told)) stdout.line(line);
      if (!told.found) process.exitCode = EXIT_CODES.failed.code;
    });
}

interface ExplainOptions {
  readonly config?: string;
  readonly url?: string;
  readonly as?: string;
  readonly format: 'text' | 'json';
}

async function explainCallOf([tool = '', given, ...more]: readonly string[], options: ExplainOptions): Promise<void> {
  const { config: file, as, format } = options;
  if (file === undefined) throw new UsageError('a call is decided by a file: -c FILE');
  if (more.length > 0) throw new UsageError('give the arguments of the call as one JSON object, in quotes');
  const [read, { decisionLines, explainCall }, { explanationLines }] = await Promise.all([
    readFile(file, { loadsPlugins: true }),
    import('../../vmcp/decide/explain-call.ts'),
    import('../../shared/running/explain.ts'),
  ]);
  const told = await explainCall(read, file, { tool, arguments: given, as });
  if (format === 'json') stdout.json(told);
  else for (const line of [...explanationLines(told), ...decisionLines(told)]) stdout.line(line);
  if (told.call.decision !== 'permitted') process.exitCode = EXIT_CODES.toolFailed.code;
}

async function explainFile(tool: string, file: string) {
  const [read, { leftFor, planFromConfig }, { explainTool }, { withStartedBackends }] = await Promise.all([
    readFile(file, { loadsPlugins: true }),
    import('../../vmcp/plan.ts'),
    import('../../shared/running/explain.ts'),
    import('../../vmcp/with-started-backends.ts'),
  ]);
  const plan = planFromConfig(leftFor('listing', read));
  return withStartedBackends(plan, file, {}, (gateway) => explainTool(gateway, tool));
}

async function explainAt(tool: string, url: string | undefined) {
  const [{ fetchExplanation }, { chooseEndpoint }] = await Promise.all([
    import('../../shared/client/fetch-explanation.ts'),
    import('../../shared/client/choose-endpoint.ts'),
  ]);
  return fetchExplanation(tool, (await chooseEndpoint({ url })).url);
}

/** Adds `toolmgr vmcp simulate`. */
export function addSimulate(vmcp: Command): void {
  vmcp
    .command('simulate')
    .description('show which calls of audit files a vmcp file would decide in another way')
    .argument('<audit...>', 'audit files, in the order of their lines')
    .requiredOption('-c, --config <file>', 'vmcp file (YAML); connects to its backends')
    .option('--people <file>', 'JSON file with a list of claims, one object with "sub" for each caller')
    .option('--fail-on-changes', `exit code ${EXIT_CODES.changed.code} when a call would end in another way`)
    .addOption(formatOption())
    .addHelpText(
      'after',
      `
Nothing is sent to a backend, and rate limits do not count. An audit file has subjects, but no claims: a policy that reads claims
needs --people. Policies that read arguments need an audit with includeRequestData, in which secrets are masked.

Example:
  toolmgr vmcp simulate -c new.yaml --people people.json audit.log`,
    )
    .action(async (audits: readonly string[], options: SimulateOptions) => {
      const { config: file, people, failOnChanges, format } = options;
      const [read, { noteLines, simulate, simulationLines }] = await Promise.all([
        readFile(file, { loadsPlugins: true }),
        import('../../vmcp/decide/simulate.ts'),
      ]);
      const told = await simulate(read, file, { audits, people });
      if (format === 'json') stdout.json(told);
      else {
        for (const line of simulationLines(told)) stdout.line(oneLine(line));
        for (const line of noteLines(told)) stderr.line(oneLine(line));
      }
      if (failOnChanges === true && told.changes.length > 0) process.exitCode = EXIT_CODES.changed.code;
    });
}

interface SimulateOptions {
  readonly config: string;
  readonly people?: string;
  readonly failOnChanges?: boolean;
  readonly format: 'text' | 'json';
}
