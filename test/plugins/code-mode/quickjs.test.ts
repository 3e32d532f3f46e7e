import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proves } from '../../support/proves.ts';
import { openSandbox, resultOf, type TestSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const LONG = 180_000;
const LEAKS =
  'globalThis.kept = []; for (let i = 0; i < 100; i++) kept.push({ i, f: () => kept, p: new Promise(() => {}) }); return kept.length';
/** Work inside one built-in, which the engine cannot interrupt. */
const ONE_LONG_BUILT_IN = 'let n = 3n; for (let i = 0; i < 19; i++) n = n * n; return n.toString().length';

const failureOf = (outcome: object) => ('failure' in outcome ? outcome.failure : undefined);

describe('a script in QuickJS', () => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    sandbox = await openSandbox();
  }, LONG);
  afterAll(() => sandbox[Symbol.asyncDispose]());

  proves(
    'choice.code-mode.memory-limit',
    'has a memory limit that many small allocations cannot exceed',
    async () => {
      const before = process.memoryUsage.rss();
      const outcome = await sandbox.run(
        'const all = []; for (;;) all.push("x".repeat(1e6) + all.length)',
        {},
        { steps: 1e9 },
      );
      expect(outcome).toMatchObject({ failure: 'memory', message: expect.stringContaining('67108864') });
      expect(process.memoryUsage.rss() - before).toBeLessThan(300_000_000);
      expect(resultOf(await sandbox.run('return "x".repeat(1e7).length'))).toBe(10_000_000);
    },
    LONG,
  );

  proves('choice.code-mode.recursion', 'gets an error for deep recursion, which does not reach the host', async () => {
    for (const script of [
      'const f = () => f() + 1; f()',
      'JSON.parse("[".repeat(1e5))',
      'eval("[".repeat(1e5))',
      'new RegExp("(".repeat(1e5))',
      'const o = { toString: () => String(o) }; String(o)',
    ]) {
      const outcome = await sandbox.run(script);
      expect([script, failureOf(outcome)]).toEqual([script, 'error']);
      expect('message' in outcome && outcome.message).toMatch(/overflow|SyntaxError|InternalError/);
    }
  });

  proves(
    'choice.code-mode.step-unit',
    'is stopped by its step limit, in units of ten thousand; an iteration of a simple loop is two steps',
    async () => {
      const loop = (turns: number) => `for (let i = 0; i < ${turns}; i++); return 1`;
      expect(resultOf(await sandbox.run(loop(1_000), {}, { steps: 1 }))).toBe(1);
      expect(failureOf(await sandbox.run(loop(11_000), {}, { steps: 1 }))).toBe('steps');
      expect(resultOf(await sandbox.run(loop(45_000), {}, { steps: 100_000 }))).toBe(1);
      expect(await sandbox.run(loop(60_000), {}, { steps: 100_000 })).toMatchObject({
        failure: 'steps',
        message: 'the script took more than 100000 steps',
      });
      const across = 'for (let n = 0; n < 100; n++) { for (let i = 0; i < 3000; i++); await far.echo({}); } return 1';
      expect(failureOf(await sandbox.run(across, {}, { steps: 100_000 }))).toBe('steps');
    },
  );

  proves(
    'choice.code-mode.wall-clock',
    'ends at its timeout: in a loop, while it waits, and inside a built-in',
    async () => {
      const limits = { steps: 1e12, wallClockMs: 400 };
      const hangs = () => new Promise<never>(() => {});
      for (const [script, call] of [['for (;;);'], ['await far.echo()', hangs], [ONE_LONG_BUILT_IN]] as const) {
        const startedAt = performance.now();
        const outcome = await sandbox.run(script, call === undefined ? {} : { call }, limits);
        expect([script, failureOf(outcome)]).toEqual([script, 'time']);
        expect(performance.now() - startedAt).toBeLessThan(5_000);
      }
      await until(() => sandbox.pool.counts().running === 0);
      expect(resultOf(await sandbox.run('return 1'))).toBe(1);
    },
    LONG,
  );

  proves(
    'choice.code-mode.instance-per-script',
    'leaves no state to the next script and leaks no memory',
    async () => {
      for (let n = 0; n < 20; n++) await sandbox.run(LEAKS);
      const before = process.memoryUsage.rss();
      for (let n = 0; n < 150; n++) expect(resultOf(await sandbox.run(LEAKS))).toBe(100);
      expect(process.memoryUsage.rss() - before).toBeLessThan(200_000_000);
      expect(resultOf(await sandbox.run('return typeof kept'))).toBe('undefined');
      expect(sandbox.warned).toEqual([]);
    },
    LONG,
  );

  it('makes several calls in parallel and gets the right answers', async () => {
    const script = 'return Promise.all([1, 2, 3, 4, 5].map((n) => far.echo({ n })))';
    const call = async (_: string, given: Buffer) => {
      const { n } = JSON.parse(given.toString('utf8')) as { readonly n: number };
      await new Promise((resolve) => setTimeout(resolve, 60 - 10 * Number(n)));
      return { json: String(n) };
    };
    expect(resultOf(await sandbox.run(script, { call }))).toEqual([1, 2, 3, 4, 5]);
  });

  it('exchanges texts unchanged: NUL, lone surrogates, astral characters', async () => {
    const odd = 'a\0b\ud800c😀\u2028';
    const outcome = await sandbox.run('console.log(data.odd); return [data.odd, await far.echo(), data.odd.length]', {
      data: { odd },
      call: async () => ({ text: odd }),
    });
    expect(resultOf(outcome)).toEqual([odd, odd, odd.length]);
    expect(outcome.logs).toEqual([odd]);
    const named = await sandbox.run('return callTool("a\\0b")', { call: async (name) => ({ text: name }) });
    expect(resultOf(named)).toBe('a\0b');
  });

  it('stops with its signal, together with its calls', async () => {
    const stop = new AbortController();
    let stopped = 0;
    const call = (_: string, __: object, signal: AbortSignal) => {
      signal.addEventListener('abort', () => stopped++);
      queueMicrotask(() => stop.abort());
      return new Promise<never>(() => {});
    };
    expect(failureOf(await sandbox.run('await far.echo()', { call }, {}, stop.signal))).toBe('cancelled');
    expect(stopped).toBe(1);
    expect(failureOf(await sandbox.run('return 1', {}, {}, stop.signal))).toBe('cancelled');
  });

  it('names the minimum memory in the error', async () => {
    expect(await sandbox.run('return 1', {}, { memoryBytes: 1_000_000 })).toMatchObject({
      failure: 'memory',
      message: 'the engine needs 16777216 bytes of memory, the limit is 1000000',
    });
  });
});

