import { describe } from 'vitest';
import { type HostileCase, hostileCases } from '../../support/hostile.ts';

/** Attempts to escape from the sandbox. */
const NAMES =
  "['process','require','module','global','Buffer','fetch','WebAssembly','setTimeout','setInterval','setImmediate','queueMicrotask','performance','Atomics','SharedArrayBuffer','Worker','Deno','std','os','scriptArgs','print','send','gateway']";

const CASES: readonly HostileCase[] = [
  ['has no globals of the host', `return ${NAMES}.filter((name) => name in globalThis)`, { value: [] }],
  [
    'reaches only the guest through the constructor of a bound function',
    "return callTool.constructor('return typeof process + typeof require')()",
    { value: 'undefinedundefined' },
  ],
  [
    'reaches only the guest through the constructor of a member',
    "return far.echo.constructor.constructor('return this')() === globalThis",
    { value: true },
  ],
  [
    'reaches only the guest through a tool error',
    "try { await callTool('x') } catch (e) { return e.constructor.constructor('return typeof process')() }",
    { value: 'undefined' },
  ],
  [
    'reaches only the guest through an error of the bridge',
    "try { await far.echo(1) } catch (e) { return [e instanceof TypeError, typeof e.constructor.constructor('return process')] }",
    { value: [true, 'function'] },
  ],
  [
    'reaches only the guest through a value of a tool',
    'const r = await far.odd(); return [r.constructor === Object, r.a, r.then, Object.keys(r).length]',
    { value: [true, 1, 'y', 4] },
  ],
  [
    'reaches only the guest through data',
    'return [data.constructor.prototype.polluted, ({}).polluted, data.toJSON]',
    { value: [true, null, 'x'] },
  ],
  [
    'reaches only the guest through an async constructor',
    "return (async () => {}).constructor('return typeof process')()",
    { value: 'undefined' },
  ],
  [
    'reaches only the guest through a generator',
    "return [...(function*(){}).constructor('yield typeof process')()]",
    { value: ['undefined'] },
  ],
  [
    'reaches only the guest through eval',
    "return [eval('typeof process'), (0, eval)('this === globalThis')]",
    { value: ['undefined', true] },
  ],
  ['reaches only the guest through Function', "return Function('return typeof require')()", { value: 'undefined' }],
  [
    'reaches only the guest through Reflect',
    "return typeof Reflect.construct(Function, ['return process.env'])",
    { value: 'function' },
  ],
  ['imports nothing', "return import('node:fs')", /could not load module/],
  ['imports nothing by data URL', "return import('data:text/javascript,export default 1')", /could not load module/],
  ['imports nothing by file URL', "return import('file:///etc/passwd')", /could not load module/],
  ['has no static import', "import fs from 'fs'; return 1", /SyntaxError/],
  ['has no import.meta', 'return import.meta.url', /SyntaxError/],
  [
    'cannot close its wrapper and run code outside',
    'return 1 }); (async () => { return typeof process',
    { value: 'undefined' },
  ],
  ['cannot close its wrapper and open a class', '}}}}', /SyntaxError/],
  [
    'finds no host paths in a stack',
    'try { null.x } catch (e) { return /node|file:|plugins/.test(e.stack) }',
    { value: false },
  ],
  [
    'finds no host paths with prepareStackTrace',
    "Error.prepareStackTrace = (_, s) => s; const s = new Error().stack; return typeof s === 'string' || s === undefined || !/node:|worker/.test(String(s))",
    { value: true },
  ],
  [
    'finds no caller of a function',
    "return (function f() { try { return typeof f.caller } catch { return 'no' } })() !== 'function'",
    { value: true },
  ],
  [
    'finds no host function with arguments.callee',
    'return (function () { return typeof arguments.callee.caller })() !== "function"',
    { value: true },
  ],
  [
    'pollutes only its own prototypes',
    'Object.prototype.polluted = true; Array.prototype.polluted = true; Function.prototype.polluted = true; return ({}).polluted',
    { value: true },
  ],
  [
    'pollutes only itself by __proto__',
    'JSON.parse(\'{"__proto__":{"polluted":true}}\'); ({}).__proto__.polluted = 1; return {}',
    { value: {} },
  ],
  [
    'sends no prototype to a tool',
    'return await far.echo(JSON.parse(\'{"__proto__":{"polluted":true},"a":1}\'))',
    { value: { a: 1, ['__proto__']: { polluted: true } } },
  ],
  [
    'cannot take over promises of the bridge',
    'Promise.prototype.then = () => 7; return await far.echo({ a: 1 })',
    /waits for a promise/,
  ],
  [
    'gets nothing with a thenable',
    'const seen = []; const t = { then(ok) { seen.push(typeof ok); ok(1) } }; return [await t, seen]',
    { value: [1, ['function']] },
  ],
  [
    'gets nothing by replacing JSON',
    'JSON.stringify = () => \'{"polluted":1}\'; JSON.parse = () => 7; return await far.echo({ a: 1 })',
    { value: { a: 1 } },
  ],
  [
    'gets nothing by replacing Promise',
    'globalThis.Promise = class { constructor() { throw 1 } }; return await far.echo({ a: 2 })',
    { value: { a: 2 } },
  ],
  [
    'gets nothing by setters on Object.prototype',
    "const got = []; for (const k of ['resolve','reject','tool','call']) Object.defineProperty(Object.prototype, k, { set(v) { got.push(typeof v) }, configurable: true }); await far.echo({}); return got",
    { value: [] },
  ],
  [
    'gets nothing but its own objects by setters for numbers',
    'let seen = []; for (const k of [0, 1, 2, 3]) Object.defineProperty(Object.prototype, k, { set(v) { seen = { v, seen } }, get() { return 1 }, configurable: true }); await far.echo({}); let own = true; for (let at = seen; at.v; at = at.seen) own &&= at.v instanceof Object; return own',
    { value: true },
  ],
  [
    'can only break its own tools',
    'globalThis.callTool = null; delete far.echo; far.echo = () => 3; return far.echo()',
    { value: 3 },
  ],
  [
    'calls no tool with a name that is not a string',
    "return await callTool({ toString: () => 'far_echo' })",
    /name must be a string/,
  ],
  [
    'calls no tool with a proxy as the name',
    "return await callTool(new Proxy({}, { get: () => () => 'far_echo' }))",
    /name must be a string/,
  ],
  ['cannot call itself', "return await callTool('execute_tool_script', { script: 'return 1' })", /unknown tool/],
  ['calls no method of the gateway', "return await callTool('tools/list')", /unknown tool/],
  ['calls no name with a NUL', "return await callTool('far_echo\\0')", /unknown tool/],
  ['calls no inherited name', "return await callTool('__proto__')", /unknown tool/],
  ['calls no constructor', "return await callTool('constructor')", /unknown tool/],
  [
    'reaches only the guest through the function of an unknown tool',
    "const f = far.nope; return [typeof f.constructor('return process'), f.constructor('return typeof process + typeof require')(), Object.getOwnPropertyNames(f).sort().join()]",
    { value: ['function', 'undefinedundefined', 'length,name'] },
  ],
  [
    'reaches only an empty object behind a group',
    'const p = Object.getPrototypeOf(far); return [Reflect.ownKeys(p).length, Object.getPrototypeOf(p) === Object.prototype, Object.keys(far).includes("echo")]',
    { value: [0, true, true] },
  ],
  [
    'adds traps to Object.prototype',
    'const seen = []; for (const k of ["get", "has", "set", "ownKeys", "getPrototypeOf", "apply"]) Object.prototype[k] = (...a) => { seen.push(k); return a[0] }; try { await far.nope() } catch (e) { seen.push(e.name) } return seen',
    { value: ['ToolError'] },
  ],
  [
    'replaces the globals that unknown tools are built with',
    'globalThis.Proxy = null; globalThis.callTool = () => 7; Reflect.get = () => 7; return await far.nope()',
    /unknown tool "nope" of backend "far"/,
  ],
  [
    'adds functions to the prototype of a group',
    'Object.getPrototypeOf(far).nope = () => 3; Object.setPrototypeOf(Object.getPrototypeOf(far), { deep: 4 }); return [far.nope(), far.deep, far.toString === undefined || typeof far.toString]',
    { value: [3, 4, 'function'] },
  ],
  [
    'makes a group its own ancestor',
    'Object.setPrototypeOf(Object.getPrototypeOf(far), far); return far.nope',
    /TypeError|InternalError|RangeError/,
  ],
  [
    'reads a property whose name throws in toString',
    'return far[{ toString() { throw new Error("mine") } }]',
    /Error: mine/,
  ],
  ['calls an unknown tool with a NUL', 'return await far["ec\\0ho"]()', /unknown tool "ec/],
  [
    'calls another backend through a group',
    'return await far["echo.far_echo"]()',
    /unknown tool "echo.far_echo" of backend "far"/,
  ],
  ['throws a group', 'throw far', /Error/],
  ['throws the function of an unknown tool', 'throw far.nope', /threw/],
  ['returns the function of an unknown tool', 'return far.nope', /is not JSON: function/],
  [
    'imitates an error of the engine',
    'throw new ReferenceError("\'far_hangz\' is not defined")',
    /did you mean far_hangs\?$/,
  ],
  ['shares no global with the next script', 'globalThis.polluted = 1; Object.polluted = 1; return 1', { value: 1 }],
  [
    'has no high-resolution clock',
    'return [typeof performance, Number.isInteger(Date.now())]',
    { value: ['undefined', true] },
  ],
  [
    'keeps nothing alive after its end',
    'new FinalizationRegistry(() => { throw 1 }).register({}, 1); new WeakRef({}); return 1',
    { value: 1 },
  ],
];

describe('a script that tries to escape', () => hostileCases(CASES));
