// Runs the suite against each server of the rigs, direct and through the gateway, and prints the table of
// docs/project/conformance.md; with `--write` into it: `node --conditions=development test/conformance/run-foreign.ts`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ForeignCell, foreignCells, runForeign } from './foreign.ts';

const PAGE = join(import.meta.dirname, '../../docs/project/conformance.md');

const cells: ForeignCell[] = [];
for (const [server, revision] of foreignCells()) {
  const cell = await runForeign(server, revision);
  console.log(server, revision, cell.direct.length, cell.through.length, JSON.stringify(cell.lost));
  cells.push(cell);
}
const table = [
  '| server | set | scored scenarios passed direct | through the gateway | passed direct only |',
  '| --- | --- | --- | --- | --- |',
  ...cells.map(
    ({ server, revision, direct, through, lost, total }) =>
      `| ${server} | ${revision} | ${direct.length}/${total} | ${through.length}/${total} | ` +
      `${Object.keys(lost).join(', ') || 'none'} |`,
  ),
].join('\n');
if (process.argv.includes('--write')) {
  const marked = /(<!-- foreign servers -->\n)[\s\S]*(<!-- end of foreign servers -->)/;
  const page = readFileSync(PAGE, 'utf8');
  writeFileSync(
    PAGE,
    page.replace(marked, (_, open, close) => `${open}\n${table}\n\n${close}`),
  );
} else console.log(table);
