// Compares the report of a whole test run (its path is the argument) with the ledger: prints each line that is not
// deferred and that no passed test named. Exit code 1 when there are some and CI is set: there nothing is skipped.
import { readFileSync } from 'node:fs';
import { requirements } from './requirements.ts';
import { type TestReport, unprovenLines } from './support/proven.ts';

const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as TestReport;
const unproven = unprovenLines(requirements, report);
for (const id of unproven) console.log(`not proven by this run: ${id}`);
if (unproven.length > 0 && process.env.CI) process.exitCode = 1;
