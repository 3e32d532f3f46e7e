import type { Command } from 'commander';
import { formatOption } from '../../shared/format-option.ts';

/** Adds `search`, `registry …` and `config set|get|unset`. A command loads its code when it runs. */
export function addRegistryCommands(program: Command): void {
  program
    .command('search')
    .argument('<query>', 'part of a name, description or tag')
    .description('search the registry for servers')
    .addOption(formatOption())
    .option('--refresh', 'ask the registry although a copy of it is fresh')
    .action(async (query: string, flags) => (await import('./list-registry.ts')).searchRegistry(query, flags));
  const registry = program.command('registry').description('show the servers of the registries, and choose registries');
  registry
    .command('list')
    .description('show all servers')
    .addOption(formatOption())
    .option('--refresh', 'ask the registry although a copy of it is fresh')
    .action(async (flags) => (await import('./list-registry.ts')).listRegistry(flags));
  registry
    .command('info')
    .argument('<name>', 'name of a server')
    .description('show one server: what it runs, its variables, tools and permissions')
    .addOption(formatOption())
    .option('--refresh', 'ask the registry although a copy of it is fresh')
    .action(async (name: string, flags) => (await import('./list-registry.ts')).showEntry(name, flags));
  addSourceCommands(registry);
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
    .description('reset a setting to its default')
    .action(async (name: string) => (await import('./set-config.ts')).unsetConfig(name));
}

function addSourceCommands(registry: Command): void {
  registry
    .command('sources')
    .description('show the registries in the order of their priority')
    .addOption(formatOption())
    .action(async (flags) => (await import('./registry-sources.ts')).listSources(flags));
  registry
    .command('add')
    .argument('<name>', 'name for the registry: lower case letters, digits and hyphens')
    .argument('<source>', 'a JSON file, the https URL of a .json document or of a registry server, or official')
    .description('add a registry; it must load without problems')
    .option('--first', 'give it priority over the other added registries')
    .option('--allow-private-ip', 'allow http and private addresses')
    .option('--issuer <url>', 'sign-in: issuer of the tokens; then: toolmgr registry login NAME')
    .option('--client-id <id>', 'sign-in: client id')
    .option('--audience <audience>', 'sign-in: audience of the tokens')
    .option('--scope <scope...>', 'sign-in: scopes (default: openid offline_access)')
    .option('--callback-port <port>', 'sign-in: port of the callback on this machine (default: any)')
    .action(async (name: string, source: string, flags) =>
      (await import('./registry-sources.ts')).addSource(name, source, flags),
    );
  registry
    .command('remove')
    .argument('<name>', 'name of a registry')
    .description('remove a registry that was added')
    .action(async (name: string) => (await import('./registry-sources.ts')).removeSource(name));
  registry
    .command('refresh')
    .description('fetch all registries now, even if the stored copies are fresh')
    .action(async () => (await import('./registry-sources.ts')).refreshSources());
  registry
    .command('login')
    .argument('[name]', 'name of a registry (default: the one whose sign-in is set up)')
    .description('sign in to a registry in a browser')
    .option('--skip-browser', 'only print the URL')
    .action(async (name: string | undefined, flags) =>
      (await import('./registry-sources.ts')).logInToSource(name, flags),
    );
  registry
    .command('logout')
    .argument('[name]', 'name of a registry (default: the one whose sign-in is set up)')
    .description('sign out of a registry')
    .action(async (name?: string) => (await import('./registry-sources.ts')).logOutOfSource(name));
}
