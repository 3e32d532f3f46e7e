// Compares the report of a whole test run (its path is the argument) with the ledger and prints the table of what it proves. Exit code 1
// when a proof failed or is missing, and with CI also when all proofs of a requirement were skipped.
import { readFileSync } from 'node:fs';
import { requirements } from './requirements.ts';
import { ledgerResult, resultLines, type TestReport } from './support/proven.ts';

const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as TestReport;
const { skipped, unproven } = ledgerResult(requirements, report);
if (process.env.CI) for (const id of skipped) console.log(`not proven here, its tests were skipped: ${id}`);
for (const id of unproven) console.log(`not proven, its tests failed or are missing: ${id}`);

const isGood = unproven.length === 0 && (skipped.length === 0 || !process.env.CI);
const lines = resultLines(requirements, report);
for (const line of lines.slice(0, -1)) console.log(line);
console.log(`${isGood ? 'ok' : 'FAILED'}: ${lines.at(-1)}`);
if (!isGood) process.exitCode = 1;
