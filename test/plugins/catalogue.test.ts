import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPlugin } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { runConfig } from '@toolmgr/plugins/kit/workloads';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

describe('the catalogue', () => {
  it('says of each plugin the key of its section as the plugin does', async () => {
    const differing: string[] = [];
    let keys = 0;
    for (const [address, entry] of Object.entries(catalogue)) {
      const { contractKey } = await findPlugin(address, { catalogue, baseDir: '' });
      const listed = typeof entry === 'function' ? undefined : entry.section?.contractKey;
      if (listed !== undefined) keys++;
      if (listed !== contractKey) differing.push(`${address}: ${listed} and ${contractKey}`);
    }
    expect(differing).toEqual([]);
    expect(keys).toBeGreaterThan(12);
  });

  it('has the summary of each plugin, and the stability that its README says', async () => {
    const differing: string[] = [];
    for (const address of Object.keys(catalogue)) {
      const { stability, summary = '' } = await findPlugin(address, { catalogue, baseDir: '' });
      const path = join(ROOT, 'plugins', address, 'README.md');
      const said = existsSync(path) ? /Stability: (\w+)/.exec(readFileSync(path, 'utf8'))?.[1] : stability;
      if (stability === undefined || stability !== said) differing.push(`${address}: ${stability} and ${said}`);
      if (summary === '') differing.push(`${address}: no summary`);
    }
    expect(differing).toEqual([]);
  });

  it('has one plugin for each key, and one default of each choice', () => {
    const sections = Object.values(catalogue).flatMap((entry) =>
      typeof entry === 'function' ? [] : (entry.section ?? []),
    );
    const keys = sections.flatMap(({ contractKey = [] }) => contractKey);
    expect(new Set(keys).size).toBe(keys.length);
    const choices = sections.flatMap(({ choice = [] }) => choice);
    const defaults = choices.filter(({ isDefault }) => isDefault).map(({ of }) => of);
    expect(defaults.sort()).toEqual([...new Set(choices.map(({ of }) => of))].sort());
  });

  it('says of plugins that read flags which fields of a workload they are asked for', async () => {
    const places = Object.values(catalogue).flatMap((entry) =>
      typeof entry === 'function' ? [] : (entry.flags ?? []),
    );
    expect(places.length).toBeGreaterThan(15);
    const unknown = places.flatMap(({ fields }) => fields).filter((field) => !Object.hasOwn(runConfig.shape, field));
    expect(unknown).toEqual([]);
    for (const { read } of places) expect(await read()).toMatchObject({ fromFlags: { plan: expect.any(Function) } });
  });
});
