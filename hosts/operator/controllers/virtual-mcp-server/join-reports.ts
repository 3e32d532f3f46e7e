import { type PodReport, podReport } from '../../../vmcp/pod-report.ts';
import type { VirtualMcpServer } from '../../kinds/virtual-mcp-server.ts';

/** One entry of `status.discoveredBackends`. */
export type DiscoveredBackend = NonNullable<NonNullable<VirtualMcpServer['status']>['discoveredBackends']>[number];

type ReportedBackend = PodReport['backends'][number];
type State = ReportedBackend['status'];

/** Longest report of a pod, in characters: 1,000 backends with messages. A longer one is ignored. */
export const MAX_REPORT = 400_000;
/** Longest message of a backend in the status. */
const MAX_MESSAGE = 500;
/** How far the clock of a pod may be ahead. */
const CLOCK_SKEW_MS = 300_000;

/** Reads the report of one pod; `undefined` when it is too long or malformed. */
export function readReport(text: string | undefined): PodReport | undefined {
  if (text === undefined || text.length > MAX_REPORT) return undefined;
  try {
    return podReport.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/**
 * Joins what pods report of the backends of a group. A backend has a state when all pods that probed it report this state; if
 * they differ it is `degraded`. Names that are not in `backends` are ignored, and so are URLs of reports. A backend that no pod
 * probed keeps what `backends` says.
 */
export function joinReports(
  backends: readonly DiscoveredBackend[],
  reports: readonly PodReport[],
  now: number,
): readonly DiscoveredBackend[] {
  const byName = new Map<string, ReportedBackend[]>();
  for (const { backends: reported } of reports) {
    const names = new Set<string>();
    for (const each of reported) {
      if (names.has(each.name)) continue;
      names.add(each.name);
      const found = byName.get(each.name);
      if (found === undefined) byName.set(each.name, [each]);
      else found.push(each);
    }
  }
  return backends.map((backend) => joinOne(backend, byName.get(backend.name) ?? [], now));
}

function joinOne(backend: DiscoveredBackend, reported: readonly ReportedBackend[], now: number): DiscoveredBackend {
  const probed = reported.filter(({ status }) => status !== 'unknown');
  const known = probed.length > 0 ? probed : reported;
  const first = known[0];
  if (first === undefined) return backend;
  const states = new Set(known.map(({ status }) => status));
  const status = stateOf(states, first.status);
  const message = messageOf(known);
  const breaker = BREAKER.find((state) => known.some(({ circuitBreakerState }) => circuitBreakerState === state));
  const changed = latestTime(known, 'circuitLastChanged', now);
  const checked = latestTime(known, 'lastHealthCheck', now);
  const failures = known.flatMap(({ consecutiveFailures }) => consecutiveFailures ?? []);
  const revision = REVISIONS.find((each) => known.some(({ mcpRevision }) => mcpRevision === each));
  const { name, url, authType, authConfigRef } = backend;
  return {
    name,
    ...(url === undefined ? {} : { url }),
    status,
    ...(message === undefined ? {} : { message }),
    ...(authType === undefined ? {} : { authType }),
    ...(authConfigRef === undefined ? {} : { authConfigRef }),
    ...(breaker === undefined ? {} : { circuitBreakerState: breaker }),
    ...(changed === undefined ? {} : { circuitLastChanged: changed }),
    ...(failures.length === 0 ? {} : { consecutiveFailures: Math.min(Math.max(...failures), MAX_INT32) }),
    ...(checked === undefined ? {} : { lastHealthCheck: checked }),
    ...(revision === undefined ? {} : { mcpRevision: revision }),
  };
}

/** The worst state first. */
const BREAKER = ['open', 'half-open', 'closed'] as const;
const REVISIONS = ['2026-07-28', '2025-11-25'] as const;
const MAX_INT32 = 2 ** 31 - 1;

function stateOf(states: ReadonlySet<State>, first: State): State {
  if (states.size === 1) return first;
  const isRoutable = [...states].every((state) => state === 'ready' || state === 'unauthenticated');
  return isRoutable ? 'unauthenticated' : 'degraded';
}

/** The first message of a pod to which the backend is not ready. */
function messageOf(known: readonly ReportedBackend[]): string | undefined {
  const bad = known.filter(({ status }) => status !== 'ready');
  const text = bad.find(({ message }) => message !== undefined && message !== '')?.message;
  const isPart = bad.length > 0 && bad.length < known.length;
  const shown = text === undefined ? undefined : plainText(text);
  if (!isPart) return shown;
  return `${bad.length} of ${known.length} pods${shown === undefined ? '' : `: ${shown}`}`;
}

function plainText(text: string): string {
  const short = text.slice(0, MAX_MESSAGE);
  // control characters would change the terminal in which the status is printed
  return short.replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ') + (text.length > MAX_MESSAGE ? '…' : '');
}

function latestTime(
  known: readonly ReportedBackend[],
  field: 'circuitLastChanged' | 'lastHealthCheck',
  now: number,
): string | undefined {
  const times = known
    .map((each) => Date.parse(each[field] ?? ''))
    .filter((time) => time > 0 && time < now + CLOCK_SKEW_MS);
  return times.length === 0 ? undefined : timeText(Math.max(...times));
}

/** RFC 3339 in seconds, as Kubernetes writes times. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
