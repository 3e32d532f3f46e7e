import { execFileSync } from 'node:child_process';
import { matchesGlob } from 'node:path';

/**
 * The lines of sources that differ from a revision, as Stryker takes them: `core/pipeline/list.ts:4-9`.
 * @throws Error when git does not know the revision
 */
export function changedLines(root: string, revision: string, patterns: readonly string[]): readonly string[] {
  const args = ['diff', '--unified=0', '--no-color', '--no-ext-diff', revision, '--', 'core', 'plugins', 'hosts'];
  const diff = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 * 1024 });
  return linesOfDiff(diff).filter((range) => isIn(range.slice(0, range.lastIndexOf(':')), patterns));
}

/** The new lines of a unified diff without context. */
export function linesOfDiff(diff: string): readonly string[] {
  const ranges: string[] = [];
  let file = '';
  for (const line of diff.split('\n')) {
    if (line.startsWith('+++ ')) file = line.startsWith('+++ b/') ? line.slice('+++ b/'.length) : '';
    const [, from, count = '1'] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? [];
    if (from === undefined || file === '' || count === '0') continue;
    ranges.push(`${file}:${from}-${Number(from) + Number(count) - 1}`);
  }
  return ranges;
}

/** Whether a path is taken by patterns, of which those with `!` leave out. */
export function isIn(path: string, patterns: readonly string[]): boolean {
  const takes = (pattern: string): boolean => matchesGlob(path, pattern);
  const without = patterns.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  return patterns.some((pattern) => !pattern.startsWith('!') && takes(pattern)) && !without.some(takes);
}
