import { describe, expect } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { type GoldenCase, outcomeOf, readTable, tableNames } from './tables.ts';

describe('templates, compared with tables written by Go', () => {
  for (const name of tableNames()) {
    proves('choice.templates.like-go', `renders and fails as Go does: ${name}`, () => {
      const { cases } = readTable(name);
      expect(cases.length).toBeGreaterThan(15);
      for (const one of cases)
        expect(shown(one, outcomeOf(one.template, one.data)), one.template).toEqual(expected(one));
    });
  }

  proves('choice.templates.like-go', 'has at least 500 cases, a fifth of them errors', () => {
    const cases = tableNames().flatMap((name) => readTable(name).cases);
    expect(cases.length).toBeGreaterThan(500);
    expect(cases.filter(({ fails }) => fails !== undefined).length).toBeGreaterThan(100);
  });

  proves('choice.templates.integers', 'compares an integral number of the data with 10 and with 10.0', () => {
    // Go compares a float64 only with 10.0, and an int64 only with 10; the tables contain both
    const { cases } = readTable('numbers.json');
    const asFloats = cases.filter(({ numbers }) => numbers === 'float64');
    expect(asFloats.length).toBeGreaterThan(8);
    for (const one of asFloats) expect(outcomeOf(one.template, one.data)).toEqual({ output: one.output });
  });
});

/** Texts must be equal; errors occur in the same phase and contain the text from the table. */
function expected({ output, fails, says }: GoldenCase): object {
  return output === undefined ? { fails, says } : { output };
}

function shown({ says }: GoldenCase, { output, fails, error = '' }: ReturnType<typeof outcomeOf>): object {
  if (output !== undefined) return { output };
  return { fails, says: says === undefined || error.includes(says) ? says : error };
}
