import { type Command, Option } from 'commander';
import { formatOption } from '../../shared/format-option.ts';
import { PROVIDERS } from '../../shared/secrets/providers.ts';
import { UsageError } from '../../shared/usage-error.ts';

/** Adds `secret` with its commands. A command loads its code when it runs. */
export function addSecretCommands(program: Command): void {
  const secret = program
    .command('secret')
    .description('store secrets for run --secret and for vmcp files')
    .addHelpText('after', HELP);
  secret
    .command('setup')
    .description('create the encrypted secrets file and use it; its password is kept in the system keyring')
    .addOption(new Option('--provider <name>', 'where secrets are').choices(PROVIDERS).default('encrypted'))
    .option('--new-password', 'choose the password yourself, or change it; read from the terminal or stdin')
    .option('--no-keyring', 'do not use the keyring of the system')
    .action(async (flags) => (await import('./setup.ts')).setup(flags));
  secret
    .command('provider')
    .argument('[name]', `${PROVIDERS.join(', ')}; without it the current one is shown`)
    .description('show or choose where secrets are kept')
    .addOption(formatOption())
    .action(async (name: string | undefined, flags) => (await import('./show-provider.ts')).provider(name, flags));
  secret
    .command('set')
    .argument('<name>', 'name of the secret')
    .description('store a secret; its value is read from stdin, or asked for on a terminal')
    .addHelpText('after', SET_HELP)
    .allowExcessArguments() // the message of commander would repeat a value
    .action(async (name: string, _flags, { args }: Command) => {
      if (args.length > 1)
        throw new UsageError('set takes only a name: pass the value on stdin, where others cannot see it');
      return (await import('./values.ts')).set(name);
    });
  secret
    .command('get')
    .argument('<name>', 'name of the secret')
    .description('print the value of a secret')
    .action(async (name: string) => (await import('./values.ts')).get(name));
  secret
    .command('list')
    .alias('ls')
    .description('show the names of the secrets')
    .option('--system', 'those that toolmgr keeps for workloads')
    .addOption(formatOption())
    .action(async (flags) => (await import('./values.ts')).list(flags));
  secret
    .command('rm')
    .alias('delete')
    .argument('<name...>', 'names of secrets')
    .description('remove secrets')
    .option('--system', 'those that toolmgr keeps for workloads')
    .action(async (names: string[], flags) => (await import('./values.ts')).remove(names, flags));
  secret
    .command('reset-keyring')
    .description('store the password in the system keyring again, or remove it from there')
    .option('--remove', 'remove it: from then on commands ask for it, or read TOOLMGR_SECRETS_PASSWORD')
    .action(async (flags) => (await import('./reset-keyring.ts')).resetKeyring(flags));
}

const HELP = `
The password of the encrypted file: TOOLMGR_SECRETS_PASSWORD, else the keyring of the system, else it is asked for.

Examples:
  toolmgr secret setup
  toolmgr secret set GITHUB_TOKEN < token.txt
  toolmgr run --secret GITHUB_TOKEN,target=TOKEN npx://PACKAGE
  toolmgr secret list`;

const SET_HELP = `
One line break at the end of stdin is left out. A value is never an argument: other users could see it.

Examples:
  toolmgr secret set GITHUB_TOKEN
  gh auth token | toolmgr secret set GITHUB_TOKEN`;
