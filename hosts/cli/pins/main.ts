import { type Command, Option } from 'commander';

/** Adds `toolmgr pins …`. A command loads its code when it runs. */
export function addPinsCommands(program: Command): void {
  const pins = program
    .command('pins')
    .description('decide about definitions of tools that a gateway holds')
    .addHelpText('after', HELP);
  withPlace(pins.command('list').alias('ls'))
    .description('show what is held and why')
    .option('-a, --all', 'also what is pinned')
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'))
    .action(async (flags) => (await import('./commands.ts')).list(flags));
  withPlace(pins.command('diff'))
    .argument('[entry...]', ENTRIES)
    .description('show how held definitions differ from the pinned ones, and what the scanner finds in them')
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'))
    .action(async (entries: string[], flags) => (await import('./commands.ts')).diff(entries, flags));
  for (const [name, description] of DECISIONS) {
    withPlace(pins.command(name))
      .argument('[entry...]', ENTRIES)
      .description(description)
      .option('-a, --all', 'everything that is held')
      .action(async (entries: string[], flags) => (await import('./commands.ts')).decide(name, entries, flags));
  }
}

const ENTRIES =
  'entries as `pins list` shows them, e.g. github/create_issue; with @ and a hash only that definition of it';

const DECISIONS = [
  ['approve', 'pin what is held, so that it is listed and can be called'],
  ['reject', 'keep held what is held, also when its backend lists it again'],
] as const;

function withPlace(command: Command): Command {
  return command
    .option('--gateway <name>', 'name of the gateway, when there are several with pins')
    .option('--file <file>', 'file with the pins, as toolPinning.file names it');
}

const HELP = `
A gateway whose file has the section toolPinning follows these decisions within seconds.
A backend can change a definition after you looked at it. Approve the hash that pins diff shows: ENTRY@sha256:…

Examples:
  toolmgr pins list
  toolmgr pins diff github/create_issue
  toolmgr pins approve github/create_issue
  toolmgr pins reject --all`;
