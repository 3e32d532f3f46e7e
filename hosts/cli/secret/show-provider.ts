import { headerOf, secretsPath } from '@toolmgr/plugins/secrets';
import { ownCommand } from '../../shared/own-command.ts';
import { chooseProvider, PROVIDER_VARIABLE, writeProvider } from '../../shared/secrets/provider.ts';
import { PROVIDERS, type SecretsProvider } from '../../shared/secrets/providers.ts';
import { SECRET_VARIABLE_PREFIX } from '../../shared/secrets/secret-store.ts';
import { stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { userConfigPath } from '../../shared/user-config.ts';

/** `toolmgr secret provider`. @throws UsageError when the name is unknown, or its secrets were never set up */
export async function provider(name: string | undefined, { format }: { format: 'text' | 'json' }): Promise<void> {
  if (name !== undefined) await choose(name);
  const chosen = await chooseProvider();
  const place = PLACES[chosen.provider]();
  if (format === 'json') return stdout.json({ ...chosen, place });
  const by = { variable: `by ${PROVIDER_VARIABLE}`, file: `by ${userConfigPath()}`, default: 'the default' };
  stdout.line(`${chosen.provider} (${by[chosen.chosenBy]}): ${place}`);
}

const PLACES: Readonly<Record<SecretsProvider, () => string>> = {
  encrypted: () => secretsPath(process.env),
  environment: () => `${SECRET_VARIABLE_PREFIX}NAME`,
  '1password': () => 'op://vault/item/field',
  keyring: () => 'keyring of the system',
};

async function choose(name: string): Promise<void> {
  const wanted = PROVIDERS.find((known) => known === name);
  if (wanted === undefined) throw new UsageError(`there is no provider ${name} (known: ${PROVIDERS.join(', ')})`);
  if (wanted === 'encrypted' && (await headerOf(secretsPath(process.env))) === undefined)
    throw new UsageError(`there are no encrypted secrets: make them with ${ownCommand('secret setup')}`);
  await writeProvider(wanted);
}
