import { type Command, Option } from 'commander';

/** Adds `toolmgr doctor`. */
export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .argument('[file...]', 'files to check too: of clients, vmcp files, manifests')
    .description(
      'check this machine (programs, ports, proxy, certificates, files, clock) and say how to fix what is wrong',
    )
    .option('--all', 'list each optional feature whose packages are not installed, with its command')
    .addOption(new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text'))
    .addHelpText(
      'after',
      '\nExamples:\n  toolmgr doctor\n  toolmgr doctor .mcp.json vmcp.yaml --json\n\nExit code 1: a check failed.',
    )
    .action(async (files: string[], flags) => (await import('./doctor.ts')).doctor(files, flags));
}
