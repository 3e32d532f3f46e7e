import { DEFAULT_LIMITS, type Era } from '@toolmgr/core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { BackendListing } from '../../../core/backend/backend-manager.ts';
import { ListCache } from '../../../core/backend/lists/list-cache.ts';
import type { BackendStatus } from '../../../core/contract/backend.ts';
import fc from '../../support/fast-check.ts';
import { proves } from '../../support/proves.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the lists of a backend that is away', () => {
  proves('choice.backend.away-list-kept', 'are served for 60 seconds', () => {
    const lists = listCache(() => {});
    lists.store('', LISTING);
    lists.startGrace();
    vi.advanceTimersByTime(59_999);
    expect(lists.of('')).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(lists.of('')).toBeUndefined();
  });

  it('have no timer after the removal of the backend', () => {
    const changed = vi.fn();
    const lists = listCache(changed);
    lists.store('', LISTING);
    lists.stop();
    lists.startGrace();
    expect(vi.getTimerCount()).toBe(0);
    expect(changed).toHaveBeenCalledOnce();
  });
});

const CLASSES = ['', 'elicitation', '@ada', '@bob', 'elicitation@ada', '@eve', '@kim'];
const MOST_CALLERS = 3;
const GRACE_MS = 60_000;

describe('the lists of callers', () => {
  it('are bounded, oldest first, and say when to read and when to wait', () => {
    const lists = listCache(() => {});
    for (const caller of ['@a', '@b', '@c', '@a', '@d']) lists.store(caller, LISTING);
    expect([...lists.byClass.keys()].sort()).toEqual(['@a', '@c', '@d']);
    expect(lists.knownOf('@a', true)).toBe('known');
    vi.advanceTimersByTime(60_000);
    expect(lists.knownOf('@a', true)).toBe('old');
    lists.missed('@a', 'timeout');
    expect(lists.knownOf('@a', true)).toBe('known');
    vi.advanceTimersByTime(5_000);
    expect(lists.knownOf('@a', true)).toBe('old');
    const failed = ['@w', '@x', '@y', '@z'];
    for (const caller of failed) lists.missed(caller, 'timeout');
    expect(failed.map((caller) => lists.knownOf(caller, true))).toEqual(['missing', 'known', 'known', 'known']);
  });
});

/** What happens to lists: they are read, the backend is lost and found, credentials change, time passes, and it is removed. */
const event = fc.oneof(
  fc.record({ is: fc.constant('read' as const), listClass: fc.constantFrom(...CLASSES), tools: fc.nat(2) }),
  fc.record({ is: fc.constant('read' as const), listClass: fc.constantFrom(...CLASSES), tools: fc.nat(2) }),
  fc.record({ is: fc.constant('not read' as const), listClass: fc.constantFrom(...CLASSES) }),
  fc.record({ is: fc.constant('credentials' as const), listClass: fc.constantFrom(...CLASSES) }),
  fc.record({ is: fc.constant('found' as const), era: fc.constantFrom<Era>('2025-11-25', '2026-07-28') }),
  fc.record({ is: fc.constant('status' as const), status: fc.constantFrom<BackendStatus>('ready', 'unauthenticated') }),
  fc.record({ is: fc.constant('wait' as const), ms: fc.oneof(fc.nat(6_000), fc.nat(70_000)) }),
  fc.constantFrom({ is: 'lost' as const }, { is: 'resumed' as const }, { is: 'removed' as const }),
);

