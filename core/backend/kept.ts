import type { Authorizer } from '../contract/auth-strategy.ts';
import { Keeper, type KeeperOptions } from './keeper.ts';
import type { BackendRoomEvents, Kept } from './room.ts';

/** A room that keeps a backend: it hears of it, and its credentials are used. */
export interface Holder {
  readonly events: BackendRoomEvents;
  authorizer(workload: string): Authorizer;
}

/** What rooms that follow each other share of one keeper. The last holder is the one that counts. */
interface Share {
  readonly keeper: Keeper;
  readonly holders: Holder[];
  readonly tally: { readonly processes: number };
  authorizer: Authorizer;
}

const shares = new WeakMap<Kept, Share>();

/** Makes a keeper that another room may come to hold: then events go there, and requests are authorized there. */
export function keep(options: Omit<KeeperOptions, keyof Holder | 'tally'>, holder: Holder): Keeper {
  const first = holder.authorizer(options.backend.name);
  const tally = { processes: 0 };
  const holders = [holder];
  let latest = holder.events; // not the first holder: it may be long gone
  const present = (): BackendRoomEvents => {
    latest = holders.at(-1)?.events ?? latest;
    return latest;
  };
  const keeper: Keeper = new Keeper({
    ...options,
    tally,
    authorizer: {
      ...first,
      apply: (outbound, errand) => share.authorizer.apply(outbound, errand),
      refused: (backend, caller) => share.authorizer.refused?.(backend, caller) ?? false,
    },
    events: {
      listed: (workload, capabilityClass) => present().listed(workload, capabilityClass),
      changed: (event) => present().changed(event),
    },
  });
  const share: Share = { keeper, holders, tally, authorizer: first };
  shares.set(keeper, share);
  return keeper;
}

/** Another room holds the keeper too, and is the one that counts from now on. `undefined` for a stranger. */
export function join(kept: Kept, holder: Holder): Keeper | undefined {
  const share = shares.get(kept);
  if (share === undefined) return undefined;
  share.holders.push(holder);
  share.authorizer = holder.authorizer(kept.backend.name);
  return share.keeper;
}

/** A room lets go; without any other the keeper stops. */
export async function letGo(keeper: Keeper, holder: Holder): Promise<void> {
  const share = shares.get(keeper);
  const at = share?.holders.indexOf(holder) ?? -1;
  if (share === undefined || at === -1) return;
  share.holders.splice(at, 1);
  const last = share.holders.at(-1);
  if (last === undefined) return keeper.stop();
  share.authorizer = last.authorizer(keeper.backend.name);
}

/** Whether this room is the one that counts. */
export function isHeldBy(keeper: Keeper, holder: Holder): boolean {
  return shares.get(keeper)?.holders.at(-1) === holder;
}

/** Programs of a stdio backend that run now. */
export function programsOf(keeper: Keeper): number {
  return shares.get(keeper)?.tally.processes ?? 0;
}
