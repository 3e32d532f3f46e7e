import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import fc, { SEED } from './support/fast-check.ts';
import { readTree } from './support/tree.ts';

const HELPER = 'test/support/fast-check.ts';

it('generated inputs have the seed of the run', () => {
  expect(process.env.TOOLMGR_SEED).toBe(String(SEED));
  expect(fc.check(fc.property(fc.integer(), () => true)).seed).toBe(SEED);
});

it('each run has another seed, prints it, and takes a given one', () => {
  const config = join(import.meta.dirname, '..', 'vitest.config.ts');
  const seedOf = (given?: string): string | undefined => {
    const { TOOLMGR_SEED: _, ...env } = process.env;
    const options = {
      encoding: 'utf8',
      env: { ...env, ...(given === undefined ? {} : { TOOLMGR_SEED: given }) },
    } as const;
    return /TOOLMGR_SEED=(\d+)\n/.exec(spawnSync(process.execPath, [config], options).stderr)?.[1];
  };
  expect(seedOf('7')).toBe('7');
  const [first, second] = [seedOf(), seedOf()];
  expect(first).toMatch(/^\d+$/);
  expect(second).not.toBe(first);
});

it('every test takes fast-check with the seed, and sets none of its own', () => {
  const tests = [...readTree()].filter(([path]) => /^test\/.*\.ts$/.test(path) && path !== HELPER);
  const direct = tests.filter(([, text]) => text.includes(`from '${'fast-check'}'`)).map(([path]) => path);
  const fixed = tests.filter(([, text]) => /\bseed: \d/.test(text)).map(([path]) => path);
  expect({ direct, fixed }).toEqual({ direct: [], fixed: [] });
});
