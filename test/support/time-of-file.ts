// Set up before each test file: when the file has ended, adds a line with its time to the file that TOOLMGR_TEST_TIMES names.
import { appendFileSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, expect } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
const { TOOLMGR_TEST_TIMES: times } = process.env;

// Declared first, so that it runs after all hooks of the file. The process is the file's own.
if (times !== undefined) {
  afterAll(() => {
    const { user, system } = process.cpuUsage();
    const file = relative(ROOT, expect.getState().testPath ?? '');
    const cpuSeconds = (user + system) / 1e6 + ofEndedChildren();
    appendFileSync(times, `${JSON.stringify({ file, wallSeconds: process.uptime(), cpuSeconds })}\n`);
  });
}

/** CPU seconds of programs that this process has started and that have ended; 0 where the kernel does not say it. */
function ofEndedChildren(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS; // cutime, cstime
}

const TICKS = 100; // USER_HZ on every Linux that Node runs on
