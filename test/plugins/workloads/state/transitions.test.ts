import { describe, expect, it } from 'vitest';
import { transitions } from '../../../../plugins/workloads/state/transitions.ts';
import {
  correctedStatus,
  type WorkloadRecord,
  type WorkloadStatus,
} from '../../../../plugins/workloads/state/workload-record.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

const ME = { pid: 1, started: 'a' };
const PROXY = { pid: 2, started: 'b' };

function recordOf(status: Partial<WorkloadStatus>, alive = false): WorkloadRecord {
  const base = {
    format: 1,
    status: 'stopped',
    id: 'id',
    generation: 4,
    runId: 'run',
    port: 4000,
    updatedAtMs: 0,
  } as const;
  return { name: 'one', config: workloadConfigOf('one'), status: { ...base, ...status }, alive };
}

const claim = (generation: number | undefined) => ({ proxy: PROXY, runId: 'new', generation, nowMs: 9 });

describe('the state machine of a workload', () => {
  it('starts what does not run, once', () => {
    for (const status of ['stopped', 'error', 'unhealthy', 'unknown'] as const) {
      expect(transitions.requestStart(recordOf({ status }), ME)).toEqual({
        change: { status: 'starting', generation: 5, by: ME, port: 4000, runId: 'run' },
      });
    }
    expect(transitions.requestStart(recordOf({ status: 'running' }, true), ME)).toBeUndefined();
    expect(transitions.requestStart(recordOf({ status: 'starting' }), ME)).toBeUndefined();
    expect(transitions.requestStart(recordOf({ status: 'removing' }), ME)).toEqual({ refused: 'it is being removed' });
    const damaged = { ...recordOf({ status: 'error', message: 'run.json is missing' }), config: undefined };
    expect(transitions.requestStart(damaged, ME)).toEqual({ refused: 'run.json is missing' });
  });

  it('gives a workload to the proxy of the current start only', () => {
    const mine = {
      change: { status: 'starting', generation: 4, runId: 'new', startedAtMs: 9, proxy: PROXY, port: 4000 },
    };
    expect(transitions.claimStart(recordOf({ status: 'starting' }), claim(4))).toEqual(mine);
    expect(transitions.claimStart(recordOf({ status: 'stopped' }), claim(undefined))).toMatchObject({
      change: { generation: 5 },
    });
    for (const [record, generation] of [
      [recordOf({ status: 'starting' }), 3],
      [recordOf({ status: 'running' }, true), 4],
      [recordOf({ status: 'removing' }), 4],
    ] as const) {
      expect(transitions.claimStart(record, claim(generation))).toHaveProperty('refused');
    }
  });

  it('stops a proxy, cancels a start without one, and keeps the reason of an error', () => {
    expect(transitions.requestStop(recordOf({ status: 'running', proxy: PROXY, url: 'u' }, true))).toEqual({
      change: { status: 'stopping', generation: 5, proxy: PROXY, runId: 'run', port: 4000, url: 'u' },
    });
    expect(transitions.requestStop(recordOf({ status: 'starting', by: ME }))).toMatchObject({
      change: { status: 'stopped', generation: 5 },
    });
    expect(transitions.requestStop(recordOf({ status: 'removing' }))).toBeUndefined();
    const failed = recordOf({ status: 'error', message: 'no licence' });
    expect(transitions.requestStop(failed)).toMatchObject({ change: { status: 'error', message: 'no licence' } });
    expect(transitions.finishStop(failed, 'run', false)).toBeUndefined();
    expect(transitions.finishStop(failed, 'run', true)).toEqual({ change: { status: 'stopped', port: 4000 } });
    expect(transitions.finishStop(recordOf({ status: 'unhealthy' }), 'run', false)).toMatchObject({
      change: { status: 'stopped' },
    });
    // a later start is left alone
    expect(transitions.finishStop(recordOf({ status: 'unhealthy' }), 'earlier', true)).toBeUndefined();
    expect(transitions.finishStop(recordOf({ status: 'starting' }), 'run', true)).toBeUndefined();
  });

  it('removes only what does not run and is not being started', () => {
    expect(transitions.requestRemoval(recordOf({ status: 'stopped' }), ME)).toMatchObject({
      change: { status: 'removing', by: ME, generation: 5, runId: 'run' },
    });
    expect(transitions.requestRemoval(recordOf({ status: 'running' }, true), ME)).toHaveProperty('refused');
    expect(transitions.requestRemoval(recordOf({ status: 'starting' }), ME)).toHaveProperty('refused');
  });

  it('shows the truth about processes that have ended, without writing', () => {
    const shown = (status: WorkloadStatus['status'], alive: boolean, isWorkedOn: boolean) =>
      correctedStatus(recordOf({ status }).status, alive, isWorkedOn).status;
    for (const status of ['running', 'unhealthy', 'unauthenticated', 'auth_retrying'] as const) {
      expect(shown(status, true, false)).toBe(status);
      expect(shown(status, false, false)).toBe('unhealthy');
    }
    expect(shown('starting', false, true)).toBe('starting');
    expect(shown('starting', false, false)).toBe('error');
    expect(shown('stopping', false, false)).toBe('stopped');
    expect(shown('removing', false, true)).toBe('removing');
    expect(shown('removing', false, false)).toBe('stopped');
    expect(shown('error', false, false)).toBe('error');
  });
});
