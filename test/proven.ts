// Compares the report of a whole test run (its path is the argument) with the ledger and prints each requirement that is
// neither deferred nor proven by a passed test. Exit code 1 when there are some and CI is set.
import { readFileSync } from 'node:fs';
import { requirements } from './requirements.ts';
import { type TestReport, unprovenLines } from './support/proven.ts';

const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as TestReport;
const unproven = unprovenLines(requirements, report);
for (const id of unproven) console.log(`not proven by this run: ${id}`);
if (unproven.length > 0 && process.env.CI) process.exitCode = 1;
