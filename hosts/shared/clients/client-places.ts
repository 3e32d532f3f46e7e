import { homedir } from 'node:os';
import { type GlobalClients, type RegistrationPlaces, userPlace } from '@toolmgr/plugins/clients';
import { changeUserConfig, readUserConfig, userConfigPath } from '../user-config.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where the clients of this user are, for commands and for the manager. */
export function clientPlaces(state: string, env: Environment = process.env): RegistrationPlaces {
  return {
    state,
    user: userPlace(env, process.platform, homedir()),
    nowMs: Date.now,
    global: globalClients(env),
  };
}

/** `clients.registered_clients` of `config.yaml`. */
function globalClients(env: Environment): GlobalClients {
  const path = userConfigPath(env);
  const read = async (): Promise<readonly string[]> => (await readUserConfig(path)).clients?.registered_clients ?? [];
  return {
    read,
    async remove(type) {
      const now = await read();
      if (!now.includes(type)) return;
      const left = now.filter((name) => name !== type);
      await changeUserConfig({ clients: left.length === 0 ? undefined : { registered_clients: left } }, path);
    },
  };
}
