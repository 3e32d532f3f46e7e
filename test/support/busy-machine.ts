import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * Milliseconds that a Node program takes which does nothing: 40 on a quiet machine, seconds on a busy one. A test that
 * measures programs adds a multiple of it to its limit.
 */
export async function emptyProgramMs(): Promise<number> {
  const startedMs = performance.now();
  await promisify(execFile)(process.execPath, ['--eval', '0']);
  return performance.now() - startedMs;
}
