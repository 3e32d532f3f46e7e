import { type ConfiguredRegistry, type RegistrySettingsStore, settingsOf } from '@toolmgr/plugins/registry';
import { isSeq } from 'yaml';
import { changeUserConfig, editUserConfig, readUserConfig, userConfigPath } from '../../shared/user-config.ts';

/** The registries in `config.yaml`. */
export const registrySettings: RegistrySettingsStore = {
  async lockedBy() {
    const { registry_locked: isLocked } = await readUserConfig();
    return isLocked === true
      ? `the registries cannot be changed: registry_locked is true in ${userConfigPath()}`
      : undefined;
  },
  setDefault: (registry) => changeUserConfig(contractKeys(registry)),
  async add(registry, isFirst) {
    let isAdded = false;
    await editUserConfig((document, { registries = [] }) => {
      if (registries.some(({ name }) => name === registry.name)) return false;
      const list = document.get('registries');
      const item = document.createNode({ name: registry.name, ...settingsOf(registry) });
      if (!isSeq(list)) document.set('registries', document.createNode([item]));
      else if (isFirst) list.items.unshift(item);
      else list.items.push(item);
      isAdded = true;
      return true;
    });
    return isAdded;
  },
  async remove(name) {
    let isRemoved = false;
    await editUserConfig((document, { registries = [] }) => {
      const at = registries.findIndex((each) => each.name === name);
      if (at < 0) return false;
      if (registries.length === 1) document.delete('registries');
      else document.deleteIn(['registries', at]);
      isRemoved = true;
      return true;
    });
    return isRemoved;
  },
};

/** The keys of the contract for a source. Keys that are left out are removed. */
function contractKeys(registry: ConfiguredRegistry | undefined) {
  const {
    url,
    api_url: api,
    local_path: path,
    allow_private_ip: allow,
    auth,
  } = registry === undefined ? {} : settingsOf(registry);
  return {
    registry_url: url,
    registry_api_url: api,
    local_registry_path: path,
    allow_private_registry_ip: allow,
    registry_auth: auth === undefined ? undefined : { type: 'oauth' as const, oauth: auth },
  };
}
