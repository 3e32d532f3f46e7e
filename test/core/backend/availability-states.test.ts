import type { BackendHealth, Era } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { Availability, type OuterEffects } from '../../../core/backend/availability.ts';
import {
  type AvailabilityEffect,
  type AvailabilityEvent,
  type AvailabilityState,
  newBackend,
  type ReadLists,
  step,
} from '../../../core/backend/availability-states.ts';
import { ConnectionFailure, categoryOf, type FailureCategory } from '../../../core/backend/failure.ts';
import { drawnStep, exploredSteps } from '../../../scripts/docs/backend-states-page.ts';
import fc from '../../support/fast-check.ts';

const CATEGORIES: readonly FailureCategory[] = ['refused', 'timeout', 'unauthenticated', 'spawn', 'absent', 'session'];
const failure = (category: FailureCategory) => new ConnectionFailure('far', category, `is gone (${category})`);
const readIn = (era: Era) => ({ connection: { era, hello: { info: {} } }, listing: {} }) as unknown as ReadLists;
const healthOf = (status: BackendHealth['status']): BackendHealth => ({
  status,
  consecutiveFailures: 0,
  checkedMs: 0,
  errorCategory: undefined,
  sinceMs: 0,
});

const category = fc.constantFrom(...CATEGORIES);
const era = fc.constantFrom<Era>('2025-11-25', '2026-07-28');
const health = fc
  .constantFrom<BackendHealth['status']>('healthy', 'degraded', 'unhealthy', 'unauthenticated', 'unknown')
  .map((status) => ({ is: 'health', health: healthOf(status) }) as const);

/** Every event except the removal, in any state: also those that cannot come there. */
const event: fc.Arbitrary<AvailabilityEvent> = fc.oneof(
  fc.constantFrom<AvailabilityEvent>(
    { is: 'wanted' },
    { is: 'renewed' },
    { is: 'suspected' },
    { is: 'ended' },
    { is: 'probed' },
    { is: 'answered' },
  ),
  era.map((each) => ({ is: 'connected', read: readIn(each) }) as const),
  category.map((each) => ({ is: 'failed', cause: failure(each) }) as const),
  fc.record({ category, isOwn: fc.boolean() }).map((lost) => {
    return { is: 'lost', cause: failure(lost.category), isOwn: lost.isOwn } as const;
  }),
  era.map((each) => ({ is: 'era-seen', era: each }) as const),
  health,
);

const timed = fc.record({
  event,
  afterMs: fc.oneof(fc.nat(2_000), fc.nat(60_000)),
  chance: fc.double({ min: 0, max: 1, noNaN: true }),
});

/** Of any length: fast-check's own size would be ten events at most. */
const sequence = fc.array(timed, { maxLength: 60, size: 'max' });

interface Taken {
  readonly before: AvailabilityState;
  readonly event: AvailabilityEvent;
  readonly after: AvailabilityState;
  readonly effects: readonly AvailabilityEffect[];
  readonly nowMs: number;
}

/** The steps of a sequence of events. */
function taken(events: readonly { event: AvailabilityEvent; afterMs: number; chance: number }[]): readonly Taken[] {
  let nowMs = 1_000_000;
  let state = newBackend(nowMs);
  return events.map(({ event: each, afterMs, chance }) => {
    nowMs += afterMs;
    const before = state;
    const [after, effects] = step(before, each, { nowMs, chance });
    state = after;
    return { before, event: each, after, effects, nowMs };
  });
}

const names = (effects: readonly AvailabilityEffect[]) => effects.map((effect) => effect.do);
const count = (effects: readonly AvailabilityEffect[], name: AvailabilityEffect['do']) =>
  effects.filter((effect) => effect.do === name).length;

/** Checks each step of many sequences. */
function always(check: (one: Taken) => void): void {
  fc.assert(
    fc.property(sequence, (events) => {
      for (const one of taken(events)) check(one);
    }),
    { numRuns: 300 },
  );
}

