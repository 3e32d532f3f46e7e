// Compares the report of a whole test run (its path is the argument) with the ledger and prints how many requirements it
// proves, and each one that it does not. Exit code 1 when a proof failed or is missing, and with CI also when all proofs of a
// requirement were skipped.
import { readFileSync } from 'node:fs';
import { requirements } from './requirements.ts';
import { ledgerResult, type TestReport } from './support/proven.ts';

const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8')) as TestReport;
const { total, skipped, unproven } = ledgerResult(requirements, report);
for (const id of skipped) console.log(`not proven here, its tests were skipped: ${id}`);
for (const id of unproven) console.log(`not proven, its tests failed or are missing: ${id}`);

const isGood = unproven.length === 0 && (skipped.length === 0 || !process.env.CI);
const proven = total - skipped.length - unproven.length;
const left = [
  ...(skipped.length > 0 ? [`${skipped.length} not proven here (skipped)`] : []),
  ...(unproven.length > 0 ? [`${unproven.length} not proven`] : []),
];
console.log(
  `${isGood ? 'ok' : 'FAILED'}: ${[`${proven} of ${total} requirements proven by this run`, ...left].join(', ')}`,
);
if (!isGood) process.exitCode = 1;
