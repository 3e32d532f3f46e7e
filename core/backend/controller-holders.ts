import type { Authorizer } from '../contract/auth-strategy.ts';
import type { BackendCredentials } from './authorizers.ts';
import type { BackendManagerEvents, LeasedController } from './backend-manager.ts';
import { BackendController, type BackendControllerOptions } from './controller.ts';

/** A backend manager that holds a controller: it receives its events and provides the credentials. */
export interface ControllerHolder {
  readonly events: BackendManagerEvents;
  authorizer(backend: string): Authorizer;
}

/** The state that successive gateways share for one controller. The last holder is the active one. */
interface Lease {
  readonly controller: BackendController;
  readonly holders: ControllerHolder[];
  readonly processCount: { readonly processes: number };
  readonly credentials: BackendCredentials;
}

const shares = new WeakMap<LeasedController, Lease>();

/** Makes a controller that another gateway may take over: then its events and authorization use the new one. */
export function createController(
  options: Omit<BackendControllerOptions, 'events' | 'credentials' | 'processCount'>,
  holder: ControllerHolder,
): BackendController {
  const credentials = { authorizer: holder.authorizer(options.backend.name) };
  const processCount = { processes: 0 };
  const holders = [holder];
  let latest = holder.events; // not the first holder, which may be closed
  const present = (): BackendManagerEvents => {
    latest = holders.at(-1)?.events ?? latest;
    return latest;
  };
  const controller: BackendController = new BackendController({
    ...options,
    processCount,
    credentials,
    events: {
      listed: (backend, capabilityClass) => present().listed(backend, capabilityClass),
      changed: (event) => present().changed(event),
    },
  });
  shares.set(controller, { controller, holders, processCount, credentials });
  return controller;
}

/** Adds a holder, which becomes the active one. `undefined` for an unknown controller. */
export function addHolder(kept: LeasedController, holder: ControllerHolder): BackendController | undefined {
  const share = shares.get(kept);
  if (share === undefined) return undefined;
  share.holders.push(holder);
  share.credentials.authorizer = holder.authorizer(kept.backend.name);
  return share.controller;
}

/** Removes a holder; without holders the controller stops. */
export async function removeHolder(controller: BackendController, holder: ControllerHolder): Promise<void> {
  const share = shares.get(controller);
  const at = share?.holders.indexOf(holder) ?? -1;
  if (share === undefined || at === -1) return;
  share.holders.splice(at, 1);
  const last = share.holders.at(-1);
  if (last === undefined) return controller.stop();
  share.credentials.authorizer = last.authorizer(controller.backend.name);
}

/** Whether this holder is the active one. */
export function isHeldBy(controller: BackendController, holder: ControllerHolder): boolean {
  return shares.get(controller)?.holders.at(-1) === holder;
}

/** Number of running programs of a stdio backend. */
export function programsOf(controller: BackendController): number {
  return shares.get(controller)?.processCount.processes ?? 0;
}
