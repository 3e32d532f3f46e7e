import type { Outcome } from '../../resolve/resolution.ts';
import type { ProxyPods } from './proxy-pods.ts';

/** What decides the phase. */
export interface PhaseInput {
  /** The result of resolving; an error of the objects to write counts as `failed`. */
  readonly outcome: Outcome;
  readonly proxy: ProxyPods;
  /** Pods of the server behind the proxy; absent for remote servers. */
  readonly server?: ProxyPods;
  /** `spec.replicas` is 0. */
  readonly isStopped: boolean;
}

/** `status.phase` with its message, and the condition `Ready`. */
export interface PhaseResult {
  readonly phase: 'Pending' | 'Ready' | 'Failed' | 'Stopped';
  readonly reason: string;
  readonly message: string;
}

/** The phase. A proxy is ready when its server has answered, so ready proxies decide. Pure. */
export function proxyPhase({ outcome, proxy, server, isStopped }: PhaseInput): PhaseResult {
  const still = proxy.ready === 0 ? '' : '; pods with the last valid configuration keep serving';
  if (outcome.result === 'failed') {
    return { phase: 'Failed', reason: 'ConfigurationFailed', message: `${outcome.message}${still}` };
  }
  if (outcome.result === 'waiting') {
    return { phase: 'Pending', reason: 'DependenciesNotReady', message: `${outcome.message}${still}` };
  }
  if (isStopped) return { phase: 'Stopped', reason: 'Stopped', message: 'spec.replicas is 0' };
  if (proxy.ready > 0) return { phase: 'Ready', reason: 'DeploymentReady', message: 'the proxy and its server answer' };
  if (server?.failure !== undefined) {
    return { phase: 'Failed', reason: 'ServerFailed', message: `the server does not start: ${server.failure}` };
  }
  if (proxy.failure !== undefined) {
    return { phase: 'Failed', reason: 'DeploymentFailed', message: `the proxy does not start: ${proxy.failure}` };
  }
  if (proxy.running === 0) {
    return { phase: 'Pending', reason: 'DeploymentNotReady', message: 'the proxy does not run yet' };
  }
  const check = server === undefined ? 'spec.remoteUrl, spec.transport and the log of the proxy' : CHECK_SERVER;
  const message = `the server behind the proxy has not answered yet; if this lasts, check ${check}`;
  return { phase: 'Pending', reason: 'ServerNotReady', message };
}

const CHECK_SERVER = 'that the server speaks spec.transport, and the logs of the proxy and of the server';
