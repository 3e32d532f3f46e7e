import { describe } from 'vitest';
import { type HostileCase, hostileCases } from '../../support/hostile.ts';

/** Scripts that try to overload the gateway through tool calls. */
const CASES: readonly HostileCase[] = [
  [
    'floods calls',
    'const all = []; for (let i = 0; i < 10000; i++) all.push(far.echo({ i }).catch((e) => e.message)); const r = await Promise.all(all); return [r.filter((x) => typeof x === "object").length, r.at(-1)]',
    { value: [50, 'a script may make 50 tool calls'] },
  ],
  [
    'floods calls of unknown tools',
    'const all = []; for (let i = 0; i < 10000; i++) all.push(far["nope" + i]().catch((e) => e.message)); const r = await Promise.all(all); return [r.filter((x) => x.startsWith("unknown tool")).length, r.at(-1)]',
    { value: [50, 'a script may make 50 tool calls'] },
  ],
  [
    'keeps functions of unknown tools',
    'const all = []; for (;;) all.push(far["nope" + all.length])',
    /more than|memory|longer than/,
  ],
  ['calls an unknown tool of a huge name', 'return await far["x".repeat(1e6)]()', /unknown tool "x{127}…"/],
  ['floods calls and returns before they end', 'for (let i = 0; i < 1000; i++) far.hangs(); return 1', { value: 1 }],
  ['returns while a call is in flight', 'far.hangs(); return 2', { value: 2 }],
  ['fails while calls are in flight', 'far.hangs(); far.hangs(); throw new Error("now")', /Error: now/],
  [
    'bombs parallel',
    'return (await parallel(Array.from({ length: 5000 }, (_, i) => () => i))).length',
    { value: 5000 },
  ],
  [
    'bombs parallel inside parallel',
    'const deep = (n) => n === 0 ? 1 : parallel([() => deep(n - 1), () => deep(n - 1)]); return (await deep(8)).flat(Infinity).length',
    { value: 256 },
  ],
  ['passes parallel a value that is not an array', 'return await parallel(7)', /takes an array/],
  [
    'passes parallel an array with a false length',
    'const a = [() => 1]; a.length = 2 ** 31; return await parallel(a)',
    /more than|memory|longer than/,
  ],
  [
    'passes parallel a proxy',
    'return await parallel(new Proxy([() => 1], { get(t, k) { return k === "length" ? Infinity : t[0] } }))',
    /more than|memory|longer than/,
  ],
  ['floods logs', 'for (let i = 0; i < 5000; i++) console.log("line " + i); return 1', { value: 1 }],
  ['logs one huge line', 'console.log("x".repeat(1e7)); return 1', { value: 1 }],
  [
    'logs many huge values',
    'for (let i = 0; i < 100; i++) console.log({ a: "x".repeat(1e5) }); return 1',
    { value: 1 },
  ],
  [
    'logs values that cannot be printed',
    'console.log({ toJSON() { throw 1 }, toString() { throw 2 } }, Symbol("a"), () => 1, 10n, new Error("b")); return 1',
    { value: 1 },
  ],
  ['sends huge arguments', 'return await far.echo({ a: "x".repeat(2e6) })', /arguments are larger than 1048576 bytes/],
  [
    'sends deep arguments',
    'let a = {}; for (let i = 0; i < 300; i++) a = { a }; return await far.echo(a)',
    /arguments are nested deeper than 200/,
  ],
  [
    'sends very many members',
    'const a = []; for (let i = 0; i < 30000; i++) a.push({ i }); return await far.echo({ a })',
    /arguments have more than 20000 members/,
  ],
  ['sends a cycle', 'const a = {}; a.a = a; return await far.echo(a)', /TypeError: circular/],
  ['sends a BigInt', 'return await far.echo({ a: 1n })', /TypeError/],
  ['sends an array', 'return await far.echo([1])', /takes one object of arguments, got an array/],
  ['sends lone surrogates', 'return typeof await far.echo({ a: "\\ud800" })', { value: 'object' }],
  [
    'sends toJSON that does not return an object',
    'return await far.echo({ toJSON: () => 7 })',
    /are not a JSON object/,
  ],
  ['waits for a tool that hangs', 'await far.hangs()', /TimeoutError: tool "far_hangs" did not answer within 1500 ms/],
  ['waits again and again for a tool that hangs', 'for (;;) await far.hangs().catch(() => 0)', /longer than 5000 ms/],
];

describe('a script that tries to overload the gateway through the bridge', () =>
  hostileCases(CASES, { toolCallTimeout: '1500ms', scriptTimeout: '5s' }));
