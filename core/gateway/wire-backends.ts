import type { Authorizers } from '../backend/authorizers.ts';
import type { BackendManager } from '../backend/backend-manager.ts';
import { createBackendManager, type Spawn } from '../backend/create-manager.ts';
import { sameBackend } from '../backend/merge-sources.ts';
import type { Catalogs } from '../catalog/catalog.ts';
import { createCatalogs } from '../catalog/create-catalogs.ts';
import type { ExpectedBackend } from '../contract/backend-source.ts';
import type { Environment } from '../contract/environment.ts';
import type { ListStore } from '../contract/list-store.ts';
import type { BlockWatch } from '../extension/block-watch.ts';
import type { ExtensionPoints } from '../extension/extension-points.ts';
import type { Hooks } from '../extension/hooks.ts';
import type { Log, Plugin } from '../extension/plugin.ts';
import type { Slots } from '../extension/slots.ts';
import type { HttpClientFactory } from '../http1/http-client.ts';
import type { ByteBudget } from '../mcp/byte-budget.ts';
import { createGaps } from '../pipeline/missing-backends.ts';
import { createServerDescriber } from '../pipeline/server-info.ts';
import type { EndpointOptions } from './endpoint-settings.ts';
import type { Plan } from './plan.ts';
import { type HandoverState, mayBeKept } from './reload-handover.ts';

/** What wiring needs: a parsed plan, and hooks and slots that the plugins have filled. */
export interface WiringParts {
  readonly plan: Plan;
  readonly hooks: Hooks;
  readonly slots: Slots;
  /** Slots and hooks that plugins define. */
  readonly points: ExtensionPoints;
  /** Measures the taps of the hooks. */
  readonly watch: BlockWatch;
  readonly log: Log;
  readonly now: () => number;
  readonly bytes: ByteBudget;
  readonly authorizers: Authorizers;
  /** What plugins set about the endpoint. */
  readonly endpointSettings: EndpointOptions;
  /** By address in the plan: plugins that are neither from the catalogue nor given as objects. */
  readonly foreign: ReadonlyMap<string, Plugin>;
  readonly environment: Environment;
  readonly spawn?: Spawn;
  /** Makes the clients of HTTP backends. */
  readonly httpClient: HttpClientFactory;
  /**
   * What the previous gateway passes on; released after the handover, or each gateway would reference all previous
   * ones.
   */
  before?: HandoverState | undefined;
  /** See `GatewayOptions`. */
  readonly listStore?: ListStore | undefined;
  /** See `GatewayOptions`. */
  readonly sessionsMustMove: boolean;
  /** See `GatewayOptions`. */
  readonly originOption?: string | undefined;
}

/** The backends and their catalogues. `expected`: backends that their source has not described yet. */
export function wireBackends(parts: WiringParts, expected: () => readonly ExpectedBackend[]) {
  const { plan, hooks, log, now, authorizers, endpointSettings, spawn, httpClient } = parts;
  const { limits } = plan;
  const serverInfo = { name: plan.name, version: plan.version };
  const adopted = new Set<string>();
  const manager: BackendManager = createBackendManager({
    takeOver(backend) {
      const { before } = parts;
      const controller = before?.manager.lease(backend.name);
      if (before === undefined || controller === undefined || !sameBackend(controller.backend, backend))
        return undefined;
      // the monitor that set it aside is gone, so the backend is checked again
      if (controller.state.health?.status === 'unhealthy' || !mayBeKept(before, parts, backend.name)) return undefined;
      adopted.add(backend.name);
      return controller;
    },
    limits,
    bytes: parts.bytes,
    timeouts: plan.timeouts,
    authorizer: (backend) => authorizers.of(backend),
    clientInfo: serverInfo,
    now,
    log,
    environment: parts.environment,
    launcher: (name) => parts.slots.stdioLaunchers.get(name),
    ...(spawn === undefined ? {} : { spawn }),
    httpClient,
    listStore: parts.listStore,
    events: {
      listed(backend, capabilityClass) {
        serverDescriber.stale();
        gaps.stale();
        catalogs.changed(backend, capabilityClass);
      },
      changed(event) {
        serverDescriber.stale();
        gaps.stale();
        hooks.backendChanged.call(event);
      },
    },
  });
  const catalogs: Catalogs = createCatalogs({
    manager,
    backends: () => manager.states().map(({ backend }) => backend.name),
    shape(draft, inputs) {
      serverDescriber.stale(); // what a plugin finds out about lists may change what it thinks of instructions
      return hooks.shapeCatalog.tapped() ? hooks.shapeCatalog.call(draft, inputs) : draft;
    },
    serverInfo,
    limits,
    ...(plan.maxToolNameLength === undefined ? {} : { maxToolNameLength: plan.maxToolNameLength }),
    now,
    log,
    onRebuilt: (rebuilt) => hooks.catalogRebuilt.call(rebuilt),
  });
  const serverDescriber = createServerDescriber({
    serverInfo,
    manager,
    maxInstructions: limits.instructionsBytes,
    eras: endpointSettings.eras,
    shape: (told) => hooks.shapeInstructions.call(told),
  });
  const gaps = createGaps({ manager, expected, now });
  return { manager, catalogs, serverDescriber, gaps, serverInfo, isAdopted: (name: string) => adopted.has(name) };
}

/** See {@link wireBackends}. */
export type WiredBackends = ReturnType<typeof wireBackends>;
