import { isDeepStrictEqual } from 'node:util';
import type { BackendManager } from '../backend/backend-manager.ts';
import type { Catalog, Catalogs } from '../catalog/catalog.ts';
import { kindsThatDiffer } from '../catalog/create-catalogs.ts';
import type { CallRecord } from '../contract/call.ts';
import type { Plugin } from '../extension/plugin.ts';
import type { ByteBudget } from '../mcp/byte-budget.ts';
import type { StateSeal } from '../pipeline/bridge/request-state.ts';
import type { SuspendedCalls } from '../pipeline/bridge/suspended-calls.ts';
import type { ListsChanged } from '../pipeline/gateway-service.ts';
import { createPausedCalls, type PausedCalls } from '../pipeline/paused-calls.ts';
import type { Endpoint, HandoverParts } from '../server/endpoint.ts';
import type { InFlight } from '../timing/in-flight.ts';
import type { EndpointOptions } from './endpoint-settings.ts';
import type { Gateway } from './gateway.ts';
import type { Plan } from './plan.ts';

/** What a gateway passes to the one that replaces it. */
export interface HandoverState {
  readonly plan: Plan;
  /** See `WiringParts`. */
  readonly foreign: ReadonlyMap<string, Plugin>;
  /** Addresses of the plugins that authenticate callers. */
  readonly authenticators: readonly string[];
  /** Lists may depend on the caller, because credentials for a backend do. */
  readonly perCaller: boolean;
  /** Revisions and paths of the endpoint. */
  readonly endpointSettings: EndpointOptions;
  readonly endpoint: Endpoint;
  readonly bytes: ByteBudget;
  readonly manager: BackendManager;
  readonly catalogs: Catalogs;
  readonly suspendedCalls: SuspendedCalls;
  readonly seal: StateSeal;
  readonly rounds: SharedRounds;
  /** The gateway has passed its endpoint on; `requests` are those that it still answers. */
  leave(requests: InFlight): void;
}

/** Calls between two rounds; abandoned ones are recorded by the gateway that has the endpoint. */
export interface SharedRounds {
  readonly rounds: PausedCalls;
  settle(record: CallRecord): void;
}

/** Keeps paused calls; abandoned ones are recorded once `settle` is set. */
export function sharedRounds(ttlMs: number, now: () => number, { stored }: ByteBudget): SharedRounds {
  const shared: SharedRounds = {
    rounds: createPausedCalls(MAX_PAUSED_CALLS, ttlMs, now, (record) => shared.settle(record), stored),
    settle: () => {},
  };
  return shared;
}

const MAX_PAUSED_CALLS = 10_000; // of all callers; the oldest is recorded as abandoned when more come

const handoverStates = new WeakMap<Gateway, HandoverState>();

/** Stores what a gateway would pass on. */
export function noteHandoverState(gateway: Gateway, handoverState: HandoverState): void {
  handoverStates.set(gateway, handoverState);
}

/** What a gateway passes on; `undefined` for one that was not made here. */
export function handoverStateOf(gateway: Gateway): HandoverState | undefined {
  return handoverStates.get(gateway);
}

/**
 * Why client sessions cannot be moved from one plan to another; `undefined` when they can. The settings under which
 * they were opened must be equal: server name, endpoint, authentication, and limits.
 */
export function whyNotMoved(
  before: Pick<HandoverState, 'plan' | 'authenticators' | 'perCaller' | 'endpointSettings'>,
  after: Pick<HandoverState, 'plan' | 'authenticators' | 'perCaller' | 'endpointSettings'>,
): string | undefined {
  const differing = MOVED_UNDER.filter((key) => !isDeepStrictEqual(before.plan[key], after.plan[key]));
  const sameAuthenticators = isDeepStrictEqual([...before.authenticators].sort(), [...after.authenticators].sort());
  const all = [
    ...differing,
    ...(sameAuthenticators ? [] : ['the plugins that authenticate callers']),
    ...(isDeepStrictEqual(before.endpointSettings, after.endpointSettings)
      ? []
      : ['the revisions or paths of the endpoint']),
    ...(before.perCaller === after.perCaller ? [] : ['whether credentials depend on callers']),
  ];
  return all.length === 0 ? undefined : `${all.join(', ')} changed`;
}

