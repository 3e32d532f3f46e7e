/** What differs at each run, and what stands for it in the comparison. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'DATE'],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, 'CLOCK'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, 'ID'],
  [/\b\d+(?:\.\d+)? ?(?:ms|s|m|h)\b/g, 'TIME'],
  [/\bpid \d+/g, 'PID'],
  [/[ \t]+/g, ' '], // columns are as wide as the longest value
];

/** What commands print only when servers start slowly. */
const PROGRESS = /^(?:still starting: |waiting for .* \(starting|\S+ is ready after )/;

/**
 * Compares an output with the one of a page. Times, dates, ids, widths of columns and progress lines may differ. `…` stands for any text of a
 * line, and a line `…` for any lines. A gateway may print more lines than the page shows (`isPart`).
 * @returns what is wrong
 */
export function outputProblem(printed: string, expected: string, isPart: boolean): string | undefined {
  if (expected === '') return undefined;
  const lines = linesOf(expected);
  const pattern = isPart ? lines.flatMap((line) => ['…', line]).concat('…') : lines;
  const isSame = new RegExp(`^${pattern.map(patternOf).join('')}$`).test(`${linesOf(printed).join('\n')}\n`);
  return isSame ? undefined : `the page shows\n${expected}\nbut the command printed\n${printed}`;
}

function linesOf(text: string): readonly string[] {
  const same = CHANGING.reduce((before, [what, by]) => before.replace(what, by), text);
  return same
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '' && !PROGRESS.test(line));
}

function patternOf(line: string): string {
  if (line === '…') return '(?:.*\\n)*?';
  return `${line.split('…').map(escaped).join('.*')}\\n`;
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
