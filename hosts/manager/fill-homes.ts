import type { Core } from '@toolmgr/core';
import { clientHomes } from '@toolmgr/plugins/clients';
import { type OperationHome, operationHomes, slotOf } from '@toolmgr/plugins/management';
import { registryHomes } from '@toolmgr/plugins/registry';
import { skillHomes } from '@toolmgr/plugins/skills';
import { recordReader } from '@toolmgr/plugins/workloads/state';
import { clientPlaces } from '../shared/clients/client-places.ts';
import { skillHome } from '../shared/user-skills.ts';
import { registryTokens } from '../workloads/registry/registry-logins.ts';
import { registrySettings } from '../workloads/registry/registry-settings.ts';
import { createRegistrySignIn } from '../workloads/registry/registry-sign-in.ts';
import { userRegistries } from '../workloads/registry/user-registry.ts';

/** Gives plugins the folders and settings of the user. Nothing is read before an operation runs. */
export function fillHomes(core: Core, { state, env, signal }: Omit<OperationHome, 'workloads'>): void {
  const reader = recordReader(state);
  const user = 'user';
  slotOf(core, operationHomes).register(user, { state, env, signal, workloads: () => reader.read() });
  slotOf(core, clientHomes).register(user, clientPlaces(state, env));
  slotOf(core, registryHomes).register(user, {
    registries: userRegistries(),
    tokens: registryTokens,
    settings: registrySettings,
    signIn: createRegistrySignIn(signal),
  });
  slotOf(core, skillHomes).register(user, skillHome());
}
