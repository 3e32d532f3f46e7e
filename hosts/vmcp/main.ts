import { link, rename, rm, writeFile } from 'node:fs/promises';
import { durationMs } from '@toolmgr/plugins';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FOUND_CLIENTS } from '../cli/up/found-clients.ts';
import { EXIT_CODES } from '../shared/exit-codes.ts';
import { LOG_FORMAT_FLAG, LOG_FORMATS } from '../shared/gateway-log/log-format.ts';
import { oneLine } from '../shared/gateway-log/text-line.ts';
import { stderr, stdout } from '../shared/terminal.ts';
import { UsageError } from '../shared/usage-error.ts';
import { addWorkflowCommands } from './workflow/main.ts';

interface FileOptions {
  readonly config: string;
  readonly format: 'text' | 'json';
}

/** Adds `toolmgr vmcp …`. A command loads its code when it runs. */
export function addVmcpCommands(program: Command): void {
  const vmcp = program.command('vmcp').description('serve many MCP servers behind one endpoint');
  addServe(vmcp);
  addValidate(vmcp);
  addInit(vmcp);
  addPlan(vmcp);
  addExplain(vmcp);
  addWorkflowCommands(vmcp);
}

function addServe(vmcp: Command): void {
  const serve = vmcp
    .command('serve')
    .description('serve a file, or the running workloads of a group')
    .option('-c, --config <file>', 'vmcp file (YAML); reloaded when it changes and on SIGHUP')
    .option('--group <name>', 'serve the running workloads of a group instead of a file')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on, 0 for any', portFrom, 4483)
    .option('--session-ttl <duration>', 'idle time of a client session (0 = 30m)', sessionTtlFrom)
    .option('--status-port <number>', 'serve status pages and metrics at a separate port on 127.0.0.1', portFrom)
    .option('--status-token-env <name>', 'environment variable with the required token of status pages and metrics')
    .option('--enable-audit', 'write one JSON line per request and call, with the defaults of the section audit')
    .addOption(
      new Option('--stdio', 'serve one client over standard input and output instead of listening').conflicts([
        ...['host', 'port', 'page', 'statusPort', 'statusTokenEnv'],
      ]),
    )
    .option('--page', 'show the calls on the page at / too, and serve it with authentication or on other addresses')
    .addOption(new Option(LOG_FORMAT_FLAG.flags, LOG_FORMAT_FLAG.description).choices(LOG_FORMATS))
    .option('--debug', 'log more')
    .addHelpText(
      'after',
      `
Examples:
  toolmgr vmcp serve -c vmcp.yaml
  toolmgr vmcp serve -c vmcp.yaml --page
  toolmgr vmcp serve -c vmcp.yaml --stdio
  toolmgr vmcp serve --group dev --port 4500
  toolmgr run --group dev npx://@modelcontextprotocol/server-everything && toolmgr vmcp serve --group dev`,
    );
  for (const [flags, name] of LATER_FLAGS) serve.addOption(new Option(flags).hideHelp().argParser(() => later(name)));
  serve.on('option:optimizer', () => later('--optimizer'));
  serve.on('option:optimizer-embedding', () => later('--optimizer-embedding'));
  serve.action(async (options) => (await import('./serve/serve.ts')).serve(options));
}

/** Flags that are not available yet and are refused by name. */
const LATER_FLAGS = [
  ['--optimizer', '--optimizer'],
  ['--optimizer-embedding', '--optimizer-embedding'],
  ['--embedding-model <model>', '--embedding-model'],
  ['--embedding-image <image>', '--embedding-image'],
] as const;

function later(flag: string): never {
  throw new UsageError(`${flag} is not available yet: it comes with the optimizer`);
}

