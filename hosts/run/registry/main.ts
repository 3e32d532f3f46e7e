import { type Command, Option } from 'commander';

/** Adds `search`, `registry list|info` and `config set|get|unset`. A command loads its code when it runs. */
export function addRegistryCommands(program: Command): void {
  program
    .command('search')
    .argument('<query>', 'part of a name, description or tag')
    .description('search the registry for servers')
    .addOption(format())
    .option('--refresh', 'ask the registry although a copy of it is fresh')
    .action(async (query: string, flags) => (await import('./list-registry.ts')).searchRegistry(query, flags));
  const registry = program.command('registry').description('show the servers of the registry');
  registry
    .command('list')
    .description('show all servers')
    .addOption(format())
    .option('--refresh', 'ask the registry although a copy of it is fresh')
    .action(async (flags) => (await import('./list-registry.ts')).listRegistry(flags));
  registry
    .command('info')
    .argument('<name>', 'name of a server')
    .description('show one server: what it runs, its variables, tools and permissions')
    .addOption(format())
    .option('--refresh', 'ask the registry although a copy of it is fresh')
    .action(async (name: string, flags) => (await import('./list-registry.ts')).showEntry(name, flags));
  const config = program.command('config').description('settings for all commands: config.yaml');
  config
    .command('set')
    .argument('<setting>', 'registry or sigstore-trusted-root')
    .argument('<value>', 'for registry: default, official, a JSON file or an https URL')
    .description('change a setting')
    .option('--allow-private-ip', 'for registry: allow http and private addresses')
    .action(async (name: string, value: string, flags) =>
      (await import('./set-config.ts')).setConfig(name, value, flags),
    );
  config
    .command('get')
    .argument('[setting]', 'one setting (default: all)')
    .description('show settings')
    .action(async (name?: string) => (await import('./set-config.ts')).getConfig(name));
  config
    .command('unset')
    .argument('<setting>', 'registry or sigstore-trusted-root')
    .description('return a setting to its default')
    .action(async (name: string) => (await import('./set-config.ts')).unsetConfig(name));
}

function format(): Option {
  return new Option('--format <format>', 'what to print').choices(['text', 'json']).default('text');
}
