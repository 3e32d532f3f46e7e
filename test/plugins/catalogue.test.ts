import { findPlugin } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';

describe('the catalogue', () => {
  it('says of each plugin the key of its section as the plugin does', async () => {
    const differing: string[] = [];
    let keys = 0;
    for (const [address, entry] of Object.entries(catalogue)) {
      const { contractKey } = await findPlugin(address, { catalogue, baseDir: '' });
      const listed = typeof entry === 'function' ? undefined : entry.section.contractKey;
      if (listed !== undefined) keys++;
      if (listed !== contractKey) differing.push(`${address}: ${listed} and ${contractKey}`);
    }
    expect(differing).toEqual([]);
    expect(keys).toBeGreaterThan(12);
  });

  it('has one plugin for each key, and one default of each choice', () => {
    const sections = Object.values(catalogue).flatMap((entry) => (typeof entry === 'function' ? [] : [entry.section]));
    const keys = sections.flatMap(({ contractKey = [] }) => contractKey);
    expect(new Set(keys).size).toBe(keys.length);
    const choices = sections.flatMap(({ choice = [] }) => choice);
    const defaults = choices.filter(({ isDefault }) => isDefault).map(({ of }) => of);
    expect(defaults.sort()).toEqual([...new Set(choices.map(({ of }) => of))].sort());
  });
});
