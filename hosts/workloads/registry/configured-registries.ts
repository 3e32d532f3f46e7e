import {
  BUILT_IN,
  type ConfiguredRegistry,
  DEFAULT_REGISTRY,
  type RegistryAuth,
  readSourceSettings,
  registryNameFault,
} from '@toolmgr/plugins/registry';
import { UsageError } from '../../shared/usage-error.ts';
import { type FurtherRegistry, type UserConfig, userConfigPath } from '../../shared/user-config.ts';

/**
 * The registries that the settings name, in the order of their priority: the one of the contract's keys, the further ones, and
 * the built-in one unless it is switched off.
 * @throws UsageError naming the setting that is wrong
 */
export function configuredRegistries(config: UserConfig): readonly ConfiguredRegistry[] {
  const { registries = [], built_in_registry: builtIn } = config;
  const first = contractRegistry(config);
  const further = registries.map(furtherRegistry);
  const all = [...(first === undefined ? [] : [first]), ...further];
  const twice = further.find(({ name }, at) => further.findIndex((each) => each.name === name) !== at);
  if (twice !== undefined) throw wrong(`registries: there are two registries ${twice.name}`);
  const isPlaced = further.some(({ name }) => name === BUILT_IN);
  if (isPlaced && builtIn === false) throw wrong('built_in_registry is false, and registries has the built-in one');
  if (isPlaced || !(builtIn ?? first === undefined)) {
    return all.length > 0 ? all : [];
  }
  return [...all, BUILT_IN_REGISTRY];
}

const BUILT_IN_REGISTRY: ConfiguredRegistry = {
  name: BUILT_IN,
  source: { type: 'default' },
  allowPrivateAddresses: false,
};

function contractRegistry(config: UserConfig): ConfiguredRegistry | undefined {
  const { registry_api_url: api, registry_url: url, local_registry_path: path, registry_auth: auth } = config;
  const source =
    api !== undefined
      ? ({ type: 'api', url: api } as const)
      : url !== undefined
        ? ({ type: 'url', url } as const)
        : path === undefined
          ? undefined
          : ({ type: 'file', path } as const);
  if (source === undefined) return undefined;
  return {
    name: DEFAULT_REGISTRY,
    source,
    allowPrivateAddresses: config.allow_private_registry_ip === true,
    ...(auth === undefined ? {} : { auth: authOf(auth.oauth) }),
  };
}

function furtherRegistry({ name, built_in: isBuiltIn, ...settings }: FurtherRegistry): ConfiguredRegistry {
  if (isBuiltIn === true) {
    if (name !== BUILT_IN || Object.keys(settings).length > 0) {
      throw wrong(`registries: built_in is for the name ${BUILT_IN} and has no other settings`);
    }
    return BUILT_IN_REGISTRY;
  }
  const nameFault = registryNameFault(name);
  if (nameFault !== undefined) throw wrong(`registries: name: ${nameFault}`);
  const read = readSourceSettings(name, settings);
  if ('fault' in read) throw wrong(`registries: ${name}: ${read.field}: ${read.fault}`);
  if (read.source.type === 'default') throw wrong(`registries: ${name}: expected url, api_url or local_path`);
  return read;
}

function authOf(auth: NonNullable<UserConfig['registry_auth']>['oauth']): RegistryAuth {
  const { issuer, client_id: clientId, audience, scopes, callback_port: callbackPort } = auth;
  return {
    issuer,
    clientId,
    ...(audience === undefined ? {} : { audience }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(callbackPort === undefined ? {} : { callbackPort }),
  };
}

function wrong(why: string): UsageError {
  return new UsageError(`${userConfigPath()}: ${why}`);
}
