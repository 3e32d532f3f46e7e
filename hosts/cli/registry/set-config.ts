import { resolve } from 'node:path';
import { describeSource, sourceFromText } from '@toolmgr/plugins/registry';
import { ownCommand } from '../../shared/own-command.ts';
import { stderr, stdout } from '../../shared/terminal.ts';
import { UsageError } from '../../shared/usage-error.ts';
import { changeUserConfig, readUserConfig, type UserConfig } from '../../shared/user-config.ts';
import { readText } from '../../workloads/config/option-file.ts';
import { registrySettings } from '../../workloads/registry/registry-settings.ts';
import { userRegistry } from '../../workloads/registry/user-registry.ts';

interface SetFlags {
  readonly allowPrivateIp?: boolean;
}

/** One setting of `toolmgr config`. */
interface Setting {
  readonly means: string;
  readonly keys: readonly (keyof UserConfig)[];
  /** Checks a value. Returns the change and what to print. @throws UsageError when it is not valid */
  read(value: string, flags: SetFlags): Promise<{ readonly change: Partial<UserConfig>; readonly says: string }>;
  show(config: UserConfig): string;
}

/** The settings by name. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  registry: {
    means: 'default, official, the path of a JSON file, the https URL of a .json document or of a registry server',
    keys: ['registry_url', 'registry_api_url', 'local_registry_path', 'allow_private_registry_ip', 'registry_auth'],
    read: readRegistrySetting,
    show: (config) => config.registry_api_url ?? config.registry_url ?? config.local_registry_path ?? 'default',
  },
  'sigstore-trusted-root': {
    means: 'a file with the trust root of image signatures (trusted_root.json), instead of the downloaded one',
    keys: ['sigstore_trusted_root'],
    async read(value) {
      const path = resolve(value);
      try {
        JSON.parse(await readText('sigstore-trusted-root', path, '/'));
      } catch (cause) {
        throw cause instanceof UsageError ? cause : new UsageError(`${path} is not JSON`);
      }
      return { change: { sigstore_trusted_root: path }, says: `image signatures are checked against ${path}` };
    },
    show: (config) => config.sigstore_trusted_root ?? 'downloaded',
  },
};

/** `toolmgr config set`. */
export async function setConfig(name: string, value: string, flags: SetFlags): Promise<void> {
  const { read, keys } = settingOf(name);
  await refuseLocked(keys);
  if (flags.allowPrivateIp && !keys.includes('allow_private_registry_ip')) {
    throw new UsageError('--allow-private-ip is for the setting registry');
  }
  const { change, says } = await read(value, flags);
  await changeUserConfig({ ...Object.fromEntries(keys.map((key) => [key, undefined])), ...change });
  stdout.line(says);
}

/** `toolmgr config get`: one setting, or all. */
export async function getConfig(name: string | undefined): Promise<void> {
  const config = await readUserConfig();
  if (name !== undefined) return stdout.line(settingOf(name).show(config));
  for (const [each, { show }] of Object.entries(SETTINGS)) stdout.line(`${each} = ${show(config)}`);
}

/** `toolmgr config unset`. */
export async function unsetConfig(name: string): Promise<void> {
  const { keys, show } = settingOf(name);
  await refuseLocked(keys);
  await changeUserConfig(Object.fromEntries(keys.map((key) => [key, undefined])));
  stdout.line(`${name} = ${show({})}`);
}

async function refuseLocked(keys: Setting['keys']): Promise<void> {
  const locked = keys.includes('registry_url') ? await registrySettings.lockedBy() : undefined;
  if (locked !== undefined) throw new UsageError(locked);
}

function settingOf(name: string): Setting {
  const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name] : undefined;
  if (setting !== undefined) return setting;
  throw new UsageError(`there is no setting ${name}; the settings are ${Object.keys(SETTINGS).join(', ')}`);
}

/** A registry that cannot be loaded now is not saved. */
async function readRegistrySetting(value: string, { allowPrivateIp = false }: SetFlags) {
  const path = value.startsWith('.') || value.endsWith('.json') ? localPath(value) : value;
  const source = sourceFromText(path, { allowPrivateAddresses: allowPrivateIp });
  if ('reason' in source) throw new UsageError(`registry: ${source.reason}`);
  const change: Partial<UserConfig> = {
    ...(source.type === 'url' ? { registry_url: source.url } : {}),
    ...(source.type === 'api' ? { registry_api_url: source.url } : {}),
    ...(source.type === 'file' ? { local_registry_path: source.path } : {}),
    ...(allowPrivateIp ? { allow_private_registry_ip: true } : {}),
  };
  const read = await (await userRegistry(change)).load({ refresh: true });
  if ('problem' in read) throw new UsageError(read.problem);
  for (const note of read.notes) stderr.line(`${stderr.yellow('warning')} ${note}`);
  const { entries, leftOut } = read.registry;
  if (entries.length === 0) throw new UsageError(`${describeSource(source)} has no server that can be used`);
  const without = leftOut.length === 0 ? '' : ` (${leftOut.length} are left out: ${ownCommand('registry list')})`;
  return { change, says: `${describeSource(source)} with ${entries.length} servers${without} is used` };
}

function localPath(value: string): string {
  return /^[a-z][a-z0-9+.-]*:/i.test(value) ? value : resolve(value);
}
