import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { built, keysOf } from '../../support/catalogs.ts';
import fc from '../../support/fast-check.ts';
import { listingsOf } from '../../support/listings.ts';
import { proves } from '../../support/proves.ts';

const LONG = 'a_rather_long_tool_name_that_some_clients_refuse';
const sha = (text: string) => createHash('sha256').update(text).digest('hex');

describe('a bound on tool names', () => {
  proves(
    ['choice.aggregation.name-length-bound', 'ask.aggregation.name-bound'],
    'gives a long name its start and a hash of the whole, a short one nothing',
    () => {
      const { catalog } = built(listingsOf({ a: { tools: [LONG, 'short'] } }), { maxToolNameLength: 24 });
      expect(keysOf(catalog, 'tool')).toEqual([`a_rather_long_t_${sha(LONG).slice(0, 8)}`, 'short']);
      expect(catalog.visible('tool')[0]?.shapedBy).toEqual(['maxToolNameLength']);
    },
  );

  proves('choice.aggregation.name-length-callable', 'finds a tool by its short name only, and lists it so', () => {
    const { catalog } = built(listingsOf({ a: { tools: [LONG] } }), { maxToolNameLength: 24 });
    const [entry] = catalog.visible('tool');
    expect(catalog.find('tool', entry?.key ?? '')).toMatchObject({ backend: 'a', original: LONG });
    expect(JSON.parse(String(entry?.definition)).name).toBe(entry?.key);
    expect(catalog.find('tool', LONG)).toBeUndefined();
    expect(catalog.findForInnerCall(`a.${LONG}`)).toBe(entry);
  });

  it('leaves a name of exactly the bound as it is', () => {
    const { catalog } = built(listingsOf({ a: { tools: ['x'.repeat(24)] } }), { maxToolNameLength: 24 });
    expect(keysOf(catalog, 'tool')).toEqual(['x'.repeat(24)]);
  });

  it('uses a longer hash when the short name is taken', () => {
    const short = `a_rather_long_t_${sha(LONG).slice(0, 8)}`;
    const { catalog } = built(listingsOf({ a: { tools: [LONG] }, b: { tools: [short] } }), { maxToolNameLength: 24 });
    expect(catalog.find('tool', short)?.backend).toBe('b');
    expect(catalog.find('tool', `a_rather_long__${sha(LONG).slice(0, 9)}`)?.backend).toBe('a');
  });

  it('keeps two names apart whose starts and hashes begin alike', () => {
    const [first, second] = ['a_rather_long_tool_name_33100', 'a_rather_long_tool_name_68789'];
    expect(sha(first).slice(0, 8)).toBe(sha(second).slice(0, 8)); // found by search: 2a7193e7
    for (const tools of [
      [first, second],
      [second, first],
    ]) {
      const { catalog } = built(listingsOf({ a: { tools } }), { maxToolNameLength: 24 });
      expect(catalog.find('tool', 'a_rather_long_t_2a7193e7')?.original).toBe(first);
      expect(catalog.find('tool', `a_rather_long__${sha(second).slice(0, 9)}`)?.original).toBe(second);
    }
  });

  it('never cuts a character in two', () => {
    const name = `${'x'.repeat(14)}😀${'y'.repeat(20)}`;
    const { catalog } = built(listingsOf({ a: { tools: [name] } }), { maxToolNameLength: 24 });
    expect(keysOf(catalog, 'tool')).toEqual([`${'x'.repeat(14)}_${sha(name).slice(0, 8)}`]);
  });

  it('keeps names distinct, in bounds, and independent of what else is there', () => {
    const names = fc.uniqueArray(
      fc.string({ unit: fc.constantFrom('a', 'b', '_', '😀'), minLength: 1, maxLength: 40 }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(names, fc.integer({ min: 16, max: 24 }), (tools, maxToolNameLength) => {
        const { catalog } = built(listingsOf({ a: { tools } }), { maxToolNameLength });
        const keys = keysOf(catalog, 'tool');
        expect(new Set(keys).size).toBe(tools.length);
        for (const { key, original } of catalog.visible('tool')) {
          expect(key.length).toBeLessThanOrEqual(maxToolNameLength);
          const alone = built(listingsOf({ a: { tools: [original] } }), { maxToolNameLength });
          expect(keysOf(alone.catalog, 'tool')).toEqual([key]);
        }
      }),
    );
  });
});
