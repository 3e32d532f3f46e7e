// Set up before each test file: when the file has ended, adds a line with its time to the file that TOOLMGR_TEST_TIMES names.
import { appendFileSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, expect } from 'vitest';

interface Times {
  readonly wallSeconds: number;
  readonly cpuSeconds: number;
}

const ROOT = join(import.meta.dirname, '..', '..');
const END = Symbol.for('toolmgr: end of the last test file');
const { TOOLMGR_TEST_TIMES: times } = process.env;

/** Times of this process when its last test file ended; it may run several. */
const ends = globalThis as { [END]?: Times };

// Declared first, so that it runs after all hooks of the file.
if (times !== undefined) {
  afterAll(() => {
    const begun = ends[END] ?? { wallSeconds: 0, cpuSeconds: 0 };
    const ended = timesOfProcess();
    ends[END] = ended;
    const file = relative(ROOT, expect.getState().testPath ?? '');
    const wallSeconds = ended.wallSeconds - begun.wallSeconds;
    const cpuSeconds = ended.cpuSeconds - begun.cpuSeconds;
    appendFileSync(times, `${JSON.stringify({ file, wallSeconds, cpuSeconds })}\n`);
  });
}

function timesOfProcess(): Times {
  const { user, system } = process.cpuUsage();
  return { wallSeconds: process.uptime(), cpuSeconds: (user + system) / 1e6 + ofEndedChildren() };
}

/** CPU seconds of programs that this process has started and that have ended; 0 where the kernel does not say it. */
function ofEndedChildren(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / TICKS; // cutime, cstime
}

const TICKS = 100; // USER_HZ on every Linux that Node runs on
