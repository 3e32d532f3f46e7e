import { type CatalogRebuilt, GatewayFault, renamed } from '@toolmgr/core';
import { describe, expect, it, vi } from 'vitest';
import type { CatalogChange, Catalogs } from '../../../core/catalog/catalog.ts';
import { type CatalogsParts, createCatalogs } from '../../../core/catalog/create-catalogs.ts';
import { keysOf } from '../../support/catalogs.ts';
import { cpuClock } from '../../support/cpu-clock.ts';
import { listingOf, listingsOf, type Offer } from '../../support/listings.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

describe('the catalogues of a gateway', () => {
  it('build a class on first use, and keep it', () => {
    const world = createWorld({ a: { tools: ['t'] } });
    expect(world.catalogs.classes()).toEqual([]);
    const first = world.catalogs.of('roots');
    expect(world.catalogs.of('roots')).toBe(first);
    expect(first.capabilityClass).toBe('roots');
    expect(world.catalogs.classes()).toEqual(['roots']);
    expect(world.rebuilt).toMatchObject([{ capabilityClass: 'roots', kinds: ['tools'], tools: 1, warnings: [] }]);
    expect(world.changes).toEqual([]);
  });

  it('list what a class sees of each backend', () => {
    const world = createWorld({ a: { tools: ['t'] } });
    world.byClass.set('sampling', listingsOf({ a: { tools: ['t', 'more'] } }));
    expect(keysOf(world.catalogs.of(''), 'tool')).toEqual(['t']);
    expect(keysOf(world.catalogs.of('sampling'), 'tool')).toEqual(['more', 't']);
  });

  it('report many changes as one, with the kinds that differ', async () => {
    const world = createWorld({ a: { tools: ['t'], prompts: ['p'] }, b: {} });
    world.catalogs.of('');
    world.offer({ a: { tools: ['t'], prompts: ['q'] }, b: { templates: ['x://{a}'] } });
    world.catalogs.changed('a', '');
    world.catalogs.changed('b', '');
    await expect.poll(() => world.changes).toHaveLength(1);
    expect(world.changes).toEqual([{ capabilityClass: '', kinds: ['prompts', 'resources'] }]);
    expect(keysOf(world.catalogs.of(''), 'prompt')).toEqual(['q']);
    expect(world.rebuilt.map(({ kinds }) => kinds)).toEqual([
      ['tools', 'prompts'],
      ['prompts', 'resources'],
    ]);
  });

  proves(
    'ask.aggregation.one-notification',
    'notify once when a backend is added, removed, changed or back',
    async () => {
      const world = createWorld({ a: { tools: ['t'] } });
      world.catalogs.of('');
      const steps: Record<string, Offer>[] = [
        { a: { tools: ['t'] }, b: { tools: ['u'] } },
        { b: { tools: ['u'] } },
        { b: { tools: ['u', 'v'] } },
        { a: { tools: ['t'] }, b: { tools: ['u', 'v'] } },
      ];
      for (const [index, offers] of steps.entries()) {
        world.offer(offers);
        for (const backend of ['a', 'b', 'a', 'b']) world.catalogs.changed(backend, '');
        await expect.poll(() => world.changes).toHaveLength(index + 1);
      }
      expect(new Set(world.changes.map(({ kinds }) => kinds.join()))).toEqual(new Set(['tools']));
    },
  );

  it('are not built again for each of many backends that become ready while requests come', () => {
    const slow: CatalogsParts['shape'] = (draft) => {
      const endMs = performance.now() + 20;
      while (performance.now() < endMs); // a build that takes time
      return draft;
    };
    const world = createWorld({}, 60_000, slow);
    world.catalogs.of('');
    for (let at = 1; at <= 50; at++) {
      world.listings.set(`b${at}`, listingOf(`b${at}`, { tools: [`t${at}`] }));
      world.catalogs.changed(`b${at}`, '');
      world.catalogs.of('');
    }
    expect(world.shaping.runs).toBeGreaterThan(1);
    expect(world.shaping.runs).toBeLessThan(10); // 51 without a rest between builds
  });

  it('stay silent when a rebuild gives the same lists', async () => {
    const world = createWorld({ a: { tools: ['t'] } });
    const first = world.catalogs.of('');
    world.offer({ a: { tools: ['t'] } });
    world.catalogs.changed('a', '');
    await expect.poll(() => world.catalogs.of('')).not.toBe(first);
    expect(world.changes).toEqual([]);
    expect(world.rebuilt).toHaveLength(1);
  });

  it('rebuild every class in use for a change of the base, and one class for its own', async () => {
    const world = createWorld({ a: { tools: ['t'] } });
    for (const capabilityClass of ['', 'roots', 'sampling']) world.catalogs.of(capabilityClass);
    world.offer({ a: { tools: ['u'] } });
    world.catalogs.changed('a', 'roots');
    await expect.poll(() => world.changes).toHaveLength(1);
    expect(world.changes[0]?.capabilityClass).toBe('roots');
    world.catalogs.changed('a', 'never asked for');
    world.catalogs.changed('a', '');
    await expect.poll(() => world.changes).toHaveLength(3);
    expect(world.changes.slice(1).map(({ capabilityClass }) => capabilityClass)).toEqual(['', 'sampling']);
  });

  it('keep the old catalogue when a plugin fails, log why, and rebuild at the next change', async () => {
    const world = createWorld({ a: { tools: ['t'] } });
    const first = world.catalogs.of('');
    world.shaping.fault = new Error('boom');
    world.catalogs.changed('a', '');
    await expect.poll(() => world.errors()).toHaveLength(1);
    expect(world.errors()[0]).toMatchObject({ code: 'PLUGIN_FAILED', cause: expect.stringContaining('boom') });
    expect(world.catalogs.of('')).toBe(first);
    world.shaping.fault = undefined;
    world.offer({ a: { tools: ['u'] } });
    world.catalogs.changed('a', '');
    await expect.poll(() => keysOf(world.catalogs.of(''), 'tool')).toEqual(['u']);
  });

  it('throw the fault while there is no catalogue to keep, until a change repairs it', async () => {
    const world = createWorld({ a: { tools: ['t'] } });
    world.shaping.fault = new GatewayFault('CATALOG_CONFLICT', 'two of a kind');
    expect(() => world.catalogs.of('')).toThrow('two of a kind');
    expect(() => world.catalogs.of('')).toThrow('two of a kind');
    expect(world.shaping.runs).toBe(1);
    world.shaping.fault = undefined;
    world.catalogs.changed('a', '');
    await expect.poll(() => world.changes).toEqual([{ capabilityClass: '', kinds: ['tools'] }]);
    expect(keysOf(world.catalogs.of(''), 'tool')).toEqual(['t']);
  });

  it('do not hide a fault behind an empty catalogue', async () => {
    const world = createWorld({});
    expect(world.catalogs.of('').visible('tool')).toEqual([]);
    world.shaping.fault = new GatewayFault('CATALOG_CONFLICT', 'two of a kind');
    world.offer({ a: { tools: ['t'] } });
    world.catalogs.changed('a', '');
    await vi.waitFor(() => expect(() => world.catalogs.of('')).toThrow('two of a kind'), { timeout: 20_000 });
  });

  proves(
    'choice.aggregation.claims-dropped',
    'log a warning once, and what several backends claim as errors',
    async () => {
      const both = { tools: ['t'], prompts: ['p'] };
      const listsTwice = { ...both, tools: ['t', 'u', 'u'] };
      const world = createWorld({ a: listsTwice, b: both });
      world.catalogs.of('');
      expect(world.errors()).toEqual([
        { capabilityClass: '', warning: 'tool "t" is dropped: a, b all claim that name' },
        { capabilityClass: '', warning: 'prompt "p" is dropped: a, b all claim that name' },
      ]);
      expect(world.lines('warn')).toEqual([
        { capabilityClass: '', warning: 'backend a lists tool "u" more than once: the first one is used' },
      ]);
      world.offer({ a: { ...listsTwice, resources: ['x://1'] }, b: both });
      world.catalogs.changed('a', '');
      await expect.poll(() => world.changes).toHaveLength(1);
      expect(world.errors()).toHaveLength(2);
      expect(world.lines('warn')).toHaveLength(1);
    },
  );

  it('tell the other listeners when one throws, and none that left', async () => {
    const world = createWorld({ a: { tools: ['t'] } });
    const heard: CatalogChange[] = [];
    world.catalogs.onChanged(() => {
      throw new Error('deaf');
    });
    const leave = world.catalogs.onChanged(() => heard.push({ capabilityClass: 'gone', kinds: [] }));
    world.catalogs.onChanged((change) => heard.push(change));
    leave();
    world.catalogs.of('');
    world.offer({});
    world.catalogs.changed('a', '');
    await expect.poll(() => heard).toEqual([{ capabilityClass: '', kinds: ['tools'] }]);
    expect(world.errors()).toEqual([{ cause: 'deaf' }]);
  });

  it('rebuild nothing after they are stopped', () => {
    vi.useFakeTimers();
    try {
      const world = createWorld({ a: { tools: ['t'] } });
      world.catalogs.of('');
      world.offer({});
      world.catalogs.changed('a', '');
      world.catalogs.stop();
      world.catalogs.changed('a', '');
      vi.advanceTimersByTime(60_000);
      expect(keysOf(world.catalogs.of(''), 'tool')).toEqual(['t']);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('do not delay changes because of one backend that changes all the time', () => {
    vi.useFakeTimers();
    try {
      const world = createWorld({ a: { tools: ['t'] } }, 150);
      world.catalogs.of('');
      world.offer({ a: { tools: ['u'] } });
      for (let n = 0; n < 15; n++) {
        world.catalogs.changed('a', '');
        vi.advanceTimersByTime(10);
      }
      expect(world.changes).toHaveLength(1);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('a large catalogue', () => {
  it('of 5,000 tools over 20 backends is built, served and rebuilt in modest time', () => {
    const backends = Array.from({ length: 20 }, (_, at) => `backend${at}`);
    const description = 'what the tool does, at some length. '.repeat(20);
    const schema = { type: 'object', properties: { path: { type: 'string', description: 'a path' } } };
    const tools = Array.from({ length: 250 }, (_, at) => ({ name: `tool_${at}`, description, inputSchema: schema }));
    const world = createWorld(Object.fromEntries(backends.map((name) => [name, { tools }])), 0, (draft) => ({
      ...draft,
      tools: draft.tools.map((tool) => renamed(tool, `${tool.backend}_${tool.key}`, 'test')),
    }));
    const coldMs = timed(() => world.catalogs.of('').page('tool', '2026-07-28', undefined));
    world.listings.set('backend7', listingOf('backend7', { tools: tools.slice(1) }));
    const warmMs = timed(() => world.catalogs.of('roots').page('tool', '2026-07-28', undefined));
    const again = () => timed(() => world.catalogs.of('').page('tool', '2026-07-28', undefined));
    const readyMs = Math.min(again(), again(), again()); // the clock is only as exact as the ticks of the system
    expect(world.catalogs.of('').visible('tool')).toHaveLength(5_000);
    console.info(`5,000 tools: cold ${coldMs.toFixed(1)} ms, one backend changed ${warmMs.toFixed(1)} ms`);
    expect(coldMs).toBeLessThan(2_000); // measured 85 ms and 14 ms
    expect(warmMs).toBeLessThan(1_000);
    expect(readyMs).toBeLessThan(5);
  });
});

function createWorld(
  offers: Record<string, Offer>,
  coalesceMs = 5,
  shape: CatalogsParts['shape'] | undefined = undefined,
) {
  const listings = listingsOf(offers);
  const byClass = new Map<string, ReturnType<typeof listingsOf>>();
  const core = pluginCore();
  const changes: CatalogChange[] = [];
  const rebuilt: CatalogRebuilt[] = [];
  const shaping: { fault: Error | undefined; runs: number } = { fault: undefined, runs: 0 };
  const catalogs: Catalogs = createCatalogs({
    manager: { listings: (capabilityClass) => byClass.get(capabilityClass) ?? listings },
    backends: () => [...listings.keys()],
    shape(draft, inputs) {
      shaping.runs++;
      if (shaping.fault !== undefined) throw shaping.fault;
      return shape === undefined ? draft : shape(draft, inputs);
    },
    serverInfo: { name: 'gateway', version: '1' },
    limits: { pageSize: 1000, listTtlMs: 0, nameBytes: 1024, uriBytes: 8192, coalesceMs },
    now: () => performance.now(),
    log: core.log,
    onRebuilt: (event) => rebuilt.push(event),
  });
  catalogs.onChanged((change) => changes.push(change));
  const lines = (level: string) => core.lines.filter((line) => line.level === level).map(({ fields }) => fields);
  return {
    catalogs,
    changes,
    rebuilt,
    shaping,
    byClass,
    listings,
    lines,
    errors: () => lines('error'),
    offer(next: Record<string, Offer>) {
      listings.clear();
      for (const [backend, listing] of listingsOf(next)) listings.set(backend, listing);
    },
  };
}

function timed(run: () => unknown): number {
  const usedMs = cpuClock();
  run();
  return usedMs();
}
