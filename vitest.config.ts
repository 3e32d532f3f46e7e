import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['development', 'node'] },
  ssr: { resolve: { conditions: ['development', 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
    // most tests wait for sockets and programs: one file at a time would leave two cores idle
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // programs that tests start compile the TypeScript sources once in all, not once each: half of the CPU of a start
    env: { NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache/toolmgr-tests') },
  },
});
