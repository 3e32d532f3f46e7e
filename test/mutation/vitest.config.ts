import { mergeConfig } from 'vitest/config';
import base from '../../vitest.config.ts';

/** Tests of sources that count how often each mutant is reached are slower. */
export default mergeConfig(base, { root: '.', test: { testTimeout: 600_000, hookTimeout: 600_000 } });
