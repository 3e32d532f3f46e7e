import type { BackendHealth, BackendState, Gateway } from '@toolmgr/core';
import { AUTH_CONFIG_REF } from '@toolmgr/plugins/kit/kubernetes';
import { healthOf } from '../../http/status-routes.ts';
import type { PodReport } from '../pod-report.ts';

/** What a report is made from. */
export type ReportedGateway = Pick<Gateway, 'backends' | 'catalog' | 'sources' | 'strategyOf'>;

type ReportedBackend = PodReport['backends'][number];

/** The report of a pod. Messages are categories: neither addresses nor texts of backends. */
export function reportOf(gateway: ReportedGateway, configChecksum: string, nowMs: number): PodReport {
  const backendsChecksum = gateway.sources().find(({ version }) => version !== undefined)?.version;
  const tools = toolsByBackend(gateway);
  return {
    configChecksum,
    ...(backendsChecksum === undefined ? {} : { backendsChecksum }),
    reportedAt: dateTime(nowMs),
    backends: gateway.backends().map((state) => backendFrom(state, gateway, tools)),
  };
}

/**
 * What makes a report worth to be written at once: everything but times and counts of failures, which change with every check.
 */
export function materialOf(report: PodReport): string {
  const { reportedAt: _, backends, ...rest } = report;
  const lasting = backends.map(({ lastHealthCheck: __, consecutiveFailures: ___, ...backend }) => backend);
  return JSON.stringify({ ...rest, backends: lasting });
}

function backendFrom(
  state: BackendState,
  gateway: Pick<Gateway, 'strategyOf'>,
  tools: ReadonlyMap<string, number> | undefined,
): ReportedBackend {
  const { backend, era, health } = state;
  const { breaker, checkedMs } = health ?? {};
  const message = messageOf(state);
  const url = publicUrl(backend.url);
  const authConfigRef = backend.metadata?.[AUTH_CONFIG_REF];
  return {
    name: backend.name,
    ...(url === undefined ? {} : { url }),
    status: isWithoutCredentials(state) ? 'unavailable' : STATUS[healthOf(state)],
    ...(message === undefined ? {} : { message }),
    authType: gateway.strategyOf(backend.name),
    ...(authConfigRef === undefined ? {} : { authConfigRef }),
    ...(breaker === undefined
      ? {}
      : { circuitBreakerState: breaker.state, circuitLastChanged: dateTime(breaker.sinceMs) }),
    consecutiveFailures: health?.consecutiveFailures ?? 0,
    ...(checkedMs === undefined ? {} : { lastHealthCheck: dateTime(checkedMs) }),
    ...(era === undefined ? {} : { mcpRevision: era }),
    ...(tools === undefined ? {} : { tools: tools.get(backend.name) ?? 0 }),
  };
}

/** Source: status names of vmcp spec §2 `discoveredBackends[].status`. */
const STATUS = {
  healthy: 'ready',
  degraded: 'degraded',
  unhealthy: 'unavailable',
  unauthenticated: 'unauthenticated',
  unknown: 'unknown',
} as const satisfies Record<BackendHealth['status'], ReportedBackend['status']>;

/** It gets no request, so its status does not wait for a number of failed checks. */
function isWithoutCredentials({ cause }: BackendState): boolean {
  return cause?.category === 'credentials';
}

function messageOf(state: BackendState): string | undefined {
  const { health, cause, needsCaller } = state;
  if (isWithoutCredentials(state)) return 'credentials not available';
  if (health?.breaker?.state === 'open') return 'circuit open';
  if (needsCaller) return 'its lists are read with the credentials of each caller';
  if (healthOf(state) === 'healthy') return undefined;
  const category = health?.errorCategory ?? cause?.category;
  return category === undefined ? undefined : (MESSAGES[category] ?? 'backend unavailable');
}

/** Sentences by category, of the health monitor and of connections. */
const MESSAGES: Readonly<Record<string, string>> = {
  authentication_failed: 'authentication failed',
  unauthenticated: 'authentication failed',
  timeout: 'health check timed out',
  connection_failed: 'connection failed',
  refused: 'connection failed',
  dns: 'connection failed',
  tls: 'connection failed',
  closed: 'connection failed',
  health_check_failed: 'health check failed',
  protocol: 'health check failed',
};

/** Without user, query and fragment, which may hold credentials. */
function publicUrl(text: string | undefined): string | undefined {
  const url = URL.parse(text ?? '');
  return url === null ? undefined : url.origin + url.pathname;
}

const counted = new WeakMap<object, ReadonlyMap<string, number>>();

/** Counted once per catalogue; `undefined` while there is none. */
function toolsByBackend(gateway: Pick<Gateway, 'catalog'>): ReadonlyMap<string, number> | undefined {
  let tools: ReturnType<ReturnType<Gateway['catalog']>['allTools']>;
  try {
    tools = gateway.catalog().allTools();
  } catch {
    return undefined;
  }
  const known = counted.get(tools);
  if (known !== undefined) return known;
  const counts = new Map<string, number>();
  for (const { backend } of tools) counts.set(backend, (counts.get(backend) ?? 0) + 1);
  counted.set(tools, counts);
  return counts;
}

function dateTime(ms: number): string {
  return new Date(ms).toISOString();
}