/** The gateway that takes the client sessions over. */
export interface NextGateway
  extends Pick<HandoverState, 'plan' | 'foreign' | 'authenticators' | 'manager' | 'catalogs' | 'endpoint'> {
  /** What the endpoint uses from now on. */
  readonly replacement: Omit<HandoverParts, 'kept' | 'endStreams'>;
  /** Whether the backend of this name was taken over with its sessions. */
  isAdopted(backend: string): boolean;
  settlesRounds(): void;
}

/** Moves the endpoint of the previous gateway, with its client sessions and streams, to the next one. */
export function handOverSessions(before: HandoverState, next: NextGateway): void {
  const { manager, catalogs, endpoint, replacement } = next;
  const names = manager.states().map(({ backend }) => backend.name);
  const kept = new Set(names.filter((name) => next.isAdopted(name)));
  const endStreams = !authenticatesSame(before, next);
  const changes = listsThatDiffer(before.catalogs, catalogs);
  before.leave(endpoint.exchange({ ...replacement, kept, endStreams }));
  next.settlesRounds();
  for (const change of changes) endpoint.notify(change);
}

/** Which lists differ for each class in use by clients of the previous gateway. */
function listsThatDiffer(before: Catalogs, after: Catalogs): ListsChanged[] {
  return before.classes().flatMap((capabilityClass) => {
    const kinds = kindsThatDiffer(catalogIn(before, capabilityClass), catalogIn(after, capabilityClass));
    return kinds.length === 0 ? [] : [{ capabilityClass, kinds }];
  });
}

/** A catalogue that could not be built counts as empty. */
function catalogIn(catalogs: Catalogs, capabilityClass: string): Catalog | undefined {
  try {
    return catalogs.of(capabilityClass);
  } catch {
    return undefined;
  }
}

const MOVED_UNDER = ['name', 'version', 'endpoint', 'limits', 'sessionStorage', 'stateKey'] as const;

/**
 * Whether callers are authenticated in the same way, including the configuration and the code of the plugins. A foreign plugin is in the plan
 * by another address than that of its taps, so one tap without a plugin of the catalogue compares all foreign plugins.
 */
function authenticatesSame(
  before: PlannedPlugins,
  after: PlannedPlugins & Pick<HandoverState, 'authenticators'>,
): boolean {
  const uses = new Set(after.plan.plugins.flatMap(({ use }) => (after.foreign.has(use) ? [] : [use])));
  const { authenticators } = after;
  const isSame = (use: string): boolean => isDeepStrictEqual(configsOf(before.plan, use), configsOf(after.plan, use));
  if (authenticators.every((name) => uses.has(name))) return authenticators.every(isSame);
  return (
    [...authenticators, ...before.foreign.keys(), ...after.foreign.keys()].every(isSame) && sameCode(before, after)
  );
}

/** Whether foreign plugins are the same objects: a reload may have loaded their files anew. */
function sameCode(before: PlannedPlugins, after: PlannedPlugins): boolean {
  return [...before.foreign].every(([use, plugin]) => (after.foreign.get(use) ?? plugin) === plugin);
}

type PlannedPlugins = Pick<HandoverState, 'plan' | 'foreign'>;

/** Whether a backend of this name can be taken over: same address and same credentials. */
export function mayBeKept(before: PlannedPlugins, after: PlannedPlugins, backend: string): boolean {
  const credentials = ({ plan: { outgoingAuth } }: Pick<HandoverState, 'plan'>) =>
    outgoingAuth.backends[backend] ?? outgoingAuth.default;
  const touches = (use: string) => TOUCHES_BACKENDS.test(use) || before.foreign.has(use) || after.foreign.has(use);
  const farSide = ({ plan: { name, version, limits, httpClient, plugins } }: Pick<HandoverState, 'plan'>) => [
    [name, version, limits, httpClient],
    plugins.filter(({ use }) => touches(use)),
  ];
  return (
    isDeepStrictEqual(credentials(before), credentials(after)) &&
    isDeepStrictEqual(farSide(before), farSide(after)) &&
    sameCode(before, after)
  );
}

/** Plugins that may affect sessions with backends: strategies and monitors. Foreign plugins may affect everything. */
const TOUCHES_BACKENDS = /^(?:outgoing-auth\/|health$)/;

const configsOf = ({ plugins }: Plan, address: string) => plugins.filter(({ use }) => use === address);
