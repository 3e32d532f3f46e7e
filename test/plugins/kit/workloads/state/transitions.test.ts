import {
  desiredOf,
  type Transition,
  transitions,
  type WorkloadRecord,
  type WorkloadStatus,
} from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import { correctedStatus } from '../../../../../plugins/kit/workloads/state/workload-record.ts';
import { workloadConfigOf } from '../../../../support/workload-config.ts';

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
        change: { status: 'starting', desired: 'running', generation: 5, by: ME, port: 4000, runId: 'run' },
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
      change: {
        ...{ status: 'starting', desired: 'running', generation: 4 },
        ...{ runId: 'new', startedAtMs: 9, proxy: PROXY, port: 4000 },
      },
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
      change: {
        status: 'stopping',
        desired: 'stopped',
        generation: 5,
        proxy: PROXY,
        runId: 'run',
        port: 4000,
        url: 'u',
      },
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

  it('says what should be: a start wants it running, a stop and a removal do not, an error keeps it', () => {
    const desired = (move: Transition) => (move !== undefined && 'change' in move ? move.change.desired : 'no change');
    const failed = recordOf({ status: 'error', message: 'no licence', desired: 'running' });
    expect(desired(transitions.requestStart(recordOf({ status: 'stopped', desired: 'stopped' }), ME))).toBe('running');
    expect(desired(transitions.requestStop(failed))).toBe('stopped');
    expect(desired(transitions.requestRemoval(failed, ME))).toBe('stopped');
    expect(desired(transitions.claimStart(recordOf({ status: 'starting', desired: 'running' }), claim(4)))).toBe(
      'running',
    );
    // in the foreground it ends with its terminal
    expect(desired(transitions.claimStart(recordOf({ status: 'stopped' }), claim(undefined)))).toBe('stopped');
    const stopped = recordOf({ status: 'stopped', desired: 'running' });
    expect(transitions.failStart(stopped, 'no licence')).toMatchObject({
      change: { status: 'error', message: 'no licence' },
    });
    for (const other of [recordOf({ status: 'stopped', desired: 'stopped' }), failed, recordOf({}, true)]) {
      expect(transitions.failStart(other, 'no licence')).toBeUndefined();
    }
  });

  it('keeps other commands from a workload between the two halves of a restart', () => {
    const again = { desired: 'running', by: ME } as const;
    const stopping = transitions.requestStop(recordOf({ status: 'running', proxy: PROXY }, true), again);
    expect(stopping).toMatchObject({ change: { status: 'stopping', desired: 'running', by: ME } });
    const ended = recordOf({ status: 'stopping', desired: 'running', by: ME });
    expect(transitions.finishStop(ended, 'run', true)).toEqual({ change: { status: 'stopped', port: 4000, by: ME } });
    const held = { ...recordOf({ status: 'stopped', desired: 'running', by: ME }), heldBy: ME };
    expect(transitions.requestStart(held, PROXY)).toEqual({ refused: 'another command changes it' });
    expect(transitions.requestStart(held, ME)).toMatchObject({ change: { status: 'starting' } });
    expect(transitions.release(held, PROXY)).toBeUndefined();
    const released = transitions.release(held, ME);
    expect(released).toMatchObject({ change: { status: 'stopped', desired: 'running' } });
    expect(released).not.toHaveProperty('change.by');
    expect(transitions.release(recordOf({ status: 'starting', by: ME }), ME)).toBeUndefined();
  });

  it('reads records without what should be as before', () => {
    const shown = (status: WorkloadStatus['status']) => desiredOf(recordOf({ status }).status);
    for (const status of ['starting', 'running', 'unhealthy', 'unauthenticated', 'auth_retrying'] as const) {
      expect(shown(status)).toBe('running');
    }
    for (const status of ['stopping', 'stopped', 'removing', 'error', 'unknown'] as const)
      expect(shown(status)).toBe('stopped');
    expect(desiredOf(recordOf({ status: 'running', desired: 'stopped' }).status)).toBe('stopped');
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
