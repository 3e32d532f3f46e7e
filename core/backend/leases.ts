import type { Authorizer } from '../contract/auth-strategy.ts';
import type { BackendManagerEvents, Kept } from './backend-manager.ts';
import { BackendController, type BackendControllerOptions } from './controller.ts';

/** A room that keeps a backend: it hears of it, and its credentials are used. */
export interface Holder {
  readonly events: BackendManagerEvents;
  authorizer(backend: string): Authorizer;
}

/** What rooms that follow each other share of one keeper. The last holder is the one that counts. */
interface Share {
  readonly controller: BackendController;
  readonly holders: Holder[];
  readonly tally: { readonly processes: number };
  authorizer: Authorizer;
}

const shares = new WeakMap<Kept, Share>();

/** Makes a keeper that another room may come to hold: then events go there, and requests are authorized there. */
export function keep(
  options: Omit<BackendControllerOptions, keyof Holder | 'tally'>,
  holder: Holder,
): BackendController {
  const first = holder.authorizer(options.backend.name);
  const tally = { processes: 0 };
  const holders = [holder];
  let latest = holder.events; // not the first holder: it may be long gone
  const present = (): BackendManagerEvents => {
    latest = holders.at(-1)?.events ?? latest;
    return latest;
  };
  const controller: BackendController = new BackendController({
    ...options,
    tally,
    authorizer: {
      ...first,
      apply: (outbound, authContext) => share.authorizer.apply(outbound, authContext),
      refused: (backend, caller) => share.authorizer.refused?.(backend, caller) ?? false,
    },
    events: {
      listed: (backend, capabilityClass) => present().listed(backend, capabilityClass),
      changed: (event) => present().changed(event),
    },
  });
  const share: Share = { controller, holders, tally, authorizer: first };
  shares.set(controller, share);
  return controller;
}

/** Another room holds the keeper too, and is the one that counts from now on. `undefined` for a stranger. */
export function join(kept: Kept, holder: Holder): BackendController | undefined {
  const share = shares.get(kept);
  if (share === undefined) return undefined;
  share.holders.push(holder);
  share.authorizer = holder.authorizer(kept.backend.name);
  return share.controller;
}

/** A room lets go; without any other the keeper stops. */
export async function letGo(controller: BackendController, holder: Holder): Promise<void> {
  const share = shares.get(controller);
  const at = share?.holders.indexOf(holder) ?? -1;
  if (share === undefined || at === -1) return;
  share.holders.splice(at, 1);
  const last = share.holders.at(-1);
  if (last === undefined) return controller.stop();
  share.authorizer = last.authorizer(controller.backend.name);
}

/** Whether this room is the one that counts. */
export function isHeldBy(controller: BackendController, holder: Holder): boolean {
  return shares.get(controller)?.holders.at(-1) === holder;
}

/** Programs of a stdio backend that run now. */
export function programsOf(controller: BackendController): number {
  return shares.get(controller)?.tally.processes ?? 0;
}
