import { cpSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { buildProgram, GO, refill } from './go-program.ts';
import { type GoldenCase, TABLES, tableNames } from './tables.ts';

const BUILD_AND_RUN_MS = 300_000;

proves.skipIf(GO === undefined, 'Go is not installed')(
  'choice.templates.tables-from-go',
  'the installed Go produces the same tables',
  () => {
    const program = buildProgram();
    const folder = temporaryFolder('go-tables');
    try {
      const names = tableNames();
      for (const name of names) cpSync(`${TABLES}${name}`, join(folder, name));
      refill(
        program,
        names.map((name) => join(folder, name)),
      );
      for (const name of names) expect(facts(join(folder, name)), name).toEqual(facts(`${TABLES}${name}`));
    } finally {
      rmSync(dirname(program), { recursive: true });
    }
  },
  BUILD_AND_RUN_MS,
);

/** What all versions of Go share: outputs, and when a template fails. Error texts may change. */
function facts(path: string): readonly object[] {
  const { cases } = JSON.parse(readFileSync(path, 'utf8')) as { cases: readonly GoldenCase[] };
  return cases.map(({ template, output, fails }) => ({ template, output, fails }));
}
