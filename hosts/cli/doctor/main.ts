import { type Command, Option } from 'commander';

/** Adds `toolmgr doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .argument('[file...]', 'vmcp files to check too')
    .description(
      'check this machine (programs, ports, proxy, certificates, files, clock) and say how to fix what is wrong',
    )
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      '\nExamples:\n  toolmgr doctor\n  toolmgr doctor vmcp.yaml --json\n\nExit code 1: a check failed.',
    )
    .action(async (files: string[], flags) => (await import('./doctor.ts')).doctor(files, flags));
}
