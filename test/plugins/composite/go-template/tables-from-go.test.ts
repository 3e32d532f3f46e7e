import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { buildProgram, GO, refill } from './go-program.ts';
import { type GoldenCase, TABLES, tableNames } from './tables.ts';

const BUILD_AND_RUN_MS = 300_000;

proves.skipIf(GO === undefined, 'Go is not on this machine')(
  'choice.templates.tables-from-go',
  'the Go of this machine fills the tables with what they hold',
  () => {
    const program = buildProgram();
    const folder = mkdtempSync(join(tmpdir(), 'go-tables-'));
    try {
      const names = tableNames();
      for (const name of names) cpSync(`${TABLES}${name}`, join(folder, name));
      refill(
        program,
        names.map((name) => join(folder, name)),
      );
      for (const name of names) expect(facts(join(folder, name)), name).toEqual(facts(`${TABLES}${name}`));
    } finally {
      rmSync(folder, { recursive: true });
      rmSync(dirname(program), { recursive: true });
    }
  },
  BUILD_AND_RUN_MS,
);

/** What every version of Go has to agree on: texts, and when a template fails. The words of errors may change. */
function facts(path: string): readonly object[] {
  const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly GoldenCase[] };
  return cases.map(({ template, output, fails }) => ({ template, output, fails }));
}
