import type { Command } from 'commander';
import { formatOption } from '../../shared/format-option.ts';

/** Adds `client` with its commands. A command loads its code when it runs. */
export function addEditorCommands(program: Command): void {
  const client = program
    .command('client')
    .description('write workloads into the configuration of editors and assistants')
    .addHelpText('after', HELP);
  client
    .command('list')
    .alias('ls')
    .description('show the registered clients with their groups')
    .addOption(formatOption())
    .action(async (flags) => (await import('./commands.ts')).list(flags));
  client
    .command('status')
    .description('show every known client: whether it is installed and registered')
    .addOption(formatOption())
    .action(async (flags) => (await import('./commands.ts')).status(flags));
  client
    .command('register')
    .argument('<client...>', 'clients, as `toolmgr client status` shows them')
    .description('write the running workloads of a group into the files of clients, and keep them up to date')
    .option('--group <name...>', 'groups (default: default)')
    .option('--endpoint <url>', 'one entry for this MCP endpoint instead of one for each workload')
    .option('--name <name>', 'name of that entry (default: toolmgr)')
    .option('--force', 'overwrite entries that toolmgr did not write')
    .option('--dry-run', 'print what would be written, and write nothing')
    .addOption(formatOption())
    .action(async (names: string[], flags) => (await import('./commands.ts')).register(names, flags));
  client
    .command('unregister')
    .argument('<client...>', 'clients')
    .description('remove the entries that toolmgr wrote')
    .option('--group <name...>', 'groups to leave (default: all)')
    .option('--dry-run', 'print what would be removed, and write nothing')
    .addOption(formatOption())
    .action(async (names: string[], flags) => (await import('./commands.ts')).unregister(names, flags));
}

const HELP = `
While toolmgr serve runs, entries follow the workloads. Without it, they are as at the time of the command.

Examples:
  toolmgr client status
  toolmgr client register cursor --dry-run
  toolmgr client register cursor codex --group default
  toolmgr client register claude-code --endpoint http://127.0.0.1:8080/mcp/groups/default
  toolmgr client unregister cursor`;
