import type { BackendState, Gateway } from '@toolmgr/core';
import { type FixPlace, fixFor, WITHOUT_REPEAT } from './fixes.ts';

/**
 * State of a backend for people and scripts.
 *
 * `ready`: calls are sent to it. `per-caller`: ready, with lists for each caller. `starting`: no first answer yet. `retrying`: it
 * failed, and another attempt may help. `failed`: it failed, and something must be changed first; attempts continue.
 */
export type BackendWord = 'ready' | 'per-caller' | 'starting' | 'retrying' | 'failed';

/** A backend of a running gateway. No URL and no arguments: they may hold secrets. */
export interface BackendReport {
  readonly name: string;
  readonly transport: string;
  readonly state: BackendWord;
  /** Tools that clients see; `null` when that is not known. */
  readonly tools: number | null;
  /** ISO date and time of the last change of the state; of the start for one that is starting. */
  readonly since: string | null;
  readonly revision?: string;
  readonly health?: string;
  /** Why it is not ready. */
  readonly error?: { readonly category: string; readonly message: string; readonly fix: string };
}

/** What {@link reportBackends} reads. */
export type ReportedGateway = Pick<Gateway, 'backends' | 'catalog'>;

/** Describes the backends of a gateway, sorted by name. */
export function reportBackends(gateway: ReportedGateway, place: FixPlace = 'local'): readonly BackendReport[] {
  const tools = countTools(gateway);
  return gateway
    .backends()
    .map((state) => reportOf(state, tools?.get(state.backend.name) ?? (tools ? 0 : null), place));
}

function reportOf(state: BackendState, tools: number | null, place: FixPlace): BackendReport {
  const { backend, cause, era, health, startingSinceMs, sinceMs, needsCaller } = state;
  const isShown = cause !== undefined && state.status !== 'ready' && needsCaller !== true;
  return {
    name: backend.name,
    transport: backend.transport,
    state: wordOf(state),
    tools,
    since: new Date(startingSinceMs ?? sinceMs).toISOString(),
    ...(era === undefined ? {} : { revision: era }),
    ...(health === undefined ? {} : { health: health.status }),
    ...(isShown ? { error: { ...cause, fix: fixFor(cause.category, backend.name, place) } } : {}),
  };
}

function wordOf({ status, cause, health, needsCaller }: BackendState): BackendWord {
  if (needsCaller === true) return 'per-caller';
  if (status === 'ready') return health?.status === 'unhealthy' ? 'retrying' : 'ready';
  if (cause === undefined) return 'starting';
  return status === 'unauthenticated' || WITHOUT_REPEAT.has(cause.category) ? 'failed' : 'retrying';
}

/** `undefined` while there is no catalogue, e.g. because names collide. */
function countTools(gateway: ReportedGateway): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>();
  try {
    for (const { backend } of gateway.catalog().visible('tool')) counts.set(backend, (counts.get(backend) ?? 0) + 1);
    return counts;
  } catch {
    return undefined;
  }
}