describe('the threads of scripts', () => {
  const waitFor = (gate: Promise<void>) => async () => {
    await gate;
    return { json: '1' };
  };

  proves(
    'choice.code-mode.queue',
    'are bounded, like the queue: the owner with the most queued scripts is refused',
    async () => {
      const gate = Promise.withResolvers<void>();
      await using sandbox = await openSandbox({ workers: 1, queue: 2 });
      const call = waitFor(gate.promise);
      const run = (owner: string) => sandbox.run('return far.echo()', { call, owner });
      const first = run('ada');
      await until(() => sandbox.pool.counts().running === 1);
      const second = run('ada');
      const third = run('ada');
      const other = run('bob');
      expect(await third).toMatchObject({ failure: 'busy', message: expect.stringContaining('try again') });
      expect(sandbox.pool.counts()).toEqual({ threads: 1, running: 1, waiting: 2 });
      gate.resolve();
      for (const each of [first, second, other]) expect(resultOf(await each)).toBe(1);
    },
    LONG,
  );

  proves(
    'choice.code-mode.queue',
    'prefer owners with fewer running scripts: no owner uses all threads',
    async () => {
      await using sandbox = await openSandbox({ workers: 4, warm: 4 });
      const gate = Promise.withResolvers<void>();
      const ended: string[] = [];
      const run = async (owner: string, call = waitFor(gate.promise)) => {
        const outcome = await sandbox.run('return far.echo()', { call, owner });
        ended.push(owner);
        return outcome;
      };
      const greedy = Array.from({ length: 8 }, () => run('ada'));
      await until(() => sandbox.pool.counts().running === 3);
      await run('bob', async () => ({ json: '2' }));
      expect(ended).toEqual(['bob']);
      gate.resolve();
      await Promise.all(greedy);
    },
    LONG,
  );

  it(
    'start on demand and end when they are idle',
    async () => {
      await using sandbox = await openSandbox({ workers: 3, warm: 1, idleTimeout: '50ms' });
      expect(sandbox.pool.counts().threads).toBe(1);
      const gate = Promise.withResolvers<void>();
      const call = waitFor(gate.promise);
      const runs = ['a', 'b', 'c'].map((owner) => sandbox.run('return far.echo()', { call, owner }));
      await until(() => sandbox.pool.counts().running === 3);
      gate.resolve();
      await Promise.all(runs);
      await until(() => sandbox.pool.counts().threads === 1);
      expect(resultOf(await sandbox.run('return 1'))).toBe(1);
    },
    LONG,
  );

  it(
    'refuse a script that waited too long',
    async () => {
      const gate = Promise.withResolvers<void>();
      await using sandbox = await openSandbox({ workers: 1, queueTimeout: '50ms' });
      const first = sandbox.run('return far.echo()', { call: waitFor(gate.promise) });
      await until(() => sandbox.pool.counts().running === 1);
      expect(failureOf(await sandbox.run('return 1'))).toBe('busy');
      gate.resolve();
      expect(resultOf(await first)).toBe(1);
    },
    LONG,
  );

  it(
    'are replaced when a script blocks them, also repeatedly',
    async () => {
      await using sandbox = await openSandbox({ workers: 1 });
      for (let n = 0; n < 3; n++) {
        expect(failureOf(await sandbox.run(ONE_LONG_BUILT_IN, {}, { wallClockMs: 100 }))).toBe('time');
        expect(resultOf(await sandbox.run('return 1'))).toBe(1);
      }
      expect(sandbox.pool.counts()).toEqual({ threads: 1, running: 0, waiting: 0 });
    },
    LONG,
  );

  it(
    'end with the gateway; running and queued scripts are cancelled',
    async () => {
      const sandbox = await openSandbox({ workers: 1 });
      const call = () => new Promise<never>(() => {});
      const runs = [sandbox.run('await far.echo()', { call }), sandbox.run('return 1')];
      await until(() => sandbox.pool.counts().running === 1);
      await sandbox.pool.stop();
      expect((await Promise.all(runs)).map(failureOf)).toEqual(['engine', 'cancelled']);
      expect(failureOf(await sandbox.run('return 1'))).toBe('busy');
    },
    LONG,
  );
});
