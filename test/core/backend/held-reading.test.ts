import { DEFAULT_LIMITS } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { HeldReading, heldOfBackend } from '../../../core/backend/transports/held-reading.ts';
import { ByteBudget, type HeldBytes } from '../../../core/mcp/byte-budget.ts';
import { proves } from '../../support/proves.ts';
import { until } from '../../support/until.ts';

const MIB = 1_048_576;

/** A reader, and whether its stream is paused or refused. */
function reader(held: HeldBytes) {
  const state = { isPaused: false, isRefused: false };
  const reading = new HeldReading(held, () => {
    state.isRefused = true;
    reading.release();
  });
  const stream = {
    pause: () => {
      state.isPaused = true;
    },
    resume: () => {
      state.isPaused = false;
    },
  };
  return { state, reading, holds: (bytes: number) => reading.holds(bytes, stream) };
}

describe('bytes that a reader holds', () => {
  proves(
    'choice.limits.memory-waits',
    'a reader of a backend that waited longest, and has passed its message on, gives its turn to the next',
    async () => {
      const bytes = new ByteBudget({ ...DEFAULT_LIMITS, memoryBudgetBytes: 8 * MIB });
      const program = reader(heldOfBackend({ bytes, backend: 'far' }));
      const ada = bytes.holder('ada');
      ada.add(6 * MIB);
      expect(program.holds(2 * MIB)).toBe(false);
      ada.release();
      await until(() => !program.state.isPaused);
      program.holds(0); // its message is passed on; the program runs on

      const other = reader(heldOfBackend({ bytes, backend: 'far' }));
      const bob = bytes.holder('bob');
      bob.add(6 * MIB);
      expect(other.holds(2 * MIB)).toBe(false);
      bob.release();
      await until(() => !other.state.isPaused);
      // and goes beyond the share of its backend, to be complete
      expect([other.holds(6 * MIB), other.state.isRefused]).toEqual([true, false]);
      other.reading.release();
      expect(bytes.now).toMatchObject({ held: 0, refused: 0 });
    },
  );

  proves('choice.limits.memory-budget', 'the result of a call whose request was answered before is counted', () => {
    const bytes = new ByteBudget({ ...DEFAULT_LIMITS, memoryBudgetBytes: 8 * MIB });
    const request = bytes.holder('ada');
    const result = reader(request);
    result.holds(MIB);
    request.release(); // the call is suspended: its client was asked
    expect(bytes.now.held).toBe(0);
    expect([result.holds(2 * MIB), bytes.now.held]).toEqual([true, 2 * MIB]);
    expect([result.holds(6 * MIB), result.state.isPaused]).toEqual([false, true]);
    result.reading.release();
    expect(bytes.now.held).toBe(0);
  });
});

it('a stream is paused for one turn of the event loop after every 64 KiB', async () => {
  const did: string[] = [];
  const stream = { pause: () => did.push('pause'), resume: () => did.push('resume') };
  const bytes = new ByteBudget(DEFAULT_LIMITS);
  const reading = new HeldReading(heldOfBackend({ bytes, backend: 'far' }), () => {});
  reading.took(40_000, 0, stream);
  expect(did).toEqual([]);
  reading.took(40_000, 0, stream);
  reading.took(1_000, 0, stream);
  expect(did).toEqual(['pause']);
  await new Promise((resolve) => setImmediate(resolve));
  expect(did).toEqual(['pause', 'resume']);
  reading.took(64_536, 0, stream);
  expect(did).toEqual(['pause', 'resume', 'pause']);
});
