import { describe, expect, it } from 'vitest';
import {
  computePhase,
  type PhaseInput,
} from '../../../../../hosts/operator/controllers/virtual-mcp-server/compute-phase.ts';
import { countPods, type PodCounts } from '../../../../../hosts/operator/controllers/virtual-mcp-server/pod-counts.ts';
import type { Deployment, Pod } from '../../../../../hosts/operator/objects/built-in-kinds.ts';

const READY: PodCounts = { ready: 1, current: 1, isScaledToZero: false };
const NONE: PodCounts = { ready: 0, current: 0, isScaledToZero: false };
const OK = { result: 'ready' } as const;

describe('the phase', () => {
  it.each<[string, Partial<PhaseInput>, string, string, boolean]>([
    ['no pod is ready', { pods: NONE }, 'Pending', 'DeploymentNotReady', false],
    ['0 replicas are wanted', { pods: { ...NONE, isScaledToZero: true } }, 'Pending', 'DeploymentNotReady', false],
    ['pods cannot start', { pods: { ...NONE, failure: 'no image' } }, 'Failed', 'DeploymentFailed', false],
    ['the group has no backends', {}, 'Ready', 'DeploymentReady', true],
    ['all are routable', { backends: states('ready', 'unauthenticated') }, 'Ready', 'DeploymentReady', true],
    ['some are routable', { backends: states('ready', 'unavailable') }, 'Degraded', 'BackendsDegraded', true],
    ['one is degraded', { backends: states('ready', 'degraded') }, 'Degraded', 'BackendsDegraded', true],
    ['none is routable', { backends: states('unavailable', 'unknown') }, 'Degraded', 'BackendsUnavailable', false],
    ['none was probed', { backends: states('unknown', undefined) }, 'Pending', 'BackendsPending', false],
    [
      'only older pods serve, because new ones do not start',
      { pods: { ready: 1, current: 0, isScaledToZero: false, failure: 'no image' }, backends: states('ready') },
      'Degraded',
      'DeploymentFailed',
      true,
    ],
    [
      'the configuration is invalid while pods serve',
      { outcome: { result: 'failed', phase: 'Failed', message: 'bad' }, backends: states('ready') },
      'Failed',
      'ConfigurationFailed',
      false,
    ],
    [
      'something is not ready',
      { outcome: { result: 'waiting', phase: 'Pending', message: 'wait' }, pods: NONE },
      'Pending',
      'DependenciesNotReady',
      false,
    ],
  ])('when %s', (_when, input, phase, reason, isReady) => {
    const result = computePhase({ outcome: OK, pods: READY, backends: [], ...input });
    expect([result.phase, result.reason, result.isReady]).toEqual([phase, reason, isReady]);
  });

  it('names the first backends that do not answer, with the reason of each', () => {
    const failed = ['b', 'c', 'd', 'e'].map((name) => ({ name, status: 'unavailable', message: `no key of ${name}` }));
    const message = (backends: PhaseInput['backends']): string =>
      computePhase({ outcome: OK, pods: READY, backends }).message;
    expect(message([{ name: 'a', status: 'ready', message: 'fine' }, { name: 'b' }])).toBe(
      'backends that answer: 1 of 2; b: unknown',
    );
    expect(message(failed)).toBe(
      'backends that answer: 0 of 4; b: no key of b; c: no key of c; d: no key of d; and 1 more',
    );
    expect(message(states('ready'))).toBe('pods are ready; backends that answer: 1 of 1');
  });

  it('says that pods keep serving when the configuration fails', () => {
    const outcome = { result: 'failed', phase: 'Failed', message: 'bad' } as const;
    expect(computePhase({ outcome, pods: { ...READY, ready: 2 }, backends: [] }).message).toBe(
      'bad; 2 pods with the last valid configuration keep serving',
    );
    expect(computePhase({ outcome, pods: NONE, backends: [] }).message).toBe('bad');
  });
});

describe('the pods of a server', () => {
  it('count when they are ready and not being deleted; those with the wanted checksum are current', () => {
    const pods = [
      pod('a', 'c1'),
      pod('b', 'c2'),
      pod('c', 'c2', { deletionTimestamp: 'x' }),
      pod('d', 'c2', {}, false),
    ];
    expect(countPods(pods, 'c2', undefined)).toEqual({ ready: 2, current: 1, isScaledToZero: false });
    expect(countPods(pods, undefined, undefined)).toEqual({ ready: 2, current: 2, isScaledToZero: false });
  });

  it('fail when a container of the wanted configuration waits for what time does not solve', () => {
    const waiting = (reason: string, checksum: string): Pod => {
      const state = { waiting: { reason, message: 'x'.repeat(1_000) } };
      const status = { containerStatuses: [{ name: 'vmcp', ready: false, restartCount: 3, state }] };
      return { ...pod('p', checksum, {}, false), status };
    };
    expect(countPods([waiting('ImagePullBackOff', 'c2')], 'c2', undefined).failure).toMatch(
      /^container vmcp of pod p: ImagePullBackOff: x{300}…$/,
    );
    expect(countPods([waiting('ContainerCreating', 'c2')], 'c2', undefined).failure).toBeUndefined();
    expect(countPods([waiting('CrashLoopBackOff', 'c1')], 'c2', undefined).failure).toBeUndefined();
  });

  it('fail when the Deployment cannot create them', () => {
    const conditions = [{ type: 'ReplicaFailure', status: 'True', message: 'exceeded quota' }];
    const deployment = { spec: { replicas: 1 }, status: { conditions } } as unknown as Deployment;
    expect(countPods([], 'c1', deployment).failure).toBe('pods cannot be created: exceeded quota');
    expect(countPods([], 'c1', { spec: { replicas: 0 } } as Deployment).isScaledToZero).toBe(true);
  });
});

function states(...all: readonly (string | undefined)[]): PhaseInput['backends'] {
  return all.map((status, index) => ({ name: `b${index}`, ...(status === undefined ? {} : { status }) }));
}

function pod(name: string, checksum: string, metadata: object = {}, isReady = true): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, annotations: { 'toolmgr.dev/config-checksum': checksum }, ...metadata },
    status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
  };
}
