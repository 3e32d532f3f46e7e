import type { WorkloadRecord, WorkloadStatus } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';
import {
  afterStart,
  BACK_OFF,
  type Circumstances,
  decide,
  STABLE_MS,
  STOP_MS,
  USER_STOP_MS,
} from '../../../../hosts/manager/supervisor/decide.ts';
import { proves } from '../../../support/proves.ts';
import { workloadConfigOf } from '../../../support/workload-config.ts';

const NOW = 1_000_000;
const ME = { pid: 1, started: 'a' };

function recordOf(status: Partial<WorkloadStatus>, more: Partial<WorkloadRecord> = {}): WorkloadRecord {
  const base = { format: 1, status: 'stopped', desired: 'running', generation: 4, updatedAtMs: 0 } as const;
  return { name: 'one', config: workloadConfigOf('one'), status: { ...base, ...status }, alive: false, ...more };
}

const decided = (record: WorkloadRecord, more: Partial<Circumstances> = {}) =>
  decide(record, { nowMs: NOW, memory: undefined, hasEngine: true, ...more });
const memory = { starts: 2, notBeforeMs: NOW + 5, generation: 4 };
const image = { config: workloadConfigOf('one', { image: 'example.com/server:1' }) };

describe('what the supervisor does about a workload', () => {
  it.each([
    ['starts what should run and has no proxy', recordOf({ status: 'unhealthy' }), {}, 'start'],
    ['starts what a shutdown of the machine stopped', recordOf({ status: 'stopped' }), {}, 'start'],
    ['starts what failed', recordOf({ status: 'error' }), {}, 'start'],
    ['starts a record of before, which ran', recordOf({ status: 'unhealthy', desired: undefined }), {}, 'start'],
    ['leaves what the user stopped', recordOf({ status: 'stopped', desired: 'stopped' }), {}, 'nothing'],
    ['leaves what failed after the user stopped it', recordOf({ status: 'error', desired: 'stopped' }), {}, 'nothing'],
    ['leaves a removal that was interrupted', recordOf({ status: 'stopped', desired: 'stopped' }), {}, 'nothing'],
    ['leaves what runs', recordOf({ status: 'running' }, { alive: true }), {}, 'nothing'],
    ['leaves what another process works on', recordOf({ status: 'stopped' }, { heldBy: ME }), {}, 'nothing'],
    ['leaves what cannot be read', recordOf({ status: 'error' }, { config: undefined }), {}, 'nothing'],
    ['leaves an unknown status', recordOf({ status: 'unknown' }), {}, 'nothing'],
    ['waits for the back-off', recordOf({ status: 'error' }), { memory }, 'wait'],
    ['starts after the back-off', recordOf({ status: 'error' }), { memory, nowMs: NOW + 5 }, 'start'],
    ['forgets the back-off after the user acted', recordOf({ status: 'error', generation: 5 }), { memory }, 'start'],
    ['forgets what the user stopped', recordOf({ desired: 'stopped' }), { memory }, 'forget'],
    ['waits for the engine of an image', recordOf({ status: 'error' }, image), { hasEngine: false }, 'awaitEngine'],
    ['waits for the engine and not for the back-off', recordOf({}, image), { hasEngine: false, memory }, 'awaitEngine'],
    ['needs no engine for a program', recordOf({ status: 'error' }), { hasEngine: false }, 'start'],
    ['restores after a change that was killed', recordOf({ status: 'stopped' }), { isChanging: true }, 'restore'],
    ['waits for a proxy that stops', recordOf({ status: 'stopping', updatedAtMs: NOW }, { alive: true }), {}, 'wait'],
    ['ends a stop that was killed', recordOf({ status: 'stopping' }, { alive: true }), {}, 'finishStop'],
    ['leaves a restart', recordOf({ status: 'stopping' }, { alive: true, heldBy: ME }), {}, 'nothing'],
    ['leaves a change under way', recordOf({}, { heldBy: ME }), { isChanging: true }, 'nothing'],
  ] as const)('%s', (_title, record, more, expected) => {
    expect(decided(record, more).do).toBe(expected);
  });

  proves('choice.manager.stop-continued', 'ends a stop of the user whose process was killed', () => {
    const stopping = (updatedAtMs: number, more: Partial<WorkloadRecord> = {}) =>
      decided(recordOf({ status: 'stopping', desired: 'stopped', updatedAtMs }, { alive: true, ...more }));
    expect(stopping(NOW)).toEqual({ do: 'wait', untilMs: NOW + USER_STOP_MS });
    expect(stopping(NOW - USER_STOP_MS)).toEqual({ do: 'finishStop' });
    expect(stopping(NOW - USER_STOP_MS, { config: undefined })).toEqual({ do: 'finishStop' });
    expect(stopping(NOW - USER_STOP_MS, { heldBy: ME })).toEqual({ do: 'nothing' });
    expect(stopping(NOW - USER_STOP_MS, { alive: false })).toEqual({ do: 'nothing' });
  });

  it('gives a proxy that should run again less time to stop than one that the user stopped', () => {
    const stopping = (updatedAtMs: number) => decided(recordOf({ status: 'stopping', updatedAtMs }, { alive: true }));
    expect(stopping(NOW)).toEqual({ do: 'wait', untilMs: NOW + STOP_MS });
    expect(stopping(NOW - STOP_MS)).toEqual({ do: 'finishStop' });
  });

  it('forgets its starts when the workload is stable', () => {
    const ran = (ms: number) => recordOf({ status: 'running', startedAtMs: NOW - ms }, { alive: true });
    expect(decided(ran(STABLE_MS - 1), { memory }).do).toBe('nothing');
    expect(decided(ran(STABLE_MS), { memory }).do).toBe('forget');
    const starting = recordOf({ status: 'starting', startedAtMs: NOW - STABLE_MS }, { alive: true });
    expect(decided(starting, { memory }).do).toBe('nothing');
  });

  it('waits longer after each start, up to a bound', () => {
    let now = afterStart(undefined, NOW, 1);
    const delays = [now.notBeforeMs - NOW];
    for (let n = 1; n < 12; n++) {
      now = afterStart(now, NOW, 1);
      delays.push(now.notBeforeMs - NOW);
    }
    expect(delays[0]).toBeLessThanOrEqual(BACK_OFF.firstMs);
    expect(delays[0]).toBeGreaterThan(BACK_OFF.firstMs / 3);
    expect(Math.max(...delays)).toBeLessThanOrEqual(BACK_OFF.maxMs);
    expect(delays.at(-1)).toBeGreaterThan(BACK_OFF.maxMs / 3);
  });
});
