import fc from '../../support/fast-check.ts';

/** Whether the long form was asked for: `PROOF_LONG=1`. */
export const IS_LONG = process.env.PROOF_LONG === '1';

const SHORT_MS = 25_000;
const LONG_MS = 120_000; // for each property; the short form takes a second or two
const FACTOR = 1000;

/** Time for a test of one property. */
export const PROPERTY_MS = IS_LONG ? LONG_MS * 2 : 60_000;

/**
 * Number of runs: `runs` in the short form, a thousand times as many or two minutes in the long form.
 *
 * The seed is that of the run, `TOOLMGR_SEED`; a failure prints it with the counterexample.
 */
export function effort<T>(runs: number): fc.Parameters<T> {
  // bounded in time as well: finding the smallest counterexample must not outlast the test that would print it
  if (!IS_LONG) return { numRuns: runs, interruptAfterTimeLimit: SHORT_MS };
  return {
    numRuns: runs * FACTOR,
    interruptAfterTimeLimit: LONG_MS,
    markInterruptAsFailure: false,
  };
}

/** Bytes with some of them changed, removed or duplicated. */
export function mutated(bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> {
  return fc.tuple(bytes, fc.array(change, { minLength: 1, maxLength: 4 })).map(([start, changes]) =>
    changes.reduce<Buffer>((now, { kind, at, from }) => {
      const index = Math.floor(at * now.length);
      return CHANGES[kind](now, index, from);
    }, start),
  );
}

const CHANGES = {
  replace: (bytes: Buffer, at: number, with_: Buffer) =>
    Buffer.concat([bytes.subarray(0, at), with_, bytes.subarray(at + with_.length)]),
  insert: (bytes: Buffer, at: number, what: Buffer) => Buffer.concat([bytes.subarray(0, at), what, bytes.subarray(at)]),
  remove: (bytes: Buffer, at: number, like: Buffer) =>
    Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + like.length)]),
  cut: (bytes: Buffer, at: number) => bytes.subarray(0, at),
  repeat: (bytes: Buffer, at: number) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(Math.floor(at / 2))]),
} as const;

/** Valid and invalid pieces of JSON, HTTP and event streams. */
const piece = fc.oneof(
  fc.constantFrom(...'{}[]:,"\\\n\r\t 0-.eE/u\0'),
  fc.constantFrom(
    'null',
    'true',
    '1e999',
    '-0',
    '\\u0000',
    '\\ud800',
    '__proto__',
    '{"":',
    '"jsonrpc"',
    '\r\n\r\n',
    '﻿',
  ),
  fc.string({ maxLength: 3 }),
);

const change = fc.record({
  kind: fc.constantFrom(...(Object.keys(CHANGES) as (keyof typeof CHANGES)[])),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  from: fc.oneof(
    piece.map((text) => Buffer.from(text)),
    fc.uint8Array({ minLength: 1, maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
  ),
});

/** Cuts bytes into pieces at arbitrary places, empty ones among them. */
export function cutUp(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const at = cuts.map((cut) => Math.floor(cut * (bytes.length + 1))).sort((a, b) => a - b);
  return [...at, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : at[index - 1], end));
}

/** Positions of the cuts, as shares of the length. */
export const cuts = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 8 });
