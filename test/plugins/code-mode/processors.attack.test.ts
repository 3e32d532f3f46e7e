import { availableParallelism } from 'node:os';
import type { ScriptOutcome } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { processorsFor, quickjsConfig } from '../../../plugins/code-mode/quickjs/config.ts';
import { createCpuBudget } from '../../../plugins/code-mode/quickjs/cpu-budget.ts';
import { proves } from '../../support/proves.ts';
import { openSandbox, resultOf } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const LONG = 120_000;
const ENDLESS = 1_000_000_000_000;
const IN_STEPS = { steps: 100_000, wallClockMs: LONG };

/** Several seconds in one built-in that cannot be interrupted. */
const ONE_LONG_BUILT_IN = 'let n = 3n; for (let i = 0; i < 19; i++) n = n * n; return n.toString().length';

const failureOf = (outcome: ScriptOutcome) =>
  'failure' in outcome ? [outcome.failure, outcome.message] : ['none', outcome.json];

describe('work inside one built-in', () => {
  proves(
    'choice.code-mode.native-steps',
    'counts as steps by its time, whether the engine can interrupt it or not',
    async () => {
      await using sandbox = await openSandbox();
      const loops = {
        sort: 'const a = new Array(20000).fill("x"); for (;;) a.slice().sort();',
        repeat: 'for (;;) "x".repeat(1e6).split("");',
        json: 'const a = new Array(20000).fill({ a: [1] }); for (;;) JSON.parse(JSON.stringify(a));',
        bigint: 'let n = 3n; for (;;) n = (n * n) % (2n ** 20000n);',
        deaf: ONE_LONG_BUILT_IN,
        regexp: 'return /^(a+)+$/.test("a".repeat(40) + "b")',
        microtasks: 'for (;;) { await null; "x".repeat(1e6).split("") }',
      };
      for (const [name, script] of Object.entries(loops)) {
        const outcome = await sandbox.run(script, {}, IN_STEPS);
        expect([name, ...failureOf(outcome)]).toEqual([name, 'steps', expect.stringMatching(/more than 100000 steps/)]);
      }
      expect(resultOf(await sandbox.run('return 1', {}, IN_STEPS))).toBe(1);
    },
    LONG,
  );
});

describe('the compute slots of scripts', () => {
  proves('choice.code-mode.processors', 'are the number of processors minus one, at least one', () => {
    expect(processorsFor(quickjsConfig.parse({}))).toBe(Math.max(1, availableParallelism() - 1));
    expect(processorsFor(quickjsConfig.parse({ processors: 7 }))).toBe(7);
  });

  proves(
    'choice.code-mode.processors',
    'are taken by scripts that compute; with one slot they compute one after the other',
    async () => {
      await using sandbox = await openSandbox({ processors: 1, warm: 4 });
      const seen: string[] = [];
      const call = async (tool: string) => {
        seen.push(tool);
        return { json: 'null' };
      };
      const spin = 'let n = 0; for (let i = 0; i < 300000; i++) n += i;';
      const run = (name: string) =>
        sandbox.run(`callTool("${name}1"); ${spin} callTool("${name}2"); return 1`, { call, owner: name });
      await Promise.all(['a', 'b', 'c', 'd'].map(run));
      expect(seen).toHaveLength(8);
      for (let at = 0; at < 8; at += 2) expect(seen[at + 1]).toBe(seen[at]?.replace('1', '2'));
    },
    LONG,
  );

  it(
    'are released while scripts wait for tools, and taken again for answers',
    async () => {
      await using sandbox = await openSandbox({ processors: 1, workers: 8 });
      const gate = Promise.withResolvers<void>();
      const call = async () => {
        await gate.promise;
        return { json: '7' };
      };
      const waiting = ['ada', 'ada', 'bob'].map((owner) =>
        sandbox.run('return (await Promise.all([echo(), echo(), echo()])).concat(await echo())', { call, owner }),
      );
      await until(() => sandbox.pool.counts().running === 3, LONG);
      expect(resultOf(await sandbox.run('return echo({ a: 1 })', { owner: 'cyd' }))).toEqual({ a: 1 });
      gate.resolve();
      for (const each of waiting) expect(resultOf(await each)).toEqual([7, 7, 7, 7]);
      expect(resultOf(await sandbox.run('return 1'))).toBe(1);
    },
    LONG,
  );

  it(
    'are released when scripts are cancelled, time out or lose their thread',
    async () => {
      await using sandbox = await openSandbox({ processors: 1, workers: 2, cpuPerCaller: '10m' });
      for (let n = 0; n < 3; n++) {
        const stop = new AbortController();
        const cancelled = sandbox.run('for (;;);', {}, { steps: ENDLESS }, stop.signal);
        await until(() => sandbox.pool.counts().running === 1);
        stop.abort();
        expect(failureOf(await cancelled)[0]).toBe('cancelled');
        const late = sandbox.run('await echo(); for (;;);', {}, { steps: ENDLESS, wallClockMs: 300 });
        expect(failureOf(await late)[0]).toBe('time');
        const deaf = sandbox.run(ONE_LONG_BUILT_IN, {}, { steps: ENDLESS, wallClockMs: 300 });
        expect(failureOf(await deaf)[0]).toBe('time');
        expect(resultOf(await sandbox.run('return echo({ n: 1 })'))).toEqual({ n: 1 });
      }
    },
    LONG,
  );

  proves(
    'choice.code-mode.cpu-budget',
    'are denied only to a caller that has used too much computing time',
    async () => {
      await using sandbox = await openSandbox({ cpuPerCaller: '400ms', cpuWindow: '1h', processors: 4, workers: 4 });
      const run = (script: string, owner: string) =>
        sandbox.run(script, { owner }, { steps: ENDLESS, wallClockMs: LONG });
      const spinning = ['for (;;);', 'for (;;) "x".repeat(1e6).split("");', 'for (;;) await null;'];
      for (const outcome of await Promise.all(spinning.map((script) => run(script, 'ada')))) {
        expect(failureOf(outcome)).toEqual([
          'time',
          expect.stringMatching(/more than 400 ms of processor time in 3600000 ms/),
        ]);
      }
      expect(failureOf(await run('return 1', 'ada'))).toEqual([
        'busy',
        expect.stringMatching(/^the scripts of this caller .*: try again in \d+ s$/),
      ]);
      expect(resultOf(await run('return 1', 'bob'))).toBe(1);
    },
    LONG,
  );
});

describe('a budget of computing time', () => {
  it('leaks evenly, is counted per owner, and for a bounded number of owners', () => {
    let nowMs = 0;
    const budget = createCpuBudget(1_000, 10_000, () => nowMs);
    expect(budget.use('ada', 900)).toBe(false);
    expect(budget.use('ada', 200)).toBe(true);
    expect([budget.waitMs('ada'), budget.waitMs('bob')]).toEqual([1_000, 0]);
    nowMs += 2_000;
    expect([budget.used('ada'), budget.waitMs('ada')]).toEqual([900, 0]);
    for (let n = 0; n < 10_000; n++) budget.use(`other ${n}`, 1);
    expect(budget.used('ada')).toBe(0);
  });
});
