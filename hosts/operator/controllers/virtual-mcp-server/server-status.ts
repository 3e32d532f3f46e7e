import { isDeepStrictEqual } from 'node:util';
import type { Condition, ObjectKey } from '@toolmgr/plugins/kit/kubernetes';
import type { PodReport } from '../../../vmcp/pod-report.ts';
import type { VirtualMcpServer } from '../../kinds/virtual-mcp-server.ts';
import type { Resolution } from '../../resolve/resolution.ts';
import { timedConditions, type WantedCondition } from '../write-status.ts';
import { computePhase, isRoutable } from './compute-phase.ts';
import { type DiscoveredBackend, joinReports } from './join-reports.ts';
import { serviceUrl } from './object-names.ts';
import type { PodCounts } from './pod-counts.ts';

export type ServerStatus = NonNullable<VirtualMcpServer['status']>;

/** What the status is made of. */
export interface StatusInput {
  readonly server: VirtualMcpServer;
  readonly key: ObjectKey;
  readonly resolution: Resolution;
  /** Conditions beside those of resolving. */
  readonly conditions: readonly WantedCondition[];
  readonly pods: PodCounts;
  /** Reports of ready pods with the wanted configuration. */
  readonly reports: readonly PodReport[];
  readonly clusterDomain?: string;
  readonly now: number;
}

/** The status that an object should have. */
export function statusOf(input: StatusInput): ServerStatus {
  const { server, key, resolution, pods, reports, now } = input;
  const { outcome } = resolution;
  const backends = joinReports(knownBackends(server, resolution, pods.ready > 0), reports, now);
  const { phase, reason, message, isReady } = computePhase({ outcome, pods, backends });
  const url = serviceUrl(key, input.clusterDomain);
  const own: readonly WantedCondition[] = [
    { type: 'Ready', status: isReady ? 'True' : 'False', reason, message },
    { type: 'Degraded', status: phase === 'Degraded' ? 'True' : 'False', reason, message },
  ];
  const decided = [...own, ...input.conditions];
  const others = resolution.conditions.filter(({ type }) => !decided.some((each) => each.type === type));
  return {
    phase,
    message,
    url,
    mcpUrl: `${url}/mcp`,
    backendCount: backends.filter(({ status }) => isRoutable(status)).length,
    ...(server.metadata.generation === undefined ? {} : { observedGeneration: server.metadata.generation }),
    ...resolution.hashes,
    conditions: timedConditions(server, [...decided, ...others], now) as Condition[],
    discoveredBackends: [...backends],
  };
}

/**
 * Whether a status must be written: something changed but the times of health checks, or these are long past. Orders of keys
 * and conditions do not matter.
 */
export function isOutdated(current: ServerStatus | undefined, wanted: ServerStatus): boolean {
  if (!isDeepStrictEqual(comparable(current), comparable(wanted))) return true;
  return lastCheck(wanted) - lastCheck(current) > STALE_MS;
}

/** How far `lastHealthCheck` may be behind when nothing else changes. */
const STALE_MS = 300_000;

/** The backends of the group with what was known of them; without a resolved group those of the last status. */
function knownBackends(
  { status }: VirtualMcpServer,
  { outcome, effective }: Resolution,
  isServed: boolean,
): readonly DiscoveredBackend[] {
  const before = isServed ? (status?.discoveredBackends ?? []) : [];
  if (outcome.result !== 'ready' && isServed) return before;
  const byName = new Map(before.map((backend) => [backend.name, backend]));
  return effective.map(({ name, url, authType, authConfigRef, problem }) => {
    const now: DiscoveredBackend = {
      name,
      ...(url === undefined ? {} : { url }),
      ...(authType === undefined ? {} : { authType }),
      ...(authConfigRef === undefined ? {} : { authConfigRef }),
    };
    if (problem !== undefined) return { ...now, status: 'unavailable', message: problem };
    const known = byName.get(name);
    // a backend that was left out, or has another URL, is not known by what was said of it before
    return known === undefined || known.url !== url || known.lastHealthCheck === undefined
      ? { ...now, status: 'unknown' }
      : { ...known, ...now };
  });
}

function comparable(status: ServerStatus | undefined): unknown {
  return JSON.parse(
    JSON.stringify({
      ...status,
      conditions: [...(status?.conditions ?? [])].sort((a, b) => (a.type < b.type ? -1 : 1)),
      discoveredBackends: status?.discoveredBackends?.map(({ lastHealthCheck: _, ...rest }) => rest),
    }),
  );
}

function lastCheck(status: ServerStatus | undefined): number {
  const times = (status?.discoveredBackends ?? []).map(({ lastHealthCheck }) => Date.parse(lastHealthCheck ?? '') || 0);
  return Math.max(0, ...times);
}
