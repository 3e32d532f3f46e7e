import type { BackendHealth, BackendState, Gateway } from '@toolmgr/core';
import type { HostAnswer, HostRoute } from './mount.ts';
import type { PageAccess } from './page-access.ts';

/** What the status pages show in addition to the state of the gateway. */
export interface StatusFacts {
  readonly version: string;
  readonly groupRef: string;
  /** Metadata of the server from its configuration file. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /** `static`: the configuration lists the backends; `dynamic`: they are discovered while the gateway runs. */
  readonly mode: 'static' | 'dynamic';
  /** A plugin checks the health of backends. */
  readonly isMonitored?: boolean;
  /**
   * Ready for good once it was ready, whatever happens to backends: a Service without ready pods refuses all connections,
   * also those for the other backends.
   */
  readonly staysReady?: boolean;
  /** The process is stopping and refuses new requests. */
  readonly isStopping?: boolean;
  /** Who may read the pages that name backends, evaluated for each request; everyone when absent or `undefined`. */
  readonly access?: () => PageAccess | undefined;
  /** The pages that name backends are protected, here or at another listener; then `/readyz`, which is open, names none. */
  readonly isGuarded?: boolean;
  /** Names and URIs that are left out because several backends have them. None are shown when absent. */
  conflicts?(): ReturnType<Gateway['catalog']>['conflicts'];
  /** Name of the outgoing authentication strategy of a backend. */
  authTypeOf(backend: string): string;
}

/**
 * `/health`, `/ping`, `/readyz`, `/status` and `/api/backends/health`. Backend URLs and error texts are not shown.
 *
 * Every page shows the health monitor's result for a backend, or the state of its connection if no monitor runs.
 */
export function statusRoutes(gateway: StatusGateway, facts: StatusFacts): HostRoute[] {
  let isSettled = false;
  let wasReady = false;
  const ready = (): HostAnswer => {
    if (facts.staysReady && wasReady) return isReady(facts);
    const answer = readiness(facts, facts.mode === 'static' || isSettled, gateway);
    wasReady ||= answer.status === 200;
    return answer;
  };
  void gateway.settled().then(() => {
    isSettled = true;
  });
  const access = () => facts.access?.();
  const alive: HostRoute['answer'] = () => ({ status: 200, body: { status: 'ok' } });
  return [
    { path: '/health', answer: alive },
    { path: '/ping', answer: alive },
    {
      path: '/readyz',
      answer: () =>
        facts.isStopping
          ? { status: 503, body: { status: 'not_ready', mode: facts.mode, reason: 'stopping' } }
          : ready(),
    },
    { path: '/status', access, answer: () => ({ status: 200, body: statusBody(gateway.backends(), facts) }) },
    {
      path: '/api/backends/health',
      access,
      answer: () => ({ status: 200, body: healthBody(gateway.backends(), facts) }),
    },
  ];
}

/** What the routes read. `sources` may be absent where no source reports a state. */
export type StatusGateway = Pick<Gateway, 'backends' | 'catalog' | 'settled' | 'unready'> &
  Partial<Pick<Gateway, 'sources'>>;

function isReady({ mode }: StatusFacts): HostAnswer {
  return { status: 200, body: { status: 'ready', mode } };
}

function readiness(facts: StatusFacts, isSynced: boolean, gateway: StatusGateway): HostAnswer {
  const { mode, isGuarded, staysReady } = facts;
  const notReady = (reason: string, more: object = {}): HostAnswer => ({
    status: 503,
    body: { status: 'not_ready', mode, reason, ...more },
  });
  const waiting = gateway.sources?.().find((source) => source.notReady !== undefined);
  if (waiting?.notReady !== undefined) return notReady(waiting.notReady);
  if (!isSynced) return notReady('cache_sync_pending');
  if (!hasCatalogue(gateway)) return notReady('catalogue_unavailable');
  const backends = staysReady ? [] : gateway.unready();
  if (backends.length === 0) return isReady(facts);
  return notReady('backends_unavailable', isGuarded ? {} : { backends });
}

/** Whether lists can be served. The reason, e.g. name conflicts, is only logged: this page is public. */
function hasCatalogue(gateway: StatusGateway): boolean {
  try {
    gateway.catalog();
    return true;
  } catch {
    return false;
  }
}

function statusBody(states: readonly BackendState[], facts: StatusFacts): object {
  const conflicts = facts.conflicts?.() ?? [];
  return {
    healthy: states.some((state) => healthOf(state) === 'healthy'),
    version: facts.version,
    group_ref: facts.groupRef,
    ...(facts.metadata === undefined ? {} : { metadata: facts.metadata }),
    backends: states.map((state) => ({
      name: state.backend.name,
      health: healthOf(state),
      transport: state.backend.transport,
      auth_type: facts.authTypeOf(state.backend.name),
      ...(state.era === undefined ? {} : { mcp_revision: state.era }),
    })),
    ...(conflicts.length === 0
      ? {}
      : { conflicts: conflicts.slice(0, MAX_CONFLICTS), conflicts_total: conflicts.length }),
  };
}

const MAX_CONFLICTS = 100; // in one response; the log has all of them

/** A backend has the keys of the contract's `discoveredBackends[]` where that has one. */
function healthBody(states: readonly BackendState[], { isMonitored = false }: StatusFacts): object {
  const summary = { total: states.length, healthy: 0, degraded: 0, unhealthy: 0, unknown: 0, unauthenticated: 0 };
  for (const state of states) summary[healthOf(state)]++;
  return {
    monitoring_enabled: isMonitored,
    summary,
    backends: Object.fromEntries(states.map((state) => [state.backend.name, backendBody(state)])),
  };
}

function backendBody(state: BackendState): object {
  const { health, era, sinceMs } = state;
  const { breaker, checkedMs } = health ?? {};
  return {
    status: healthOf(state),
    consecutiveFailures: health?.consecutiveFailures ?? 0,
    ...(checkedMs === undefined ? {} : { lastHealthCheck: dateTime(checkedMs) }),
    ...(health?.errorCategory === undefined ? {} : { lastErrorCategory: health.errorCategory }),
    lastTransitionTime: dateTime(health?.sinceMs ?? sinceMs),
    circuitBreakerState: breaker?.state ?? '',
    ...(breaker === undefined ? {} : { circuitLastChanged: dateTime(breaker.sinceMs) }),
    mcpRevision: era ?? '',
  };
}

/** The health that a monitor found, or the state of the connection without one. */
export function healthOf({ health, status }: BackendState): BackendHealth['status'] {
  return health?.status ?? HEALTH[status];
}

function dateTime(ms: number): string {
  return new Date(ms).toISOString();
}

const HEALTH = {
  ready: 'healthy',
  unauthenticated: 'unauthenticated',
  unavailable: 'unhealthy',
  unknown: 'unknown',
} as const satisfies Record<BackendState['status'], BackendHealth['status']>;
