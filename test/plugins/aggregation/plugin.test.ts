import { type CatalogDraft, findPlugin, type ToolEntry } from '@toolmgr/core';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import aggregation from '../../../plugins/aggregation/index.ts';
import { built, keysOf } from '../../support/catalogs.ts';
import { listingOf, listingsOf, rawItem } from '../../support/listings.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

describe('the aggregation plugin', () => {
  proves('ask.plugin.aggregation', 'is in the catalogue under its address and owns its contract key', async () => {
    expect(await findPlugin('aggregation', { catalogue, baseDir: '' })).toBe(aggregation);
    expect(aggregation).toMatchObject({ address: 'aggregation', contractKey: 'aggregation' });
  });

  it('describes every key, for the reference page and the CRD', () => {
    expect(undescribed(z.toJSONSchema(aggregation.config, { io: 'input' }), 'aggregation')).toEqual([]);
  });

  it('changes only overridden members and keeps all other bytes', async () => {
    const text = '{"z":12345678901234567890, "description":"d","name":"t","annotations":{ "title" : "T","n":1.0}}';
    const listing = { ...listingOf('a', {}), tools: [rawItem('t', text)] };
    const shape = await shapeOf({
      tools: [{ workload: 'a', overrides: { t: { description: 'é"', annotations: { title: 'N' } } } }],
    });
    const { catalog } = built(new Map([['a', listing]]), { shape });
    expect(catalog.visible('tool')[0]?.definition.toString()).toBe(
      '{"z":12345678901234567890,"description":"é\\"","name":"a_t","annotations":{"title":"N","n":1.0}}',
    );
  });

  it('returns the same buffers in a rebuild', async () => {
    const listings = listingsOf({ a: { tools: ['t'] } });
    const shape = await shapeOf({ tools: [{ workload: 'a', overrides: { t: { description: 'new' } } }] });
    const [first, second] = [built(listings, { shape }), built(listings, { shape })].map(
      ({ catalog }) => catalog.find('tool', 'a_t')?.definition,
    );
    expect(first).toBeDefined();
    expect(first).toBe(second);
  });

  it('does not change tools of other plugins', async () => {
    const virtual: ToolEntry = {
      kind: 'tool',
      key: 't',
      backend: 'composite',
      original: 't',
      definition: Buffer.from('{"name":"t"}'),
      shapedBy: [],
      run: () => Promise.reject(new Error('never called')),
    };
    for (const conflictResolution of ['prefix', 'manual'] as const) {
      const shape = await shapeOf({
        conflictResolution,
        excludeAllTools: true,
        tools: [{ workload: 'composite', excludeAll: true, overrides: { t: { name: 'other' } } }],
      });
      const withVirtual: typeof shape = (draft, inputs) =>
        shape({ ...draft, tools: [...draft.tools, virtual] }, inputs);
      const { catalog } = built(listingsOf({ a: { tools: ['t'] } }), { shape: withVirtual });
      expect(catalog.visible('tool')).toEqual([virtual]);
    }
  });

  it('does not change its input', async () => {
    const shape = await shapeOf({ excludeAllTools: true, tools: [{ workload: 'a', overrides: { t: { name: 'u' } } }] });
    const freezing = (draft: CatalogDraft) => {
      for (const list of [draft.tools, draft.prompts, draft.warnings]) Object.freeze(list);
      for (const entry of [...draft.tools, ...draft.prompts]) Object.freeze(entry);
      return shape(Object.freeze(draft), Object.freeze({ backends: ['a', 'b'], listed: [] }));
    };
    const { catalog } = built(listingsOf({ a: { tools: ['t'], prompts: ['p'] } }), { shape: freezing });
    expect(keysOf(catalog, 'prompt')).toEqual(['a_p']);
  });
});

async function shapeOf(config: z.input<typeof aggregation.config>) {
  const { hooks } = await bootPlugin(aggregation, config);
  return (...given: Parameters<typeof hooks.shapeCatalog.call>) => hooks.shapeCatalog.call(...given);
}

/** Paths of properties without a description. */
function undescribed(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties, items, additionalProperties } = schema as Record<string, unknown>;
  const inner = Object.entries(properties ?? {}).flatMap(([key, value]) => [
    ...('description' in value ? [] : [`${path}.${key}`]),
    ...undescribed(value, `${path}.${key}`),
  ]);
  return [...inner, ...undescribed(items, `${path}[]`), ...undescribed(additionalProperties, `${path}.*`)];
}
