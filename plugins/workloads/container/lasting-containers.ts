import { createHash } from 'node:crypto';
import type { WorkloadSpec } from '@toolmgr/plugins/kit/extension-points';
import type { Container } from 'dockerode';

import type { Spared } from './containers.ts';
import { createOptions } from './create-options.ts';
import type { Engine } from './engine.ts';
import { LASTING, MANAGED } from './labels.ts';
import { lastingSessions } from './lasting-sessions.ts';
import type { Candidate, LastingParts } from './launch-lasting.ts';
import { overlaid } from './overlay-mounts.ts';

/** Variable that marks what one start of a workload creates. What outlives a start does not have it. */
const RUN_ID = 'TOOLMGR_RUN_ID';

/** How the containers of one workload outlive the gateway. */
export interface Lasting {
  /** Hash of what a container is created from; it may be used later by this gateway, and by one for which the hash is the same. */
  hashFor(overlaid: WorkloadSpec): string;
  /** Whether there was one of an earlier gateway at the start. */
  readonly hasSpared: boolean;
  /** Which containers of earlier gateways stay. */
  spared(): Promise<{ readonly spare: Spared }>;
  /** What one connection needs. */
  parts(create: () => Promise<Container>): LastingParts;
}

/**
 * `undefined` when the containers of a workload end with the gateway. On podman they always do: it closes the stdin of a container when
 * a connection to it ends, and no setting prevents that. So does one with an isolated network, which ends with the gateway.
 */
export async function lastingOf(engine: Engine, given: WorkloadSpec, imageId: string): Promise<Lasting | undefined> {
  if (
    engine.kind === 'podman' ||
    given.transport !== 'stdio' ||
    given.sessions !== 'shared' ||
    given.keepFile === undefined ||
    given.container?.isolation !== undefined
  )
    return undefined;
  const spec = withoutRun(given);
  const sessions = lastingSessions(given.keepFile);
  const atStart = hashOf(await overlaid(engine, spec, () => {}), imageId);
  const hashes = new Set([atStart]);
  const inUse = new Set<string>();
  let hasSpared = false;
  const candidates = async (): Promise<readonly Candidate[]> => {
    const known = await sessions.read();
    if (known.size === 0) return [];
    const filters = { label: [`${MANAGED}.name=${spec.name}`, LASTING], status: ['running'] };
    return (await engine.api.listContainers({ filters })).flatMap(({ Id, Labels }) => {
      const session = known.get(Id);
      return session === undefined || inUse.has(Id) || !hashes.has(Labels[LASTING] ?? '')
        ? []
        : [{ container: engine.api.getContainer(Id), session }];
    });
  };
  return {
    hashFor(created) {
      const hash = hashOf(withoutRun(created), imageId);
      hashes.add(hash);
      return hash;
    },
    get hasSpared() {
      return hasSpared;
    },
    async spared() {
      const known = await sessions.read();
      const spare: Spared = (container) => {
        const stays = container.isRunning && container.hash === atStart && known.has(container.id);
        hasSpared ||= stays;
        return stays;
      };
      return { spare };
    },
    parts: (create) => ({ engine, sessions, inUse, candidates, create }),
  };
}

/** A workload without the variable that marks one start: what it marks is ended with the start. */
export function withoutRun(spec: WorkloadSpec): WorkloadSpec {
  const { [RUN_ID]: _, ...env } = spec.env;
  return { ...spec, env };
}

/** The owner is no part of what a container was created from. */
const NO_OWNER = { id: '', place: '' };

function hashOf(spec: WorkloadSpec, imageId: string): string {
  const identity = {
    owner: NO_OWNER,
    workload: spec.name,
    group: spec.group,
    transport: spec.transport,
    runId: '',
    role: 'server',
  } as const;
  const options = JSON.stringify([imageId, createOptions(spec, identity)]);
  return createHash('sha256').update(options).digest('hex').slice(0, 32);
}
