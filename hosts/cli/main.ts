import { type Command, CommanderError } from 'commander';
import { prepareEngine } from '../shared/engine.ts';
import { EXIT_CODES } from '../shared/exit-codes.ts';
import { isMain } from '../shared/is-main.ts';
import { ProgramCommand } from '../shared/program-command.ts';
import { stderr, stdout } from '../shared/terminal.ts';
import { Interrupted, NoSuchTool, NoToolYet, UsageError } from '../shared/usage-error.ts';
import { VERSION } from '../shared/version.ts';
import { loadCommands } from './commands.ts';
import { addCompletionCommands } from './completion/main.ts';
import { enterInvocationFolder } from './invoked-from.ts';
import { addJsonFlags } from './json-flag.ts';

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
    const program = await createProgram(argv[2]);
    await program.parseAsync([...argv]);
    return Number(process.exitCode ?? EXIT_CODES.ok.code);
  } catch (cause) {
    return await report(cause);
  }
}

/**
 * The command line: with the commands that its first word needs, or with all when there is no word.
 *
 * A command line for help, and one with an unknown word, gets all of them.
 */
export async function createProgram(word?: string): Promise<Command> {
  const program = new ProgramCommand('toolmgr')
    .description('Run MCP servers as workloads and serve many of them behind one fast MCP endpoint')
    .version(VERSION, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print help for a command')
    .showHelpAfterError('(--help shows the commands and options)')
    .enablePositionalOptions() // -v means version here and volume after `run`
    .exitOverride()
    .addHelpText('after', FIRST_STEPS);
  for (const add of await loadCommands(word)) add(program);
  addCompletionCommands(program, createProgram);
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
  // loaded here: most commands need less
  return (await import('./report-fault.ts')).reportFault(cause);
}

/** Exit codes of usage errors; of the others `failed`. */
const CODE_OF = [
  [Interrupted, 'interrupted'],
  [NoSuchTool, 'unknown'],
  [NoToolYet, 'notYet'],
] as const;

// `toolmgr logs x | head` closes our output early, which is not an error
process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  if (cause.code === 'EPIPE') process.exit(EXIT_CODES.ok.code);
  throw cause;
});

if (isMain(import.meta)) process.exitCode = await main(process.argv);
