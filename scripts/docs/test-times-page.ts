import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { page, table } from './markdown.ts';
import { ROOT } from './sources.ts';

/** Path of the page. */
export const TEST_TIMES_PAGE = 'docs/project/test-times.md';

const RECORD = 'docs/project/test-times.json';
const SHOWN = 20;

/** What `npm test -- --record` writes. */
interface TestTimes {
  readonly date: string;
  readonly cores: number;
  readonly minutes: number;
  readonly cpuMinutes: number;
  readonly files: readonly { readonly file: string; readonly wallSeconds: number; readonly cpuSeconds: number }[];
}

/** docs/project/test-times.md, or `undefined` without a record. */
export function testTimesPage(): string | undefined {
  const path = join(ROOT, RECORD);
  if (!existsSync(path)) return undefined;
  const { date, cores, minutes, cpuMinutes, files } = JSON.parse(readFileSync(path, 'utf8')) as TestTimes;
  return page('Time of the tests', `[the record](test-times.json) of \`npm test -- --record\``, [
    `The whole run of ${date.slice(0, 10)} on ${cores} cores: ${minutes} minutes for the test files, which used ${cpuMinutes} minutes of CPU time. Files run beside each other and mostly wait; the longest start first.`,
    table(
      ['slowest files', 'seconds', 'CPU seconds'],
      files
        .slice(0, SHOWN)
        .map(({ file, wallSeconds, cpuSeconds }) => [`[${file}](../../${file})`, `${wallSeconds}`, `${cpuSeconds}`]),
    ),
    'CPU seconds are those of the process of the file and of the programs that it started and waited for.',
  ]);
}
