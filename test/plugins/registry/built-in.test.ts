import { describe, expect, it } from 'vitest';
import { builtInRegistry } from '../../../plugins/registry/built-in/built-in.ts';
import { readRegistryDocument } from '../../../plugins/registry/read-document.ts';
import { isRecordName } from '../../../plugins/registry/records/read-record.ts';
import { serverRecord, skillRecord } from '../../../plugins/registry/records/record-shapes.ts';

describe('the built-in registry', () => {
  const registry = builtInRegistry();

  it('has at least 40 servers, and uses all of them', () => {
    expect(registry.leftOut).toEqual([]);
    expect(registry.entries.length).toBeGreaterThanOrEqual(40);
  });

  it.each(registry.entries.map((entry) => [entry.name, entry] as const))(
    'says what %s is',
    (name, { image, remote }) => {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      const server = image ?? remote;
      expect(server?.title ?? server?.description).not.toBe('');
      expect(server?.description.length).toBeGreaterThan(5);
      expect(['Official', 'Community']).toContain(server?.tier);
      expect(['Active', 'Deprecated']).toContain(server?.status);
      expect(server?.tags?.length).toBeGreaterThan(0);
      for (const { description } of server?.env_vars ?? []) expect(description).toBeTruthy();
      if (remote !== undefined) expect(new URL(remote.url).protocol).toBe('https:');
      // what a local server may use is said, and packages have a version
      if (image !== undefined) expect(image.permissions).toBeDefined();
      if (image?.image.includes('://')) expect(image.image).toMatch(/@\d[^@/]*$/);
    },
  );

  it('is read again from its records, as another toolmgr reads them from the listing', () => {
    const servers = registry.records.map(({ record }) => ({ server: record, _meta: {} }));
    const again = readRegistryDocument(JSON.stringify({ servers }));
    if ('problem' in again) throw new Error(again.problem);
    expect(again.registry.leftOut).toEqual([]);
    const byName = new Map(again.registry.entries.map((entry) => [entry.name, entry]));
    for (const { name, ...entry } of registry.entries) {
      const { name: _, ...found } = byName.get(`dev.toolmgr/${name}`) ?? { name };
      expect(normalized(found), name).toEqual(normalized(entry));
    }
  });

  it('has records and skills of the shapes of the contract', () => {
    for (const { record } of registry.records) {
      expect(serverRecord.parse(record)).toEqual(record);
      expect(isRecordName(record.name)).toBe(true);
      expect(record.description.length).toBeLessThanOrEqual(100);
    }
    expect(registry.skills.length).toBeGreaterThan(0);
    for (const skill of registry.skills) expect(skillRecord.parse(skill)).toEqual(skill);
  });
});

/** Records say empty lists where entries say nothing. */
function normalized(value: object): unknown {
  return JSON.parse(JSON.stringify(value, (_, each) => (Array.isArray(each) && each.length === 0 ? undefined : each)));
}
