import { explainCause, LATE, within } from '@toolmgr/core';
import {
  type Api,
  ApiError,
  type ObjectKey,
  pause,
  type Resource,
  type ResourceType,
} from '@toolmgr/plugins/kit/kubernetes';
import type { ControllerLog } from './controller.ts';

/** Source: Kubernetes API `coordination.k8s.io/v1` Lease. */
interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}
type Lease = Resource<LeaseSpec>;

export const leases: ResourceType<Lease> = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases' };

/** Times of an election. */
export interface ElectionTimes {
  /** Another replica takes a Lease over that was not renewed for so long. */
  readonly durationMs: number;
  /** A holder that could not renew for so long has lost the Lease. Below `durationMs`. */
  readonly deadlineMs: number;
  /** Pause between renewals, and between looks at the Lease of another replica. */
  readonly everyMs: number;
}

/** Six requests per minute. A crashed holder is replaced within 40 s, one that stops at once. */
const TIMES: ElectionTimes = { durationMs: 30_000, deadlineMs: 20_000, everyMs: 10_000 };
/** Pause after a failed renewal. */
const RETRY_MS = 1_000;

export interface ElectionOptions {
  /** Its requests must end well within the deadline, so it is not the client of the controllers. */
  readonly api: Api;
  readonly lease: ObjectKey;
  /** Unique among the replicas. */
  readonly identity: string;
  readonly log: ControllerLog;
  readonly times?: ElectionTimes;
}

/** A held Lease. */
export interface Leadership {
  /** Resolves with the reason when the Lease is lost; never after `release`. */
  readonly lost: Promise<string>;
  /** Stops renewing and gives the Lease up, so that another replica takes it at once. */
  release(): Promise<void>;
}

/**
 * Waits until this replica holds the Lease; `undefined` when the signal aborts first. Clocks of replicas may differ: a Lease is
 * over when it has not changed for its duration by the own clock.
 */
export async function acquireLeadership(
  options: ElectionOptions,
  signal: AbortSignal,
): Promise<Leadership | undefined> {
  const { api, lease: key, identity, log, times = TIMES } = options;
  let seen: { readonly version: string | undefined; readonly atMs: number } | undefined;
  let holder: string | undefined;
  let failure: string | undefined;
  while (!signal.aborted) {
    try {
      const lease = await api.get(leases, key);
      const version = lease?.metadata.resourceVersion;
      if (seen === undefined || seen.version !== version) seen = { version, atMs: performance.now() };
      const { holderIdentity = '', leaseDurationSeconds = 0 } = lease?.spec ?? {};
      const isFree = lease === undefined || holderIdentity === '' || holderIdentity === identity;
      if (isFree || performance.now() - seen.atMs > leaseDurationSeconds * 1000) {
        const held = await take(options, lease, times);
        log.info('this replica is the leader', { lease: key.name, identity });
        return hold(options, held, times);
      }
      if (holder !== holderIdentity) log.info('another replica is the leader', { leader: holderIdentity, identity });
      holder = holderIdentity;
      failure = undefined;
    } catch (cause) {
      const said = explainCause(cause);
      // another replica was faster
      const isConflict = cause instanceof ApiError && cause.status === 409;
      if (!isConflict && said !== failure)
        log.warn('the Lease cannot be read or written, it is tried again', { cause: said });
      failure = said;
    }
    await pause(times.everyMs * (0.5 + Math.random() / 2), signal);
  }
  return undefined;
}

/** @throws ApiError 409 when another replica was faster */
function take(
  { api, lease: { namespace, name }, identity }: ElectionOptions,
  before: Lease | undefined,
  times: ElectionTimes,
) {
  const now = microTime();
  const spec: LeaseSpec = {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(times.durationMs / 1000),
    acquireTime: now,
    renewTime: now,
    leaseTransitions: (before?.spec.leaseTransitions ?? -1) + 1,
  };
  if (before !== undefined) return api.replace(leases, { ...before, spec });
  const { apiVersion, kind } = leases;
  return api.create(leases, { apiVersion, kind, metadata: { namespace, name }, spec });
}

function hold(options: ElectionOptions, first: Lease, { deadlineMs, everyMs }: ElectionTimes): Leadership {
  const { api, lease: key, identity, log } = options;
  const stop = new AbortController();
  const lost = Promise.withResolvers<string>();
  let lease = first;
  /** `undefined` when it succeeded. */
  const renewOnce = async (): Promise<string | undefined> => {
    try {
      lease = await api.replace(leases, { ...lease, spec: { ...lease.spec, renewTime: microTime() } });
      return undefined;
    } catch (cause) {
      const current = await api.get(leases, key).catch(() => undefined);
      if (current !== undefined && current.spec.holderIdentity !== identity) return TAKEN;
      if (current !== undefined) lease = current;
      return explainCause(cause);
    }
  };
  const renew = async (): Promise<void> => {
    let renewedMs = performance.now();
    let pauseMs = everyMs;
    while (!stop.signal.aborted) {
      await pause(pauseMs, stop.signal);
      if (stop.signal.aborted) return;
      const startedMs = performance.now();
      const leftMs = deadlineMs - (startedMs - renewedMs);
      // a process that was suspended does not write any more
      const failed = leftMs <= 0 ? LATE : await within(leftMs, undefined, renewOnce());
      if (failed === undefined) {
        renewedMs = startedMs;
        pauseMs = everyMs;
        continue;
      }
      if (failed === TAKEN || failed === LATE) {
        return lost.resolve(failed === LATE ? 'the Lease was not renewed in time' : failed);
      }
      log.warn('the Lease cannot be renewed, it is tried again', { cause: failed });
      pauseMs = Math.min(RETRY_MS, everyMs);
    }
  };
  const renewal = renew();
  return {
    lost: lost.promise,
    async release() {
      stop.abort();
      await renewal;
      const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() };
      await api.replace(leases, { ...lease, spec }).catch((cause) => {
        log.warn('the Lease cannot be given up, it ends by itself', { cause: explainCause(cause) });
      });
    },
  };
}

const TAKEN = 'another replica has taken the Lease';

/** RFC 3339 with microseconds, as the type MicroTime. */
export function microTime(ms = Date.now()): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
