import { allBlocks } from './blocks.ts';
import { outputProblem } from './console-output.ts';

/**
 * Compares what a program printed with the block `<!-- output:NAME -->` of a page; values that differ at each run may differ.
 * @returns what is wrong
 */
export function pageOutputProblem(name: string, printed: string): string | undefined {
  const shown = allBlocks().find(({ output }) => output === name);
  if (shown === undefined) throw new Error(`no page shows the output "${name}"`);
  return outputProblem(unified(printed), unified(shown.text), false);
}

/** Scratch folders and ports of this machine, and counts of tests. */
function unified(text: string): string {
  return text
    .replace(/\/\S*\/toolmgr-start-\w+/g, 'FOLDER')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replace(/\(?\b\d+\b\)?(?= passed| skipped)/g, 'COUNT')
    .replace(/\(\d+\)$/gm, '(COUNT)')
    .replace(/\d+ of \d+ (?=requirements)|\d+ (?=not proven)/g, 'COUNT ');
}
