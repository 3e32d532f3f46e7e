import { readOptionalSecretFrom, secretKeyProblem } from '@toolmgr/plugins/kit/secrets';
import { encryptedPlace, headerSecret, type RunConfig, readWorkloadSecrets } from '@toolmgr/plugins/kit/workloads';
import type { FileKey } from '@toolmgr/plugins/secrets';
import { chooseProvider } from '../../shared/secrets/provider.ts';
import { openUserSecrets } from '../../shared/secrets/user-secrets.ts';
import { secretVariables } from '../config/collect-secrets.ts';
import { encryptedOfProcess, isEncryptedChosen } from './process-secrets.ts';
import { ownSecretNames, userSecretNames } from './references.ts';

/** The secrets of one start. Values are only in memory. */
export interface StartSecrets {
  /** Secrets of the workload, and those of its headers under {@link headerSecret}. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Values of variables. */
  readonly variables: Readonly<Record<string, string>>;
}

/**
 * Reads everything that a start of a workload needs.
 * @throws GatewayFault SECRET_MISSING or SECRETS_UNAVAILABLE; the message names the secret and says what to do
 */
export async function readStartSecrets(state: string, config: RunConfig): Promise<StartSecrets> {
  encryptedOfProcess();
  const own = await readWorkloadSecrets(state, config.name);
  const ofUser = await readUserSecrets(config, own);
  const ofFields = Object.fromEntries(missingOwn(config, own).map((name) => [name, ofUser[name] ?? '']));
  const headers = Object.values(config.header_forward?.add_headers_from_secret ?? {});
  return {
    secrets: {
      ...own,
      ...ofFields,
      ...Object.fromEntries(headers.map((name) => [headerSecret(name), ofUser[name] ?? ''])),
    },
    variables: secretVariables(config.secrets ?? [], ofUser),
  };
}

/**
 * The secrets of the user that a configuration refers to, by name. A value that was typed for the workload is in `own`.
 * @throws GatewayFault like {@link readStartSecrets}
 */
export async function readUserSecrets(
  config: RunConfig,
  own: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, string>>> {
  const names = [...new Set([...userSecretNames(config), ...missingOwn(config, own)])];
  if (names.length === 0) return {};
  const source = await openUserSecrets({ file: encryptedOfProcess() });
  const ofFields = new Set(ownSecretNames(config));
  const read = async (name: string): Promise<[string, string]> => {
    const typed = Object.hasOwn(own, name) && !ofFields.has(name) ? own[name] : undefined;
    return [name, typed ?? (await source.read(name, AbortSignal.timeout(READ_MS)))];
  };
  const values: [string, string][] = [];
  for (const name of names) values.push(await read(name)); // one after another: the first may ask for the password
  return Object.fromEntries(values);
}

/** Names of secrets in fields whose value was not given with the workload: they are secrets of the user. */
function missingOwn(config: RunConfig, own: Readonly<Record<string, string>>): readonly string[] {
  return ownSecretNames(config).filter((name) => !Object.hasOwn(own, name));
}

/** A secret of the user by its name; `undefined` when there is none, or it cannot be a name. */
export async function findUserSecret(name: string): Promise<string | undefined> {
  if (secretKeyProblem(name) !== undefined) return undefined;
  const source = await openUserSecrets({ file: encryptedOfProcess() });
  return (await readOptionalSecretFrom(source, name))?.reveal();
}

/** The key that the proxy of a workload needs; `undefined` when it needs none. @throws GatewayFault SECRETS_UNAVAILABLE */
export async function keyForStart(state: string, config: RunConfig): Promise<FileKey | undefined> {
  const names = [...userSecretNames(config), ...ownSecretNames(config)];
  const isForUser = names.length > 0 && (await chooseProvider()).provider === 'encrypted';
  // tokens of a login come later
  const isForTokens = config.remote_auth_config !== undefined && (await isEncryptedChosen());
  const isNeeded = isForUser || isForTokens || (await encryptedPlace(state, config.name)) !== undefined;
  return isNeeded ? encryptedOfProcess().key() : undefined;
}

const READ_MS = 120_000; // the user may be asked for the password
