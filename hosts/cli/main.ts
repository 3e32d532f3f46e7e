import { causesOf, explainCause, GatewayFault, missingPackage } from '@toolmgr/core';
import { type Command, CommanderError } from 'commander';
import { addServeCommand } from '../manager/main.ts';
import { addUpgradeCommands } from '../manager/upgrades/main.ts';
import { addRunCommands } from '../run/main.ts';
import { addRegistryCommands } from '../run/registry/main.ts';
import { prepareEngine } from '../shared/engine.ts';
import { EXIT_CODES } from '../shared/exit-codes.ts';
import { isMain } from '../shared/is-main.ts';
import { ProgramCommand } from '../shared/program-command.ts';
import { stderr, stdout } from '../shared/terminal.ts';
import { Interrupted, NoSuchTool, NoToolYet, UsageError } from '../shared/usage-error.ts';
import { VERSION } from '../shared/version.ts';
import { addVmcpCommands } from '../vmcp/main.ts';
import { addOperatorCommand } from '../vmcp/operator/main.ts';
import { addClientCommands } from './client/main.ts';
import { addEditorCommands } from './clients/main.ts';
import { addCompletionCommands } from './completion/main.ts';
import { addDoctorCommand } from './doctor/main.ts';
import { addGatewayCommands } from './gateways/main.ts';
import { enterInvocationFolder } from './invoked-from.ts';
import { addJsonFlags } from './json-flag.ts';
import { addPluginCommands } from './plugin/main.ts';
import { addSecretCommands } from './secret/main.ts';
import { addUpCommand } from './up/main.ts';

/**
 * Runs one command line and resolves with its exit code.
 *
 * Shape: `argv` as in `process.argv`. Errors that the user can correct print one sentence on stderr; other errors also
 * print their stack for a bug report.
 */
export async function main(argv: readonly string[]): Promise<number> {
  prepareEngine();
  // Windows searches the working folder first, where a project could have an npm.cmd
  if (process.platform === 'win32') process.env.NoDefaultCurrentDirectoryInExePath ??= '1';
  enterInvocationFolder();
  process.exitCode = EXIT_CODES.ok.code;
  try {
    await createProgram().parseAsync([...argv]);
    return Number(process.exitCode ?? EXIT_CODES.ok.code);
  } catch (cause) {
    return await report(cause);
  }
}

/** The whole command line. */
export function createProgram(): Command {
  const program = new ProgramCommand('toolmgr')
    .description('Run MCP servers as workloads and serve many of them behind one fast MCP endpoint')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .showHelpAfterError('(--help shows the commands and options)')
    .enablePositionalOptions() // -v means version here and volume after `run`
    .exitOverride()
    .addHelpText('after', FIRST_STEPS);
  addUpCommand(program);
  addClientCommands(program);
  addRunCommands(program);
  addGatewayCommands(program);
  addDoctorCommand(program);
  addRegistryCommands(program);
  addSecretCommands(program);
  addEditorCommands(program);
  addServeCommand(program);
  addUpgradeCommands(program);
  addVmcpCommands(program);
  addOperatorCommand(program);
  addPluginCommands(program);
  addCompletionCommands(program);
  program
    .command('version')
    .description('print the version')
    .action(() => stdout.line(VERSION));
  addJsonFlags(program);
  return program;
}

const FIRST_STEPS = `
First steps:
  toolmgr up .mcp.json                 serve the servers of a client configuration
  toolmgr tools                        list the tools
  toolmgr call everything_echo message=hello

Exit codes:
${Object.values(EXIT_CODES)
  .map(({ code, means }) => `  ${code}  ${means}`)
  .join('\n')}`;

async function report(cause: unknown): Promise<number> {
  // commander has already printed it; help and version end with 0
  if (cause instanceof CommanderError) return cause.exitCode;
  if (cause instanceof UsageError) {
    stderr.line(`${stderr.red('toolmgr:')} ${cause.message}`);
    return EXIT_CODES[CODE_OF.find(([kind]) => cause instanceof kind)?.[1] ?? 'failed'].code;
  }
  if (cause instanceof GatewayFault) {
    stderr.line(`${stderr.red('toolmgr:')} ${cause.message}`);
    for (const reason of reasonsOf(cause)) stderr.line(`  because: ${reason}`);
    if (process.env.TOOLMGR_DEBUG) stderr.line(stderr.dim(`${cause.code}: ${cause.stack ?? ''}`));
    return EXIT_CODES.failed.code;
  }
  const missing = missingPackage(cause);
  if (missing !== undefined) {
    stderr.line(`${stderr.red('toolmgr:')} ${missing}`);
    return EXIT_CODES.failed.code;
  }
  // loaded here: it would slow down every command
  const { storageFault } = await import('@toolmgr/plugins/workloads/state');
  const storage = storageFault(cause);
  stderr.line(`${stderr.red('toolmgr:')} ${storage ?? explainCause(cause)}`);
  if (storage === undefined && cause instanceof Error && cause.stack !== undefined)
    stderr.line(stderr.dim(cause.stack));
  return EXIT_CODES.failed.code;
}

/** Exit codes of usage errors; of the others `failed`. */
const CODE_OF = [
  [Interrupted, 'interrupted'],
  [NoSuchTool, 'unknown'],
  [NoToolYet, 'notYet'],
] as const;

/** The causes of a fault, outermost first, without those that an earlier message contains. */
function reasonsOf(fault: GatewayFault): string[] {
  const [first = '', ...causes] = causesOf(fault);
  const reasons = [first];
  for (const cause of causes) if (!reasons.some((reason) => reason.includes(cause))) reasons.push(cause);
  return reasons.slice(1);
}

// `toolmgr logs x | head` closes our output early, which is not an error
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code === 'EPIPE') process.exit(EXIT_CODES.ok.code);
  throw cause;
});

if (isMain(import.meta)) process.exitCode = await main(process.argv);
