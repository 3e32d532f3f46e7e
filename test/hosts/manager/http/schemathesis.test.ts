import { operation } from '@toolmgr/plugins/kit/operations';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { SEED } from '../../../support/fast-check.ts';
import { startManager } from '../../../support/manager.ts';
import { rig } from '../../../support/rig.ts';
import { fuzz } from '../../../support/schemathesis.ts';

const found = rig('schemathesis');
if ('missing' in found) console.warn(`skipped: schemathesis (${found.missing})`);

const LONG = process.env.TOOLMGR_LONG_FUZZ !== undefined;
const SHORT_FORM = { examples: 10, seed: SEED, phases: ['examples', 'fuzzing'] as const, ms: 240_000 };
const LONG_FORM = {
  examples: 50,
  seed: SEED,
  phases: ['examples', 'coverage', 'fuzzing', 'stateful'] as const,
  ms: 3_600_000,
};

it.skipIf('missing' in found)(
  'a schema-driven fuzzer finds no server error and no undeclared answer in any operation',
  async () => {
    if ('missing' in found) return;
    await using manager = await startManager();
    const form = LONG ? LONG_FORM : SHORT_FORM;
    const { cases, operations, failures, output } = await fuzz(found.folder, { ...manager, ...form });
    if (LONG) console.log(output.slice(-2_000));
    const faults = manager.logged.filter((line) => line.includes('"error"'));
    expect({ failures, faults: faults.map((line) => line.slice(0, 2_000)) }).toEqual({ failures: [], faults: [] });
    expect(operations).toBeGreaterThan(30);
    expect(cases).toBeGreaterThan(operations);
  },
  LONG ? 3_660_000 : 300_000,
);

it.skipIf('missing' in found)(
  'the fuzzer notices an answer that is not declared, and a server error',
  async () => {
    if ('missing' in found) return;
    await using manager = await startManager({ operations: [undeclared, broken], checksAnswers: false });
    const { failures } = await fuzz(found.folder, { ...manager, ...SHORT_FORM });
    expect(failures.map((failure) => failure.slice(0, failure.indexOf(':')))).toEqual(
      expect.arrayContaining(['GET /api/v1beta/undeclared', 'GET /api/v1beta/broken']),
    );
  },
  300_000,
);

const plain = { method: 'GET', tag: 'test', summary: 'Test', problems: [] } as const;

const undeclared = operation({
  ...plain,
  id: 'undeclared',
  path: '/api/v1beta/undeclared',
  answers: { 200: { description: 'a text', schema: z.string() } },
  run: async () => ({ status: 418, body: 'a' }),
});

const broken = operation({
  ...plain,
  id: 'broken',
  path: '/api/v1beta/broken',
  answers: { 200: { description: 'a text', schema: z.string() } },
  async run() {
    throw new Error('it is broken');
  },
});
