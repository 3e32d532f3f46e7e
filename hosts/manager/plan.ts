import type { Log } from '@toolmgr/core';
import { clientOperations } from '@toolmgr/plugins/clients';
import type { Jobs, Operation, PublishEvent } from '@toolmgr/plugins/management';
import { type Registries, registryOperations } from '@toolmgr/plugins/registry';
import { skillStoreFolder, skillsOperations } from '@toolmgr/plugins/skills';
import { recordReader } from '@toolmgr/plugins/workloads/state';
import type { CallReader } from '../http/recent-calls/feed.ts';
import { clientPlaces } from '../shared/clients/client-places.ts';
import { pushSettings, userSkills } from '../shared/user-skills.ts';
import { registryTokens } from '../workloads/registry/registry-logins.ts';
import { registrySettings } from '../workloads/registry/registry-settings.ts';
import { createRegistrySignIn } from '../workloads/registry/registry-sign-in.ts';
import { userRegistries } from '../workloads/registry/user-registry.ts';
import type { Endpoints } from './endpoints/endpoints.ts';
import { endpointOperations } from './endpoints/operations.ts';
import { groupOperations } from './groups/operations.ts';
import { secretOperations } from './secrets/operations.ts';
import { upgradeOperations } from './upgrades/operations.ts';
import { upgradeDeps } from './upgrades/upgrade-deps.ts';
import { versionOperation } from './version-operation.ts';
import { workloadOperations } from './workloads/operations.ts';

/** What the features of the manager get from its host. */
export interface ManagerParts {
  /** The state folder, which the commands also use. */
  readonly state: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly jobs: Jobs;
  /** For changes that no operation makes, e.g. by the supervisor. */
  readonly publish: PublishEvent;
  readonly log: Log;
  /** The MCP endpoints of groups and workloads. */
  readonly endpoints: Endpoints;
  readonly calls: CallReader;
  /** Ends when the manager stops. */
  readonly signal: AbortSignal;
}

/**
 * The operations of all features. Each feature adds one line. Making them reads, writes and starts nothing: the reference page
 * is made from them. Work that a feature begins at the start of the manager is begun in `background.ts`.
 */
export function managerOperations(parts: ManagerParts): readonly Operation[] {
  const registries = userRegistries();
  return [
    versionOperation(parts.version),
    ...workloads(parts),
    ...clientOperations(clientPlaces(parts.state, parts.env)),
    ...secretOperations(parts.env),
    ...registryFeature(parts, registries),
    ...upgradeOperations(upgradeDeps(parts.state)),
    ...skills(parts, registries),
    // what clients see, and the calls
    ...endpointOperations(parts.endpoints, parts.calls),
  ];
}

function workloads({ state }: ManagerParts): readonly Operation[] {
  const reader = recordReader(state);
  const deps = { state, records: () => reader.read() };
  return [...workloadOperations(deps), ...groupOperations(deps)];
}

function registryFeature({ signal }: ManagerParts, registries: Registries): readonly Operation[] {
  return registryOperations({
    registries,
    tokens: registryTokens,
    settings: registrySettings,
    signIn: createRegistrySignIn(signal),
  });
}

function skills({ state, env }: ManagerParts, registries: Registries): readonly Operation[] {
  const installed = userSkills(state, env, registries);
  return skillsOperations({ skills: installed, store: skillStoreFolder(env), env, pushSettings, servesProjects: true });
}
