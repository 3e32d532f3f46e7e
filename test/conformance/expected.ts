import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { ScenarioOutcome } from './suite.ts';

const MIN_REASON = 20; // characters: a single word is not a reason

const schema = z.record(z.string(), z.record(z.string(), z.record(z.string(), z.string().trim().min(MIN_REASON))));

/** Checks that cannot pass: cell, scenario, check, reason. */
export type Expected = z.output<typeof schema>;

/** @throws ZodError when an entry has no reason */
export function readExpected(): Expected {
  return schema.parse(parse(readFileSync(join(import.meta.dirname, 'expected.yml'), 'utf8')));
}

/**
 * Differences from the expected results of these scenarios in a cell, one sentence each: a scenario that did not run, a check
 * that failed or warned without an entry, an entry whose check passed.
 */
export function faultsIn(
  cell: string,
  scenarios: readonly string[],
  outcomes: ReadonlyMap<string, ScenarioOutcome>,
  expected: Expected,
): readonly string[] {
  return scenarios.flatMap((scenario) => {
    const outcome = outcomes.get(scenario);
    if (outcome === undefined) return [`${cell}: ${scenario} did not run`];
    const listed = Object.keys(expected[cell]?.[scenario] ?? {});
    const unmet = [...outcome.failed, ...outcome.warned];
    const isListed = (failure: string): boolean => listed.some((id) => failure.startsWith(`${id}: `));
    return [
      ...unmet.filter((failure) => !isListed(failure)).map((failure) => `${cell}: ${scenario}: ${failure}`),
      ...listed
        .filter((id) => !unmet.some((failure) => failure.startsWith(`${id}: `)))
        .map((id) => `${cell}: ${scenario}: ${id} is listed in expected.yml and is met`),
    ];
  });
}

/** Entries for unknown scenarios. */
export function strayEntries(expected: Expected, wanted: (cell: string) => readonly string[]): readonly string[] {
  return Object.entries(expected).flatMap(([cell, scenarios]) => {
    const known = wanted(cell);
    return Object.keys(scenarios)
      .filter((scenario) => !known.includes(scenario))
      .map((scenario) => `${cell}: ${scenario} is listed in expected.yml and is not run`);
  });
}
