import { type Command, Option } from 'commander';
import { formatOption } from '../../shared/format-option.ts';
import { readPair } from '../../workloads/fields/option-values.ts';

/** Adds `toolmgr upgrade`. */
export function addUpgradeCommands(program: Command): void {
  const upgrade = program
    .command('upgrade')
    .description('upgrade workloads to the newer image of their registry, or to the newest release of their package');
  upgrade
    .command('check')
    .argument('[name...]', 'names of workloads; without names all that are not stopped')
    .description(
      'compare the images of workloads with those of the registry, and packages with their newest release; exit code 0 also when there are newer ones',
    )
    .option('-a, --all', 'stopped workloads too')
    .option('-g, --group <name>', 'only workloads of a group')
    .addOption(formatOption())
    .action(async (names: string[], flags) => (await import('./commands.ts')).checkUpgrades(names, flags));
  upgrade
    .command('apply')
    .argument('<name>', 'name of a workload')
    .description(
      'verify and pull the newer image, then start the workload with it, or with the newest release of its package; the old one is restored when that fails; exit code 1 when there is nothing that it can be upgraded to',
    )
    .option('--to <version>', 'this version of its image or package, newer or older, such as the one that ran before')
    .addOption(
      new Option('-e, --env <key=value>', 'a variable to add or change; may be repeated')
        .argParser(readPair)
        .default({}, 'none'),
    )
    .addOption(
      new Option('--secret <name,target=variable>', 'a secret for a variable; may be repeated')
        .argParser(collect)
        .default([], 'none'),
    )
    .addOption(formatOption())
    .action(async (name: string, flags) => (await import('./commands.ts')).applyOne(name, flags));
}

function collect(value: string, before: readonly string[]): readonly string[] {
  return [...before, value];
}
