import type { BackendStatus, Gateway } from '@toolmgr/core';
import type { HostRoute } from './mount.ts';

/** What the status pages say beside what the gateway knows. */
export interface StatusFacts {
  readonly version: string;
  readonly groupRef: string;
  /** `static`: the backends are listed; `dynamic`: they are found while the gateway runs. */
  readonly mode: 'static' | 'dynamic';
  /** Strategy name towards a backend. */
  authTypeOf(backend: string): string;
}

/** `/health`, `/ping`, `/readyz` and `/status`. Backend URLs and error texts are not told. */
export function statusRoutes(gateway: Pick<Gateway, 'backends' | 'settled'>, facts: StatusFacts): HostRoute[] {
  let isSettled = false;
  void gateway.settled().then(() => {
    isSettled = true;
  });
  const alive: HostRoute['answer'] = () => ({ status: 200, body: { status: 'ok' } });
  return [
    { path: '/health', answer: alive },
    { path: '/ping', answer: alive },
    {
      path: '/readyz',
      answer: () =>
        facts.mode === 'static' || isSettled
          ? { status: 200, body: { status: 'ready', mode: facts.mode } }
          : { status: 503, body: { status: 'not_ready', mode: facts.mode, reason: 'cache_sync_pending' } },
    },
    {
      path: '/status',
      answer: () => ({
        status: 200,
        body: {
          healthy: gateway.backends().some(({ status }) => status === 'ready'),
          version: facts.version,
          group_ref: facts.groupRef,
          backends: gateway.backends().map(({ backend, status, era }) => ({
            name: backend.name,
            health: HEALTH[status],
            transport: backend.transport,
            auth_type: facts.authTypeOf(backend.name),
            ...(era === undefined ? {} : { mcp_revision: era }),
          })),
        },
      }),
    },
  ];
}

const HEALTH = {
  ready: 'healthy',
  unauthenticated: 'unauthenticated',
  unavailable: 'unhealthy',
  unknown: 'unknown',
} as const satisfies Record<BackendStatus, string>;
