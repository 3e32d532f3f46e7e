import type { Outcome } from '../../resolve/resolution.ts';
import type { PodCounts } from './pod-counts.ts';

/** What decides the phase. */
export interface PhaseInput {
  /** The result of resolving; an error of the objects to write counts as `failed`. */
  readonly outcome: Outcome;
  readonly pods: PodCounts;
  /** Each backend of the group. */
  readonly backends: readonly BackendState[];
}

/** A backend of `status.discoveredBackends`. `message`: why it is not ready. */
export interface BackendState {
  readonly name: string;
  readonly status?: string;
  readonly message?: string;
}

/** `status.phase` with its message, and the condition `Ready`. */
export interface PhaseResult {
  readonly phase: 'Pending' | 'Ready' | 'Degraded' | 'Failed';
  readonly reason: string;
  readonly message: string;
  /** Callers can use at least one backend, or the group has none. */
  readonly isReady: boolean;
}

/** States of backends that take calls. Source: vmcp spec §2 `status.backendCount`. */
export function isRoutable(status: string | undefined): boolean {
  return status === 'ready' || status === 'unauthenticated';
}

/**
 * The phase. An error of the configuration is `Failed`, also while older pods serve. While pods serve, backends decide: none
 * routable is `Degraded`, and none probed yet is `Pending`.
 */
export function computePhase({ outcome, pods, backends }: PhaseInput): PhaseResult {
  const result = (
    phase: PhaseResult['phase'],
    reason: string,
    message: string,
    isReady = phase === 'Ready',
  ): PhaseResult => ({ phase, reason, message, isReady });
  const still = pods.ready === 0 ? '' : `; ${count(pods.ready, 'pod')} with the last valid configuration keep serving`;
  if (outcome.result === 'failed') return result('Failed', 'ConfigurationFailed', `${outcome.message}${still}`);
  if (outcome.result === 'waiting') return result('Pending', 'DependenciesNotReady', `${outcome.message}${still}`);
  if (pods.ready === 0 && pods.isScaledToZero) {
    return result('Pending', 'DeploymentNotReady', 'the Deployment is scaled to 0 replicas');
  }
  if (pods.ready === 0 && pods.failure !== undefined) return result('Failed', 'DeploymentFailed', pods.failure);
  if (pods.ready === 0) return result('Pending', 'DeploymentNotReady', 'no pod is ready yet');
  const routable = backends.filter(({ status }) => isRoutable(status)).length;
  const isServing = backends.length === 0 || routable > 0;
  if (pods.current === 0 && pods.failure !== undefined) {
    const message = `pods with the new configuration do not start; older ones keep serving: ${pods.failure}`;
    return result('Degraded', 'DeploymentFailed', message, isServing);
  }
  if (backends.length === 0) return result('Ready', 'DeploymentReady', 'pods are ready; the group has no backends');
  const answering = `backends that answer: ${routable} of ${backends.length}`;
  if (routable === backends.length) return result('Ready', 'DeploymentReady', `pods are ready; ${answering}`);
  const causes = causesOf(backends);
  if (routable > 0) return result('Degraded', 'BackendsDegraded', `${answering}${causes}`, true);
  if (backends.every(({ status }) => status === 'unknown' || status === undefined)) {
    return result('Pending', 'BackendsPending', 'pods are ready; no backend was probed yet');
  }
  return result('Degraded', 'BackendsUnavailable', `${answering}${causes}`);
}

const MAX_CAUSES = 3;

/** Which backends take no calls, and why: the first ones by name. */
function causesOf(backends: readonly BackendState[]): string {
  const failed = backends.filter(({ status }) => !isRoutable(status));
  const texts = failed
    .slice(0, MAX_CAUSES)
    .map(({ name, status = 'unknown', message }) => `${name}: ${message ?? status}`);
  const more = failed.length > MAX_CAUSES ? [`and ${failed.length - MAX_CAUSES} more`] : [];
  return ['', ...texts, ...more].join('; ');
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