describe('the lists of a backend, after any events', () => {
  /** Checks each event of many sequences. */
  const always = (check: (step: Step) => void) =>
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40, size: 'max' }), (events) => {
        vi.clearAllTimers();
        for (const step of steps(events)) check(step);
      }),
    );

  it('are reported once for each change, and for nothing else', () => {
    always(({ before, after, changed }) => {
      const differing = CLASSES.filter((listClass) => before.get(listClass) !== after.get(listClass));
      expect([...changed].sort()).toEqual(differing.sort());
    });
  });

  it('are those of a limited number of callers, of which one is forgotten only for another', () => {
    const callersIn = (lists: ReadonlyMap<string, number>) => [...lists.keys()].filter((name) => name.includes('@'));
    always(({ event: { is }, before, after }) => {
      expect(callersIn(after).length).toBeLessThanOrEqual(MOST_CALLERS);
      const isForgotten = is === 'read' && callersIn(before).some((name) => !after.has(name));
      if (isForgotten) expect(callersIn(after)).toHaveLength(MOST_CALLERS);
    });
  });

  it('are withdrawn when the grace period has passed, except those of callers while the gateway itself is refused', () => {
    always(({ event: { is }, after, status, isGraceOver }) => {
      if (is !== 'wait' || !isGraceOver) return;
      const left = [...after.keys()];
      if (status === 'unauthenticated') expect(left.every((listClass) => listClass.includes('@'))).toBe(true);
      else expect(left).toEqual([]);
    });
  });

  it('are not fresh after a change of credentials, and worth waiting for only when they are absent', () => {
    always(({ event: each, lists, after }) => {
      for (const listClass of CLASSES) {
        const known = lists.knownOf(listClass, false);
        expect(after.has(listClass) ? ['known', 'old'] : ['known', 'missing']).toContain(known);
      }
      if (each.is === 'credentials') expect(lists.isFresh(each.listClass)).toBe(false);
      if (each.is === 'not read') expect(lists.knownOf(each.listClass, true)).toBe('known');
    });
  });

  it('have one timer at most, and none after the removal', () => {
    always(({ isRemoved, changed }) => {
      expect(vi.getTimerCount()).toBeLessThanOrEqual(isRemoved ? 0 : 1);
      if (isRemoved) expect(changed).toEqual([]);
    });
  });
});

/** One event; `before` and `after`: the number of tools of each class. */
interface Step {
  readonly event: typeof event extends fc.Arbitrary<infer E> ? E : never;
  readonly lists: ListCache;
  readonly before: ReadonlyMap<string, number>;
  readonly after: ReadonlyMap<string, number>;
  readonly changed: readonly string[];
  readonly status: BackendStatus;
  readonly isGraceOver: boolean;
  readonly isRemoved: boolean;
}

function* steps(events: readonly Step['event'][]): Iterable<Step> {
  const changed: string[] = [];
  const availability = { status: 'ready' as BackendStatus };
  const lists = listCache((listClass) => changed.push(listClass), availability);
  const contents = () => new Map([...lists.byClass].map(([listClass, { tools }]) => [listClass, tools.length]));
  let graceEndsMs = Number.POSITIVE_INFINITY;
  let isRemoved = false;
  for (const each of events) {
    const before = contents();
    changed.length = 0;
    if (each.is === 'read') lists.store(each.listClass, { ...LISTING, tools: TOOLS.slice(0, each.tools) });
    if (each.is === 'not read') lists.missed(each.listClass, 'timeout');
    if (each.is === 'credentials') lists.credentialsChanged(each.listClass);
    // A removed backend is not found again.
    if (each.is === 'found' && !isRemoved) lists.outdate(each.era);
    if (each.is === 'status') availability.status = each.status;
    if (each.is === 'lost') lists.startGrace();
    if (each.is === 'resumed') lists.endGrace();
    if (each.is === 'removed') lists.stop();
    if (each.is === 'lost' && !isRemoved) graceEndsMs = Date.now() + GRACE_MS;
    if (each.is === 'resumed' || each.is === 'removed') graceEndsMs = Number.POSITIVE_INFINITY;
    isRemoved ||= each.is === 'removed';
    if (each.is === 'wait') vi.advanceTimersByTime(each.ms);
    const isGraceOver = Date.now() >= graceEndsMs;
    if (isGraceOver) graceEndsMs = Number.POSITIVE_INFINITY;
    const { status } = availability;
    yield { event: each, lists, before, after: contents(), changed: [...changed], status, isGraceOver, isRemoved };
  }
}

function listCache(
  changed: (listClass: string) => void,
  availability: { readonly status: BackendStatus } = { status: 'unavailable' },
): ListCache {
  const limits = { ...DEFAULT_LIMITS, callerLists: MOST_CALLERS, listGraceMs: GRACE_MS };
  return new ListCache({ limits, inherited: undefined, now: () => Date.now(), changed, availability });
}

const TOOLS = ['one', 'two'].map((key) => ({ key, definition: Buffer.from(`{"name":"${key}"}`) }));

const LISTING: BackendListing = {
  backend: 'far',
  era: '2026-07-28',
  hello: { info: {}, protocolVersion: '2026-07-28', capabilities: {}, instructions: undefined },
  tools: [],
  prompts: [],
  resources: [],
  templates: [],
};
