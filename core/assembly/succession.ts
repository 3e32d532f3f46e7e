import { isDeepStrictEqual } from 'node:util';
import type { BackendRoom } from '../backend/room.ts';
import type { Catalog, Catalogs } from '../catalog/catalog.ts';
import { kindsThatDiffer } from '../catalog/create-catalogs.ts';
import type { CallRecord } from '../contract/call.ts';
import { createRounds, type Rounds } from '../flow/rounds.ts';
import type { ParkingLot } from '../protocol/bridge/parking.ts';
import type { StateSeal } from '../protocol/bridge/request-state.ts';
import type { Endpoint } from '../protocol/endpoint.ts';
import type { InFlight } from '../protocol/http/in-flight.ts';
import type { ListsChanged } from '../protocol/intent.ts';
import type { DoorWishes } from './door.ts';
import type { Gateway } from './gateway.ts';
import type { Plan } from './plan.ts';

/** What a gateway leaves to the one that takes its place. */
export interface Estate {
  readonly plan: Plan;
  /** See `JoinParts`. */
  readonly foreign: ReadonlySet<string>;
  /** Addresses of the plugins that say who callers are. */
  readonly doormen: readonly string[];
  /** Lists may depend on who asks: credentials towards a backend do. */
  readonly perCaller: boolean;
  /** Revisions and paths of the endpoint. */
  readonly wishes: DoorWishes;
  readonly endpoint: Endpoint;
  readonly room: BackendRoom;
  readonly catalogs: Catalogs;
  readonly lot: ParkingLot;
  readonly seal: StateSeal;
  readonly rounds: SharedRounds;
  /** The gateway has handed its door over; `requests` are those that it still answers. */
  leave(requests: InFlight): void;
}

/** Calls between two rounds, and who records one that is abandoned: whoever has the door. */
export interface SharedRounds {
  readonly rounds: Rounds;
  settle(record: CallRecord): void;
}

/** Keeps paused calls; nobody records them until `settle` is set. */
export function sharedRounds(ttlMs: number, now: () => number): SharedRounds {
  const shared: SharedRounds = {
    rounds: createRounds(MAX_PAUSED_CALLS, ttlMs, now, (record) => shared.settle(record)),
    settle: () => {},
  };
  return shared;
}

const MAX_PAUSED_CALLS = 10_000; // of all callers; the oldest is recorded as abandoned when more come

const estates = new WeakMap<Gateway, Estate>();

/** Notes what a gateway would leave. */
export function noteEstate(gateway: Gateway, estate: Estate): void {
  estates.set(gateway, estate);
}

/** What a gateway leaves; `undefined` for one that was not made here. */
export function estateOf(gateway: Gateway): Estate | undefined {
  return estates.get(gateway);
}

/**
 * Why client sessions cannot move from one plan to another; `undefined` when they can. What they were opened under must
 * be the same: the name of the server, where and by whom it is asked, and the bounds they live in.
 */
export function whyNotMoved(
  before: Pick<Estate, 'plan' | 'doormen' | 'perCaller' | 'wishes'>,
  after: Pick<Estate, 'plan' | 'doormen' | 'perCaller' | 'wishes'>,
): string | undefined {
  const differing = MOVED_UNDER.filter((key) => !isDeepStrictEqual(before.plan[key], after.plan[key]));
  const isSameDoor = isDeepStrictEqual([...before.doormen].sort(), [...after.doormen].sort());
  const all = [
    ...differing,
    ...(isSameDoor ? [] : ['the plugins that authenticate callers']),
    ...(isDeepStrictEqual(before.wishes, after.wishes) ? [] : ['the revisions or paths of the endpoint']),
    ...(before.perCaller === after.perCaller ? [] : ['whether credentials depend on callers']),
  ];
  return all.length === 0 ? undefined : `${all.join(', ')} changed`;
}

/** Which lists differ for each class that clients of the gateway before have asked for. */
export function listsThatDiffer(before: Catalogs, after: Catalogs): ListsChanged[] {
  return before.classes().flatMap((capabilityClass) => {
    const kinds = kindsThatDiffer(catalogIn(before, capabilityClass), catalogIn(after, capabilityClass));
    return kinds.length === 0 ? [] : [{ capabilityClass, kinds }];
  });
}

/** A catalogue that could not be built has nothing in it. */
function catalogIn(catalogs: Catalogs, capabilityClass: string): Catalog | undefined {
  try {
    return catalogs.of(capabilityClass);
  } catch {
    return undefined;
  }
}

const MOVED_UNDER = ['name', 'version', 'endpoint', 'limits', 'sessionStorage', 'stateKey'] as const;

/** Whether callers are known in the same way, down to the configuration of the plugins that know them. */
export function isSameDoor(before: Plan, after: Plan, doormen: readonly string[]): boolean {
  return doormen.every((use) => isDeepStrictEqual(configsOf(before, use), configsOf(after, use)));
}

/** Whether a backend of this name may go on as it is: reached as before, with the same credentials. */
export function mayBeKept(
  before: Pick<Estate, 'plan' | 'foreign'>,
  after: Pick<Estate, 'plan' | 'foreign'>,
  workload: string,
): boolean {
  const credentials = ({ plan: { outgoingAuth } }: Pick<Estate, 'plan'>) =>
    outgoingAuth.backends[workload] ?? outgoingAuth.default;
  const touches = (use: string) => TOUCHES_BACKENDS.test(use) || before.foreign.has(use) || after.foreign.has(use);
  const farSide = ({ plan: { name, version, limits, plugins } }: Pick<Estate, 'plan'>) => [
    [name, version, limits],
    plugins.filter(({ use }) => touches(use)),
  ];
  return (
    isDeepStrictEqual(credentials(before), credentials(after)) && isDeepStrictEqual(farSide(before), farSide(after))
  );
}

/** Plugins that may have to do with links to backends: strategies and monitors. What is foreign may do anything. */
const TOUCHES_BACKENDS = /^(?:outgoing-auth\/|health$)/;

const configsOf = ({ plugins }: Plan, address: string) => plugins.filter(({ use }) => use === address);
