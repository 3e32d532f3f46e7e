import type { Authorizer } from '../contract/auth-strategy.ts';
import type { BackendManagerEvents, Kept } from './backend-manager.ts';
import { BackendController, type BackendControllerOptions } from './controller.ts';

/** A backend manager that holds a controller: it receives its events and provides the credentials. */
export interface Holder {
  readonly events: BackendManagerEvents;
  authorizer(backend: string): Authorizer;
}

/** The state that successive gateways share for one controller. The last holder is the active one. */
interface Share {
  readonly controller: BackendController;
  readonly holders: Holder[];
  readonly tally: { readonly processes: number };
  authorizer: Authorizer;
}

const shares = new WeakMap<Kept, Share>();

/** Makes a controller that another gateway may take over: then its events and authorization use the new one. */
export function keep(
  options: Omit<BackendControllerOptions, keyof Holder | 'tally'>,
  holder: Holder,
): BackendController {
  const first = holder.authorizer(options.backend.name);
  const tally = { processes: 0 };
  const holders = [holder];
  let latest = holder.events; // not the first holder, which may be closed
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

/** Adds a holder, which becomes the active one. `undefined` for an unknown controller. */
export function join(kept: Kept, holder: Holder): BackendController | undefined {
  const share = shares.get(kept);
  if (share === undefined) return undefined;
  share.holders.push(holder);
  share.authorizer = holder.authorizer(kept.backend.name);
  return share.controller;
}

/** Removes a holder; without holders the controller stops. */
export async function letGo(controller: BackendController, holder: Holder): Promise<void> {
  const share = shares.get(controller);
  const at = share?.holders.indexOf(holder) ?? -1;
  if (share === undefined || at === -1) return;
  share.holders.splice(at, 1);
  const last = share.holders.at(-1);
  if (last === undefined) return controller.stop();
  share.authorizer = last.authorizer(controller.backend.name);
}

/** Whether this holder is the active one. */
export function isHeldBy(controller: BackendController, holder: Holder): boolean {
  return shares.get(controller)?.holders.at(-1) === holder;
}

/** Number of running programs of a stdio backend. */
export function programsOf(controller: BackendController): number {
  return shares.get(controller)?.tally.processes ?? 0;
}
