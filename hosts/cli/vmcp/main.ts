import { link, rename, rm, writeFile } from 'node:fs/promises';
import { durationMs } from '@toolmgr/plugins/kit/settings';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { FOUND_CLIENTS } from '../../client-files/found-clients.ts';
import { LOG_FORMAT_FLAG, LOG_FORMATS } from '../../shared/gateway-log/log-format.ts';
import { oneLine } from '../../shared/gateway-log/text-line.ts';
import { MEMORY_BUDGET, memorySizeFrom } from '../../shared/memory-budget.ts';
import { portFrom } from '../../shared/port-option.ts';
import { stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { LOAD_PLUGINS, readFile } from '../../vmcp/file-options.ts';
import { addExplain, addSimulate } from './add-explain.ts';
import { addValidate } from './add-validate.ts';
import { addWorkflowCommands } from './workflow/main.ts';

/** Adds `toolmgr vmcp …`. A command loads its code when it runs. */
export function addVmcpCommands(program: Command): void {
  const vmcp = program.command('vmcp').description('serve many MCP servers behind one endpoint');
  addServe(vmcp);
  addValidate(vmcp);
  addInit(vmcp);
  addPlan(vmcp);
  addExplain(vmcp);
  addSimulate(vmcp);
  addLock(vmcp);
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
    .option(MEMORY_BUDGET.flags, MEMORY_BUDGET.description, memorySizeFrom)
    .option('--status-port <number>', 'serve status pages and metrics at a separate port on 127.0.0.1', portFrom)
    .option('--status-token-env <name>', 'environment variable with the required token of status pages and metrics')
    .option('--optimizer', 'list two tools that find and call all others, with the defaults of the section optimizer')
    .option('--frozen', 'refuse tools, prompts, templates and instructions that the file of vmcp lock lacks')
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
  for (const flags of ['--embedding-model <model>', '--embedding-image <image>']) {
    const [flag = ''] = flags.split(' ');
    serve.addOption(new Option(flags).hideHelp().argParser(() => startsNoServer(flag)));
  }
  serve.addOption(new Option('--optimizer-embedding').hideHelp());
  serve.addOption(new Option('--watch').hideHelp());
  serve.on('option:watch', () => {
    throw new UsageError('--watch: leave it out; vmcp serve reloads its file when it changes, and follows its group');
  });
  serve.on('option:optimizer-embedding', () => startsNoServer('--optimizer-embedding'));
  serve.action(async (options) => (await import('../../vmcp/serve/serve.ts')).serve(options));
}

/** Refuses flags that start an embedding server in other gateways: this one uses a server that runs, or a model in a folder. */
function startsNoServer(flag: string): never {
  throw new UsageError(
    `${flag}: vmcp serve starts no embedding server; start one, and name its URL in the file as optimizer.embeddingService, or use --optimizer, which compares words only`,
  );
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
  if (from !== undefined) return (await import('../../vmcp/init-from-client.ts')).initFromClient(from);
  if (group === undefined)
    throw new UsageError('give a client file or client (--from NAME), or a group of workloads (--group NAME)');
  const { yaml, backends, skipped } = await (await import('../../vmcp/init.ts')).initFromGroup(group);
  return { yaml, backends, notes: skipped.map((reason) => `skipped ${reason}`), variables: new Map<string, string>() };
}

function addPlan(vmcp: Command): void {
  vmcp
    .command('plan')
    .description('print the plan of a file with plugins and defaults, without secrets')
    .requiredOption('-c, --config <file>', 'vmcp file (YAML)')
    .option(LOAD_PLUGINS.flags, LOAD_PLUGINS.description)
    .addHelpText('after', '\nExample:\n  toolmgr vmcp plan -c vmcp.yaml')
    .action(async ({ config: file, loadPlugins }: { readonly config: string; readonly loadPlugins?: boolean }) => {
      const [read, { planFromConfig }, { planAsYaml }] = await Promise.all([
        readFile(file, { loadsPlugins: loadPlugins === true }),
        import('../../vmcp/plan.ts'),
        import('../../vmcp/print-plan.ts'),
      ]);
      const { notLoaded } = read;
      if (notLoaded.length > 0) {
        const what = `the plan is without what these plugins make of the file: ${notLoaded.join(', ')}`;
        stderr.line(`${stderr.yellow('note')} ${oneLine(what)} (${LOAD_PLUGINS.flags} loads them)`);
      }
      process.stdout.write(planAsYaml(planFromConfig(read), read.config.statusPages));
    });
}

function addLock(vmcp: Command): void {
  vmcp
    .command('lock')
    .description('write the definitions of all backends and their hashes into a file for version control')
    .requiredOption('-c, --config <file>', 'vmcp file (YAML); connects to its backends')
    .addHelpText(
      'after',
      `
The file is vmcp.pins.json beside vmcp.yaml. vmcp serve --frozen does not start when a backend lists what the file lacks, and holds what changes later.

Examples:
  toolmgr vmcp lock -c vmcp.yaml
  toolmgr vmcp serve -c vmcp.yaml --frozen`,
    )
    .action(async ({ config: file }: { readonly config: string }) => {
      const { lockFileOf, PINNING, writeLock } = await import('../../vmcp/lock.ts');
      const lock = lockFileOf(file);
      const read = await readFile(file, { loadsPlugins: true, added: [PINNING] });
      const { pins, changes, findings } = await writeLock(read, file, lock);
      for (const { change, entry } of changes) stdout.line(`${change.padEnd(7)} ${oneLine(entry)}`);
      for (const finding of findings) stderr.line(`${stderr.yellow('warning')} ${oneLine(finding)}`);
      const count = Object.values(pins.backends).reduce((sum, entries) => sum + Object.keys(entries).length, 0);
      stderr.line(`wrote ${lock} with ${count} ${count === 1 ? 'definition' : 'definitions'}`);
    });
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

function sessionTtlFrom(text: string): number {
  if (text.startsWith('-')) throw new InvalidArgumentError('must not be negative');
  const ms = durationMs(text);
  if (ms === undefined) throw new InvalidArgumentError('expected a duration with a unit, such as 30m or 1h30m');
  return Math.ceil(ms);
}