function addValidate(vmcp: Command): void {
  withFile(
    vmcp.command('validate').description('check a vmcp file, or manifests as a cluster would, and print a summary'),
  )
    .option('--connect', 'also connect to the backends once and check the names of the file against their lists')
    .addHelpText(
      'after',
      `
What vmcp serve refuses is refused here too. The plugins of the file are applied, but nothing is started: files, ports,
sign-in servers and stores are not opened, and secrets may be missing. The lines "not checked" say what only a start shows.

A YAML file with a VirtualMCPServer and the objects that it refers to is checked as the API server and the operator would check
it. References to objects that are not in the file are listed as not checked.

Examples:
  toolmgr vmcp validate -c vmcp.yaml
  toolmgr vmcp validate -c vmcp.yaml --connect
  toolmgr vmcp validate -c manifests.yaml --format json`,
    )
    .action(async ({ config: file, format, connect }: FileOptions & { readonly connect?: boolean }) => {
      const text = await (await import('./read-config.ts')).readConfigText(file);
      if ((await import('./manifests/read-manifests.ts')).isManifest(text)) {
        if (connect) throw new UsageError('--connect needs a vmcp file; the backends of manifests are in the cluster');
        return validateManifests(text, file, format);
      }
      const read = await readFile(file);
      const { config } = read;
      const start = await (await import('./check-start.ts')).checkStart(read, file);
      const asked = connect ? await (await import('./check-against-backends.ts')).checkAgainstBackends(read, file) : [];
      const warnings = [...read.warnings, ...start.warnings, ...asked];
      const notChecked = connect ? start.notChecked : [...start.notChecked, 'names of tools (--connect checks them)'];
      for (const warning of warnings) stderr.line(`${stderr.yellow('warning')} ${warning}`);
      const [{ overviewOf }, { catalogue }] = await Promise.all([import('./overview.ts'), import('@toolmgr/plugins')]);
      const lines = await overviewOf(read, catalogue);
      if (format === 'json') {
        const { metadata, statusPages } = config;
        const told = Object.fromEntries(lines.map(({ key, value }) => [key, value]));
        return stdout.line(JSON.stringify({ valid: true, ...told, metadata, statusPages, warnings, notChecked }));
      }
      stdout.line(`${file} is valid`);
      for (const { label, value, text } of lines) stdout.line(`  ${label.padEnd(14)} ${text ?? value}`);
      for (const [key, value] of Object.entries(config.metadata ?? {}))
        stdout.line(`  metadata       ${key}: ${value}`);
      for (const what of notChecked) stdout.line(`  not checked    ${what}`);
    });
}

async function validateManifests(text: string, file: string, format: FileOptions['format']): Promise<void> {
  const [{ checkManifests }, { printReport }, { catalogue }] = await Promise.all([
    import('./manifests/check-manifests.ts'),
    import('./manifests/print-report.ts'),
    import('@toolmgr/plugins'),
  ]);
  const report = await checkManifests(text, file, catalogue);
  if (format === 'json') {
    const { isValid, ...rest } = report;
    stdout.line(JSON.stringify({ valid: isValid, ...rest }));
  } else printReport(file, report);
  if (!report.isValid) process.exitCode = EXIT_CODES.failed.code;
}

function addInit(vmcp: Command): void {
  vmcp
    .command('init')
    .description('write a file from a client configuration, or from the running workloads of a group')
    .addOption(
      new Option('--from <client>', `client file, or the name of a client: ${FOUND_CLIENTS.join(', ')}`).conflicts(
        'group',
      ),
    )
    .option('-g, --group <name>', 'group of workloads')
    .option('-o, --output <file>', 'file to write with mode 0600; - and the default: standard output')
    .addOption(new Option('-c, --config <file>', 'the same as --output').hideHelp().conflicts('output'))
    .option('--force', 'replace an existing file')
    .addHelpText(
      'after',
      `
With --from no value of a variable or header is copied: the file names environment variables, which are printed.

Examples:
  toolmgr vmcp init --from .mcp.json -o vmcp.yaml
  toolmgr vmcp init --from cursor -o vmcp.yaml && toolmgr vmcp validate -c vmcp.yaml
  toolmgr vmcp init -g dev -o vmcp.yaml && toolmgr vmcp serve -c vmcp.yaml`,
    )
    .action(async (options: InitOptions) => {
      const { yaml, backends, notes, variables } = await initOutcome(options);
      for (const note of notes) stderr.line(`${stderr.yellow('note')} ${oneLine(note)}`);
      const file = options.output ?? options.config;
      if (file === undefined || file === '-') process.stdout.write(yaml);
      else {
        await writeNew(file, yaml, options.force === true);
        stderr.line(`wrote ${file} with ${backends} ${backends === 1 ? 'backend' : 'backends'}`);
      }
      if (variables.size > 0) stderr.line('set these environment variables before you serve the file:');
      for (const [variable, what] of variables) stderr.line(`  ${variable}: ${what}`);
    });
}

interface InitOptions {
  readonly from?: string;
  readonly group?: string;
  readonly output?: string;
  readonly config?: string;
  readonly force?: boolean;
}

