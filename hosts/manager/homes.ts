import type { Core } from '@toolmgr/core';
import { type OperationHome, operationHomes, skillHomes } from '@toolmgr/plugins/kit/operations';
import { recordReader } from '@toolmgr/plugins/kit/workloads';

type Home = Omit<OperationHome, 'workloads'>;

/** Makes what gives plugins the folders and settings of the user. Nothing is read before an operation runs. */
export async function homesFor(addresses: readonly string[], home: Home): Promise<(core: Core) => void> {
  const wanted = Object.keys(HOMES).filter((address) => addresses.includes(address));
  const fills = await Promise.all(wanted.map((address) => HOMES[address]?.(home)));
  const reader = recordReader(home.state);
  return (core) => {
    core.slot(operationHomes).register('user', { ...home, workloads: () => reader.read() });
    for (const fill of fills) fill?.(core);
  };
}

/** What single plugins get, by their address; loaded with them, because a command loads few. */
const HOMES: Readonly<Record<string, (home: Home) => Promise<(core: Core) => void>>> = {
  async clients({ state, env }) {
    const [{ clientHomes }, { clientPlaces }] = await Promise.all([
      import('@toolmgr/plugins/clients'),
      import('../shared/clients/client-places.ts'),
    ]);
    return (core) => core.slot(clientHomes).register('user', clientPlaces(state, env));
  },
  async registry({ signal }) {
    const [{ registryHomes }, { registryHome }] = await Promise.all([
      import('@toolmgr/plugins/registry'),
      import('../workloads/registry/registry-home.ts'),
    ]);
    return (core) => core.slot(registryHomes).register('user', registryHome(signal));
  },
  async skills() {
    const { skillHome } = await import('../shared/user-skills.ts');
    return (core) => core.slot(skillHomes).register('user', skillHome());
  },
};
