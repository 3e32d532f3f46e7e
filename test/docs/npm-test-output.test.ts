import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { resultLines } from '../support/proven.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { pageOutputProblem } from './page-output.ts';

const SCRIPT = join(import.meta.dirname, '../../scripts/test.mjs');
const assertionResults = [...Array(7).fill({ status: 'passed' }), ...Array(2).fill({ status: 'skipped' })];
const REPORT = JSON.stringify({ testResults: [{ status: 'passed', assertionResults }] });
const REASON = 'no redis-server on this machine (Debian: apt-get install redis-server)';
const LEDGER = Array.from({ length: 2_033 }, (_, n) => ({ id: `a.n${n}` }));
const PROVEN = 1_956;
const TESTS = Array.from({ length: 8_185 }, (_, n) =>
  n < 7_771
    ? { title: `one [a.n${n % PROVEN}]`, status: 'passed' }
    : { title: `two [a.n${PROVEN + (n % (LEDGER.length - PROVEN))}] (skipped: ${REASON})`, status: 'skipped' },
);
const LINES = resultLines(LEDGER, { testResults: [{ assertionResults: TESTS }] });
const TABLE = LINES.map((line) => line.replace(/^\d/, 'ok: $&')).join('\n');
/** Stands for `node`: writes the report of Vitest and prints its last lines; other programs succeed. */
const NODE = `#!/bin/sh
for word; do case "$word" in --outputFile.json=*) report="\${word#*=}";; esac; done
case "$*" in *test/proven.ts*) echo '${TABLE}';; esac
[ -z "$report" ] && exit 0
echo '${REPORT}' > "$report"
printf ' Test Files  3 passed | 1 skipped (4)\\n      Tests  7 passed | 2 skipped (9)\\n'
`;

it('the README shows what `npm test` prints', async () => {
  const root = temporaryFolder('npm-test');
  const add = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text, { mode: 0o755 });
  };
  add('scripts/debian-packages.mjs', 'export function ensureDebianPackages() {}\n');
  cpSync(SCRIPT, join(root, 'scripts/test.mjs'));
  for (const tool of ['tsc', 'biome', 'taskset']) add(`node_modules/.bin/${tool}`, '#!/bin/sh\n');
  add('node_modules/.bin/node', NODE);
  const { CI: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [join(root, 'scripts/test.mjs')], { env });
  expect(pageOutputProblem('test', stdout)).toBeUndefined();
});

it('`npm test -- FILE --record` runs nothing: it would replace the record of all files', async () => {
  const refused = promisify(execFile)(process.execPath, [SCRIPT, 'test/core', '--record']);
  await expect(refused).rejects.toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--record') });
});
