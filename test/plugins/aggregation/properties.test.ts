import { decodeObject, GatewayFault } from '@toolmgr/core';
import { describe, expect } from 'vitest';
import type { Catalog } from '../../../core/catalog/catalog.ts';
import { aggregationConfig } from '../../../plugins/aggregation/config.ts';
import fc from '../../support/fast-check.ts';
import { buildGolden, type Golden } from '../../support/golden-catalog.ts';
import { proves } from '../../support/proves.ts';

// Few words and separators, so that names collide, also after prefixing and shortening.
const word = fc.constantFrom('a', 'b', 'a_b', 'search', 'constructor', 'a_rather_long_name_of_a_tool');
const words = fc.uniqueArray(word, { maxLength: 5 });
const offer = fc.record({
  tools: words,
  prompts: words,
  resources: words.map((names) => names.map((name) => `x://${name}`)),
  templates: words.map((names) => names.map((name) => `x://${name}/{id}`)),
});
const backends = fc.dictionary(word, offer, { maxKeys: 5, noNullPrototype: true });
const tools = fc.uniqueArray(
  fc.record(
    {
      workload: word,
      excludeAll: fc.boolean(),
      filter: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
      overrides: fc.dictionary(word, fc.record({ name: word }), { maxKeys: 3, noNullPrototype: true }),
    },
    { requiredKeys: ['workload'] },
  ),
  { selector: ({ workload }) => workload, minLength: 1, maxLength: 4 },
);
const aggregation = fc.oneof(
  fc.record({
    conflictResolution: fc.constantFrom('prefix', 'manual'),
    excludeAllTools: fc.boolean(),
    tools,
    conflictResolutionConfig: fc.record({ prefixFormat: fc.constantFrom('{workload}_', '{workload}', 'x_', '') }),
  }),
  fc.record({
    conflictResolution: fc.constant('priority'),
    tools,
    conflictResolutionConfig: fc.record({ priorityOrder: fc.uniqueArray(word, { minLength: 1 }) }),
  }),
);
const golden: fc.Arbitrary<Golden> = fc.record({
  says: fc.constant('generated'),
  backends,
  aggregation,
  maxToolNameLength: fc.constantFrom(undefined, 16, 30),
});

describe('for any backends and any configuration', () => {
  proves(
    'choice.aggregation.hidden-not-callable',
    'a tool is listed exactly when clients can call it; hidden ones only for inner calls',
    () => {
      let hiddenOnes = 0;
      check((catalog) => {
        for (const kind of ['tool', 'prompt'] as const) {
          const entries = catalog.visible(kind);
          expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
          for (const entry of entries) {
            expect(catalog.find(kind, entry.key)).toBe(entry);
            expect(decodeObject(entry.definition)?.name).toBe(entry.key);
          }
        }
        for (const entry of catalog.visible('tool')) expect(catalog.findForInnerCall(entry.key)).toBe(entry);
        for (const entry of catalog.allTools().filter(({ hiddenBy }) => hiddenBy !== undefined)) {
          hiddenOnes++;
          expect(catalog.find('tool', entry.key)).not.toBe(entry);
          expect(catalog.findForInnerCall(`${entry.backend}.${entry.original}`)).toBe(entry);
        }
      });
      expect(hiddenOnes).toBeGreaterThan(100); // the generator produces hidden tools
    },
  );

  proves(
    ['choice.aggregation.deterministic', 'choice.aggregation.static-sorted', 'ask.aggregation.deterministic'],
    'the order of the backends does not change a byte',
    () => {
      check((catalog, input) => {
        const other = buildGolden(input, Object.keys(input.backends).reverse()).catalog;
        for (const kind of ['tool', 'prompt', 'resource', 'template'] as const) {
          expect(other.page(kind, '2026-07-28', undefined)).toEqual(catalog.page(kind, '2026-07-28', undefined));
          expect(other.visible(kind)).toEqual(catalog.visible(kind));
        }
        expect(other.allTools()).toEqual(catalog.allTools());
        expect(other.warnings).toEqual(catalog.warnings);
      });
    },
  );
});

/** Runs the property on every generated case that builds; a conflict under `manual` is an outcome too. */
function check(property: (catalog: Catalog, input: Golden) => void): void {
  let ran = 0;
  fc.assert(
    fc.property(golden, (input) => {
      if (!aggregationConfig.safeParse(input.aggregation).success) return; // duplicate override names
      const catalog = catalogOrConflict(input);
      if (catalog === undefined) return;
      ran++;
      property(catalog, input);
    }),
    { numRuns: 500 },
  );
  expect(ran).toBeGreaterThan(200);
}

function catalogOrConflict(input: Golden): Catalog | undefined {
  try {
    return buildGolden(input).catalog;
  } catch (thrown) {
    if (thrown instanceof GatewayFault && thrown.code === 'CATALOG_CONFLICT') return undefined;
    throw thrown;
  }
}