describe('the states of a backend, after any events', () => {
  it('have one attempt at a time, and it begins only when asked for', () => {
    always(({ before, after, effects }) => {
      const begins = before.link.is !== 'connecting' && after.link.is === 'connecting';
      expect(count(effects, 'connect')).toBe(begins ? 1 : 0);
      if (begins) expect(names(effects).at(-1)).toBe('connect');
    });
  });

  it('have at most one timer, never beside an attempt, and pauses within their bounds', () => {
    always(({ before, after, effects }) => {
      const starts = before.link.is !== 'pausing' && after.link.is === 'pausing';
      expect(count(effects, 'retry')).toBe(starts ? 1 : 0);
      const ends = before.link.is === 'pausing' && after.link.is !== 'pausing';
      expect(count(effects, 'cancel-retry')).toBe(ends ? 1 : 0);
      for (const effect of effects) {
        if (effect.do !== 'retry') continue;
        const isAbsent = ['spawn', 'absent'].includes(categoryOf(after.cause));
        expect(effect.afterMs).toBeGreaterThanOrEqual(isAbsent ? 5_000 : 250);
        expect(effect.afterMs).toBeLessThanOrEqual(isAbsent ? 600_000 : 30_000);
      }
    });
  });

  it('leave no backend without a session, an attempt or a timer', () => {
    always(({ after }) => {
      if (after.link.is === 'idle') expect(['unknown', 'ready']).toContain(after.status);
    });
  });

  it('announce exactly the changes of the status and of the category of its cause', () => {
    always(({ before, after, effects, nowMs }) => {
      const isNew = before.status !== after.status || categoryOf(before.cause) !== categoryOf(after.cause);
      expect(count(effects, 'announce')).toBe(isNew ? 1 : 0);
      expect(after.sinceMs).toBe(isNew ? nowMs : before.sinceMs);
    });
  });

  it('become unavailable by a failure only, and ready by an attempt only', () => {
    always(({ before, event: { is }, after }) => {
      if (before.status === after.status) return;
      expect(after.status === 'ready' ? ['connected'] : ['failed', 'lost']).toContain(is);
    });
  });

  it('serve lists once for each success, after the earlier ones are outdated', () => {
    always(({ before, event: { is }, effects }) => {
      const isSuccess = is === 'connected' && before.link.is === 'connecting';
      const expected = isSuccess ? ['outdate-lists', 'serve-lists'] : [];
      expect(names(effects).filter((name) => name.endsWith('-lists'))).toEqual(expected);
    });
  });

  it('stop calls when the last way to send them ends, and resume them for a monitor only', () => {
    const served = ({ status, isExcluded }: AvailabilityState) => status === 'ready' && !isExcluded;
    always(({ before, event: { is }, after, effects }) => {
      if (served(before) && !served(after)) expect(count(effects, 'stop-calls')).toBe(1);
      if (served(after)) expect(count(effects, 'stop-calls')).toBe(0);
      const isBack = is === 'health' && !served(before) && served(after);
      expect(count(effects, 'resume-calls')).toBe(isBack ? 1 : 0);
    });
  });

  it('change as the page of states shows', () => {
    const shown = new Set(exploredSteps().map((drawn) => JSON.stringify(drawn)));
    always(({ before, event: each, nowMs }) => {
      const isEnding = before.link.is === 'connecting' && before.link.pauseMs !== undefined;
      const { drawn } = drawnStep(before, each, nowMs);
      if (drawn !== undefined && !isEnding) expect(shown).toContain(JSON.stringify(drawn));
    });
  });

  it('do nothing after the removal', () => {
    fc.assert(
      fc.property(sequence, sequence, (one, two) => {
        const removal = { event: { is: 'removed' }, afterMs: 0, chance: 0 } as const;
        const [removed, ...later] = taken([...one, removal, ...two]).slice(one.length);
        expect(names(removed?.effects ?? [])).toEqual(['cancel-retry']);
        for (const { after, effects } of later) {
          expect(effects).toEqual([]);
          expect(after).toBe(removed?.after);
        }
      }),
    );
  });
});

type OuterEffect = Parameters<OuterEffects[keyof OuterEffects]>[0];

