import { randomInt, randomUUID } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { RUN_VARIABLE } from './test/support/left-processes.ts';
import { sharedProcessTests } from './test/support/shared-process.ts';
import { recordedSeconds, SlowFirst } from './test/support/slow-first.ts';
import { PROGRAM_SOURCES, sourceHash } from './test/support/source-hash.ts';

const ROOT = realpathSync(import.meta.dirname);

/** A process for each test file costs half a second of CPU time, most of it for the imports: quick files share processes. */
const QUICK_SECONDS = 10;
const recorded = recordedSeconds();
const shared = sharedProcessTests(ROOT).filter((file) => (recorded.get(file) ?? 0) < QUICK_SECONDS);

// generated inputs differ in each run; a failure is repeated with the seed that this prints
const { TOOLMGR_SEED = String(randomInt(2 ** 31)) } = process.env;
console.error(`seed of generated inputs: TOOLMGR_SEED=${TOOLMGR_SEED}`);

export default defineConfig({
  resolve: { conditions: ['development', 'node'] },
  ssr: { resolve: { conditions: ['development', 'node'] } },
  test: {
    // these limits end a test that hangs, they measure nothing: machines of CI may be many times slower
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    pool: 'forks',
    globalSetup: ['test/support/shared-servers.ts'],
    setupFiles: ['test/support/time-of-file.ts'],
    // most tests wait for sockets, programs and containers: one file per core would leave the cores idle half the time
    maxWorkers: Math.max(4, availableParallelism()),
    sequence: { sequencer: SlowFirst },
    projects: [
      { extends: true, test: { name: 'own', include: ['test/**/*.test.ts'], exclude: [...shared] } },
      {
        extends: true,
        test: {
          name: 'shared',
          include: [...shared],
          isolate: false,
          setupFiles: ['test/support/unchanged-process.ts'],
        },
      },
    ],
    env: {
      TOOLMGR_SEED,
      [RUN_VARIABLE]: randomUUID(),
      // programs that tests start are compiled once in all, not once each: half of the CPU of a start
      NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/toolmgr-tests'),
      // the command line in few files (test/support/program.ts); while tests follow changes of sources, they start these
      ...(process.argv.includes('run') && {
        TOOLMGR_TEST_PROGRAM: join(ROOT, '.scratch/program', sourceHash(PROGRAM_SOURCES)),
      }),
    },
  },
});
