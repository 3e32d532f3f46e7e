import { describe, expect, it } from 'vitest';
import type { CatalogChange } from '../../../core/catalog/catalog.ts';
import { createCatalogs } from '../../../core/catalog/create-catalogs.ts';
import { callerClass, listClassOf, sharedClass } from '../../../core/mcp/capabilities.ts';
import { keysOf } from '../../support/catalogs.ts';
import { listingsOf } from '../../support/listings.ts';
import { pluginCore } from '../../support/plugin-core.ts';

const ADA = callerClass('roots', 'idp\0ada');
const BOB = callerClass('roots', 'idp\0bob');

/** Catalogues over lists by class, of which some are a single caller's. */
function world() {
  const lists = new Map([['roots', listingsOf({ a: { tools: ['shared'] } })]]);
  const core = pluginCore();
  const changes: CatalogChange[] = [];
  const catalogs = createCatalogs({
    manager: {
      listings: (name) => lists.get(name) ?? lists.get(sharedClass(name)) ?? new Map(),
      hasLists: (name) => lists.has(name),
    },
    backends: () => ['a'],
    shape: (draft) => draft,
    serverInfo: { name: 'gateway', version: '1' },
    limits: { pageSize: 1000, listTtlMs: 0, nameBytes: 1024, uriBytes: 8192, coalesceMs: 5 },
    now: core.now,
    log: core.log,
    onRebuilt: () => undefined,
  });
  catalogs.onChanged((change) => changes.push(change));
  return { lists, catalogs, changes };
}

describe('the class of a caller', () => {
  it('tells callers apart and belongs to its capability class, without saying who it is', () => {
    expect(ADA).not.toBe(BOB);
    expect(callerClass('roots', 'idp\0ada')).toBe(ADA);
    expect([sharedClass(ADA), sharedClass('roots'), sharedClass(callerClass('', 'x'))]).toEqual(['roots', 'roots', '']);
    expect(ADA).not.toContain('ada');
  });

  it('is what an owner sees where it has one', () => {
    const caller = { issuer: '', subject: 'a', key: 'a', claims: {} };
    const owner = { key: 'k', caller, capabilities: {}, capabilityClass: 'roots' };
    expect(listClassOf(owner)).toBe('roots');
    expect(listClassOf({ ...owner, listClass: ADA })).toBe(ADA);
  });
});

describe('the catalogue of a caller', () => {
  it('is that of the capability class until there are lists of its own', () => {
    const { lists, catalogs } = world();
    expect(catalogs.of(ADA)).toBe(catalogs.of('roots'));
    lists.set(ADA, listingsOf({ a: { tools: ['own'] } }));
    expect(keysOf(catalogs.of(ADA), 'tool')).toEqual(['own']);
    expect(catalogs.of(BOB)).toBe(catalogs.of('roots'));
  });

  it('tells this caller alone when its lists come, change and go', async () => {
    const { lists, catalogs, changes } = world();
    catalogs.of(ADA);
    const steps: (readonly string[] | undefined)[] = [['own'], ['own', 'more'], undefined];
    for (const [index, tools] of steps.entries()) {
      if (tools === undefined) lists.delete(ADA);
      else lists.set(ADA, listingsOf({ a: { tools } }));
      catalogs.changed('a', ADA);
      await expect.poll(() => changes).toHaveLength(index + 1);
      expect(changes.at(-1)).toEqual({ capabilityClass: ADA, kinds: ['tools'] });
      expect(keysOf(catalogs.of(ADA), 'tool')).toEqual([...(tools ?? ['shared'])].sort());
    }
    expect(catalogs.classes()).toEqual(['roots']);
  });

  it('is built again when the lists of its capability class change', async () => {
    const { lists, catalogs, changes } = world();
    lists.set(ADA, listingsOf({ a: { tools: ['own'] } }));
    catalogs.of('roots');
    const before = catalogs.of(ADA);
    lists.set('roots', listingsOf({ a: { tools: ['shared', 'new'] } }));
    catalogs.changed('a', 'roots');
    await expect.poll(() => catalogs.of(ADA)).not.toBe(before);
    expect(changes).toEqual([{ capabilityClass: 'roots', kinds: ['tools'] }]);
  });
});