/** An availability whose attempts end as the test says. */
function controlled() {
  const attempts: { resolve(read: ReadLists): void; reject(cause: unknown): void }[] = [];
  const ran: OuterEffect[] = [];
  let heard = (_: OuterEffect): void => undefined;
  const run = (effect: OuterEffect) => {
    ran.push(effect);
    heard(effect);
  };
  const availability = new Availability({
    backend: 'far',
    connector: { era: undefined },
    base: { connection: undefined },
    isProgram: false,
    now: () => Date.now(),
    connect: () => new Promise((resolve, reject) => attempts.push({ resolve, reject })),
    effects: new Proxy({} as OuterEffects, { get: () => run }),
  });
  const onEffect = (listener: (effect: OuterEffect) => void) => {
    heard = listener;
  };
  return { availability, attempts, ran, onEffect };
}

describe('the availability of a backend', () => {
  type Move = { readonly does: 'ask' | 'probe' | 'renew' | 'succeed' | 'fail' | 'lose' | 'remove' };
  const move: fc.Arbitrary<Move> = fc
    .constantFrom<Move['does']>('ask', 'ask', 'probe', 'probe', 'renew', 'succeed', 'succeed', 'fail', 'lose', 'remove')
    .map((does) => ({ does }));

  it('answers every waiting caller, and has one attempt at a time, after any moves', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 40, size: 'max' }), async (moves) => {
        const { availability, attempts, ran } = controlled();
        const waiting: Promise<unknown>[] = [];
        let ended = 0;
        let atRemoval: number | undefined;
        const end = async (as: 'succeed' | 'fail') => {
          if (ended === attempts.length) return;
          const attempt = attempts[ended++];
          if (as === 'succeed') attempt?.resolve(readIn('2025-11-25'));
          else attempt?.reject(failure('refused'));
          await availability.attempt;
        };
        for (const { does } of moves) {
          if (does === 'ask') waiting.push(availability.discover());
          if (does === 'renew') waiting.push(availability.renew());
          if (does === 'probe') {
            waiting.push(availability.probe(10_000, AbortSignal.abort(new Error('given up'))).catch(() => undefined));
            waiting.push(availability.probe(10_000, new AbortController().signal).catch(() => undefined));
          }
          if (does === 'lose') availability.send({ is: 'lost', cause: failure('closed'), isOwn: true });
          if (does === 'succeed' || does === 'fail') await end(does);
          if (does === 'remove') {
            availability.send({ is: 'removed' });
            atRemoval ??= ran.length;
          }
          expect(attempts.length - ended).toBe(availability.attempt === undefined ? 0 : 1);
        }
        availability.send({ is: 'removed' });
        atRemoval ??= ran.length;
        while (ended < attempts.length) await end('succeed');
        await Promise.all(waiting);
        expect(availability.attempt).toBeUndefined();
        expect(ran.length).toBe(atRemoval);
      }),
    );
  });

  it('does not announce a backend that answers after its removal', async () => {
    const { availability, attempts, ran } = controlled();
    const asked = availability.discover();
    availability.send({ is: 'removed' });
    attempts[0]?.resolve(readIn('2026-07-28'));
    await asked;
    expect(ran).toEqual([]);
  });

  it('joins a listener of the status to the attempt that ends, and tries again only after the pause', async () => {
    const { availability, attempts, onEffect } = controlled();
    const joined: Promise<void>[] = [];
    onEffect((effect) => {
      if (effect.do === 'announce') joined.push(availability.discover());
    });
    const asked = availability.discover();
    attempts[0]?.reject(failure('refused'));
    await asked;
    await Promise.all(joined);
    expect(joined).toHaveLength(1);
    expect(attempts).toHaveLength(1);
    expect(availability.status).toBe('unavailable');
    availability.send({ is: 'removed' });
  });

  it('applies the health that a listener reports at once, and its effects after those that wait', async () => {
    const { availability, attempts, ran, onEffect } = controlled();
    onEffect((effect) => {
      if (effect.do !== 'announce') return;
      availability.send({ is: 'health', health: healthOf('unhealthy') });
      expect(availability.isExcluded).toBe(true);
    });
    const asked = availability.discover();
    attempts[0]?.resolve(readIn('2026-07-28'));
    await asked;
    expect(names(ran)).toEqual(['outdate-lists', 'announce', 'serve-lists', 'stop-calls']);
  });
});
