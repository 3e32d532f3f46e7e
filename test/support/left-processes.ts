import { readFileSync } from 'node:fs';
import { processes } from './processes.ts';

/** The variable of the environment that all programs of a test run have; its value is random. */
export const RUN_VARIABLE = 'TOOLMGR_TEST_RUN';

/**
 * Ends the programs that the tests of a run have left, which keep its output open for ever; the children of this process are not among
 * them. Returns their command lines. Only on Linux.
 */
export function endLeftProcesses(run: string): readonly string[] {
  if (process.platform !== 'linux') return [];
  const left = processes().filter(({ pid, parent }) => parent !== process.pid && pid !== process.pid && isOf(pid, run));
  for (const { pid } of left) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // it has ended meanwhile
    }
  }
  return left.map(({ command }) => command);
}

function isOf(pid: number, run: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`${RUN_VARIABLE}=${run}`);
  } catch {
    return false; // it has ended, or belongs to another user
  }
}
