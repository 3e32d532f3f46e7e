import { randomInt } from 'node:crypto';
import fc from 'fast-check';

/** The seed of generated inputs: that of TOOLMGR_SEED, which vitest.config.ts sets for the whole run and prints. */
export const SEED = Number(process.env.TOOLMGR_SEED ?? randomInt(2 ** 31));
if (!Number.isSafeInteger(SEED)) throw new Error(`TOOLMGR_SEED=${process.env.TOOLMGR_SEED}: expected a whole number`);

fc.configureGlobal({ seed: SEED });

/** fast-check with the seed of the run. A failure prints the seed and the path to its counterexample. */
export default fc;
