import { UsageError } from '../usage-error.ts';
import { changeUserConfig, readUserConfig, userConfigPath } from '../user-config.ts';
import { PROVIDERS, type SecretsProvider } from './providers.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The provider, and who chose it. */
export interface ChosenProvider {
  readonly provider: SecretsProvider;
  readonly chosenBy: 'variable' | 'file' | 'default';
  /** A set-up was recorded, or the variable names a provider that is not the default. */
  readonly isSetUp: boolean;
}

/** Variable that chooses the provider for one command. */
export const PROVIDER_VARIABLE = 'TOOLMGR_SECRETS_PROVIDER';

/**
 * Chooses the provider: {@link PROVIDER_VARIABLE}, then `secrets.provider_type` of the user's settings when its set-up was
 * completed, then `environment`.
 * @throws UsageError for an unknown provider, or settings that cannot be read
 */
export async function chooseProvider(env: Environment = process.env): Promise<ChosenProvider> {
  const given = env[PROVIDER_VARIABLE];
  const { provider_type: recorded, setup_completed: isComplete = true } =
    (await readUserConfig(userConfigPath(env))).secrets ?? {};
  const isRecorded = recorded !== undefined && isComplete;
  if (given) {
    const provider = providerFrom(given);
    return { provider, chosenBy: 'variable', isSetUp: isRecorded || provider !== DEFAULT_PROVIDER };
  }
  return isRecorded
    ? { provider: recorded, chosenBy: 'file', isSetUp: true }
    : { provider: DEFAULT_PROVIDER, chosenBy: 'default', isSetUp: false };
}

/** Reads variables, so it works without a set-up. */
const DEFAULT_PROVIDER = 'environment';

/** Makes a provider the one of this user. */
export async function writeProvider(provider: SecretsProvider, env: Environment = process.env): Promise<void> {
  const path = userConfigPath(env);
  const { provider_type: recorded, setup_completed: isComplete = true } = (await readUserConfig(path)).secrets ?? {};
  if (recorded === provider && isComplete) return;
  await changeUserConfig({ secrets: { provider_type: provider, setup_completed: true } }, path);
}

function providerFrom(given: string): SecretsProvider {
  const found = PROVIDERS.find((provider) => provider === given);
  if (found !== undefined) return found;
  throw new UsageError(`${PROVIDER_VARIABLE}: expected ${PROVIDERS.join(', ')}`);
}
