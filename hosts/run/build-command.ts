import { type Command, Option } from 'commander';
import { PACKAGE_OPTIONS } from '../workloads/fields/container-options.ts';
import { commanderOption } from '../workloads/fields/options.ts';

/** Adds `build`. */
export function addBuildCommand(program: Command): void {
  const command = program
    .command('build')
    .description('build the container image of a package, as run does')
    .argument('<target>', 'uvx://PACKAGE, npx://PACKAGE, go://PACKAGE or go://./FOLDER')
    .argument('[args...]', 'first arguments of the server, after --')
    .usage('[flags] TARGET [-- ARGS...]')
    .option('--tag <IMAGE>', 'name of the image (default: made from TARGET, with a hash of what is built)')
    .option('--dry-run', 'print the Dockerfile and build nothing')
    .option('-o, --output <FILE>', 'write the Dockerfile to a file')
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'));
  for (const row of PACKAGE_OPTIONS) command.addOption(commanderOption('Options:', row));
  command.action(async (target: string, args: string[], flags) =>
    (await import('./commands/build.ts')).build(target, args, flags),
  );
}