async function initOutcome({ from, group }: InitOptions) {
  if (from !== undefined) return (await import('./init-from-client.ts')).initFromClient(from);
  if (group === undefined)
    throw new UsageError('give a client file or client (--from NAME), or a group of workloads (--group NAME)');
  const { yaml, backends, skipped } = await (await import('./init.ts')).initFromGroup(group);
  return { yaml, backends, notes: skipped.map((reason) => `skipped ${reason}`), variables: new Map<string, string>() };
}

function addPlan(vmcp: Command): void {
  vmcp
    .command('plan')
    .description('print the plan of a file with plugins and defaults, without secrets')
    .requiredOption('-c, --config <file>', 'vmcp file (YAML)')
    .addHelpText('after', '\nExample:\n  toolmgr vmcp plan -c vmcp.yaml')
    .action(async ({ config: file }: { config: string }) => {
      const [read, { planFromConfig }, { planAsYaml }] = await Promise.all([
        readFile(file),
        import('./plan.ts'),
        import('./print-plan.ts'),
      ]);
      process.stdout.write(planAsYaml(planFromConfig(read), read.config.statusPages));
    });
}

function addExplain(vmcp: Command): void {
  vmcp
    .command('explain')
    .description('show where a tool comes from, what changed it, and what may refuse its calls')
    .argument('<tool>', 'advertised name, or workload.original')
    .addOption(new Option('-c, --config <file>', 'vmcp file; connects to its backends').conflicts('url'))
    .option(
      '--url <url>',
      'a gateway that runs on this machine (default: http://127.0.0.1:4483/mcp, or the only one that runs)',
    )
    .addOption(formatOption())
    .addHelpText(
      'after',
      '\nExamples:\n  toolmgr vmcp explain github_search -c vmcp.yaml\n  toolmgr vmcp explain github_search --url http://127.0.0.1:4483/mcp',
    )
    .action(async (tool: string, options: { config?: string; url?: string; format: 'text' | 'json' }) => {
      const { explanationLines } = await import('./explain.ts');
      const told =
        options.config === undefined ? await explainAt(tool, options.url) : await explainFile(tool, options.config);
      if (options.format === 'json') stdout.line(JSON.stringify(told, undefined, 2));
      else for (const line of explanationLines(told)) stdout.line(line);
      if (!told.found) process.exitCode = 1;
    });
}

async function explainFile(tool: string, file: string) {
  const [read, { leftFor, planFromConfig }, { explainTool }, { withStartedBackends }] = await Promise.all([
    readFile(file),
    import('./plan.ts'),
    import('./explain.ts'),
    import('./with-started-backends.ts'),
  ]);
  const plan = planFromConfig(leftFor('listing', read));
  return withStartedBackends(plan, file, {}, (gateway) => explainTool(gateway, tool));
}

async function explainAt(tool: string, url: string | undefined) {
  const [{ fetchExplanation }, { chooseEndpoint }] = await Promise.all([
    import('../cli/client/fetch-explanation.ts'),
    import('../cli/client/choose-endpoint.ts'),
  ]);
  return fetchExplanation(tool, (await chooseEndpoint({ url })).url);
}

async function readFile(file: string) {
  const [{ readConfig, readConfigText }, { catalogue }] = await Promise.all([
    import('./read-config.ts'),
    import('@toolmgr/plugins'),
  ]);
  return readConfig(await readConfigText(file), file, catalogue);
}

/** Writes a whole file at once. Without `force` an existing file is kept. */
async function writeNew(file: string, text: string, force: boolean): Promise<void> {
  const temporary = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(temporary, text, { mode: 0o600, flag: 'wx' });
    if (force) await rename(temporary, file);
    else await link(temporary, file);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === 'EEXIST') throw new UsageError(`${file} exists; --force replaces it`);
    throw new UsageError(`${file} cannot be written (${code ?? 'unknown error'})`);
  } finally {
    await rm(temporary, { force: true });
  }
}

function withFile(command: Command): Command {
  return command.requiredOption('-c, --config <file>', 'vmcp file (YAML)').addOption(formatOption());
}

function formatOption(): Option {
  return new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text');
}

/** Reads a port for commander. */
export function portFrom(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('expected a number from 0 to 65535');
}

function sessionTtlFrom(text: string): number {
  if (text.startsWith('-')) throw new InvalidArgumentError('must not be negative');
  const ms = durationMs(text);
  if (ms === undefined) throw new InvalidArgumentError('expected a Go duration such as 30m or 1h30m');
  return Math.ceil(ms);
}
