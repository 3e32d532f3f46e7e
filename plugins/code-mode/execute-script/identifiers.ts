/** A name as a JavaScript identifier: other characters become `_`, `_` is put before a leading digit. */
export function identifier(name: string): string {
  const safe = name.replace(/[^A-Za-z0-9_]/g, '_');
  return /^[0-9]/.test(safe) || safe === '' ? `_${safe}` : safe;
}

/** Whether a name is a JavaScript keyword, a global or a name of the bridge. */
export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

const RESERVED: ReadonlySet<string> = new Set(
  [
    'await break case catch class const continue debugger default delete do else enum export extends false finally for',
    'function if implements import in instanceof interface let new null package private protected public return static',
    'super switch this throw true try typeof var void while with yield async arguments eval undefined NaN Infinity',
    'globalThis Object Function Array Number Boolean String Symbol BigInt Math Date RegExp JSON Reflect Proxy Promise',
    'Map Set WeakMap WeakSet WeakRef FinalizationRegistry Iterator ArrayBuffer SharedArrayBuffer Atomics DataView',
    'Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array',
    'Float16Array Float32Array Float64Array Error AggregateError EvalError RangeError ReferenceError SyntaxError',
    'TypeError URIError InternalError parseInt parseFloat isNaN isFinite decodeURI decodeURIComponent encodeURI',
    'encodeURIComponent escape unescape callTool parallel data console __proto__ constructor prototype',
  ].flatMap((line) => line.split(' ')),
);
