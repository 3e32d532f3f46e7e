import type { Command } from 'commander';
import { UsageError } from '../shared/usage-error.ts';

/** Adds `--json` to every command that can print JSON. */
export function addJsonFlags(program: Command): void {
  addBelow(program);
  program.hook('preAction', (_program, command) => {
    if (command.getOptionValue('json') !== true) return;
    const isGiven = command.getOptionValueSource('format') === 'cli';
    if (isGiven && command.getOptionValue('format') !== 'json') {
      throw new UsageError('give --json or --format, not both');
    }
    command.setOptionValue('format', 'json');
  });
}

function addBelow(command: Command): void {
  for (const below of command.commands) addBelow(below);
  if (printsJson(command)) command.option('--json', 'the same as --format json');
}

/** Whether a command has `--format json`. */
export function printsJson(command: Command): boolean {
  const format = command.options.find(({ long }) => long === '--format');
  return format?.argChoices?.includes('json') === true;
}
