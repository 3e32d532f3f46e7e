import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['development', 'node'] },
  ssr: { resolve: { conditions: ['development', 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 20_000,
    hookTimeout: 30_000,
    pool: 'forks',
  },
});
