import { createBackendRoom, type Spawn } from '../backend/create-room.ts';
import { sameBackend } from '../backend/directory.ts';
import type { BackendRoom } from '../backend/room.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import { createCatalogs } from '../catalog/create-catalogs.ts';
import type { ExpectedBackend } from '../contract/backend-source.ts';
import type { Hooks } from '../extension/hooks.ts';
import type { Log } from '../extension/plugin.ts';
import type { Slots } from '../extension/slots.ts';
import type { Authorizers } from './authorizers.ts';
import type { DoorWishes } from './door.ts';
import { createFace } from './face.ts';
import { createGaps } from './gaps.ts';
import type { Plan } from './plan.ts';
import { type Estate, mayBeKept } from './succession.ts';

/** What joining needs: a plan that was read, and hooks and slots that the plugins filled. */
export interface JoinParts {
  readonly plan: Plan;
  readonly hooks: Hooks;
  readonly slots: Slots;
  readonly log: Log;
  readonly now: () => number;
  readonly authorizers: Authorizers;
  /** What plugins said about the endpoint. */
  readonly wishes: DoorWishes;
  /** Addresses in the plan of plugins that are neither of the catalogue nor given as objects. */
  readonly foreign: ReadonlySet<string>;
  readonly spawn?: Spawn;
  /** What the gateway before leaves; let go of when it is taken over, or each would hold on to all before it. */
  before?: Estate | undefined;
}

/** The far side and what is known of it. `expected`: backends that their source has not described yet. */
export function joinFarSide(
  parts: JoinParts,
  serverInfo: { name: string; version: string },
  expected: () => readonly ExpectedBackend[],
) {
  const { plan, hooks, log, now, authorizers, wishes, spawn } = parts;
  const { limits } = plan;
  const adopted = new Set<string>();
  const room: BackendRoom = createBackendRoom({
    lent(backend) {
      const { before } = parts;
      const keeper = before?.room.lend(backend.name);
      if (before === undefined || keeper === undefined || !sameBackend(keeper.backend, backend)) return undefined;
      // a monitor that has set it aside is not there any more: the backend is looked at anew
      if (keeper.state.health?.status === 'unhealthy' || !mayBeKept(before, parts, backend.name)) return undefined;
      adopted.add(backend.name);
      return keeper;
    },
    limits,
    timeouts: plan.timeouts,
    authorizer: (workload) => authorizers.of(workload),
    clientInfo: serverInfo,
    now,
    log,
    ...(spawn === undefined ? {} : { spawn }),
    events: {
      listed(workload, capabilityClass) {
        faces.stale();
        gaps.stale();
        catalogs.changed(workload, capabilityClass);
      },
      changed(event) {
        faces.stale();
        gaps.stale();
        hooks.backendChanged.call(event);
      },
    },
  });
  const catalogs: Catalogs = createCatalogs({
    room,
    workloads: () => room.states().map(({ backend }) => backend.name),
    shape: (draft, inputs) => (hooks.shapeCatalog.tapped() ? hooks.shapeCatalog.call(draft, inputs) : draft),
    serverInfo,
    limits,
    ...(plan.maxToolNameLength === undefined ? {} : { maxToolNameLength: plan.maxToolNameLength }),
    now,
    log,
    onRebuilt: (rebuilt) => hooks.catalogRebuilt.call(rebuilt),
  });
  const faces = createFace(serverInfo, room, limits.instructionsBytes, wishes.eras);
  const gaps = createGaps({ room, expected, now });
  return { room, catalogs, faces, gaps, isAdopted: (name: string) => adopted.has(name) };
}
