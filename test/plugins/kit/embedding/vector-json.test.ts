import { describe, expect, it } from 'vitest';
import { readVectorJson } from '../../../../plugins/kit/embedding/vector-json.ts';
import fc from '../../../support/fast-check.ts';
import { proves } from '../../../support/proves.ts';

const BOUNDS = { vectors: 64, numbers: 8_192 };

function read(text: string, pieceBytes = text.length + 1, bounds = BOUNDS): unknown {
  const reader = readVectorJson(bounds);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = Buffer.from(bytes.subarray(at, at + pieceBytes));
    reader.push(piece);
    piece.fill(0x2a); // the parser must not keep the buffer
  }
  return reader.end();
}

/** The result of `JSON.parse`, with each list of numbers as 32-bit numbers. */
function parsed(text: string): unknown {
  return JSON.parse(text, (_, value: unknown) =>
    Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'number')
      ? Float32Array.from(value)
      : value,
  );
}

const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.float({ min: -1, max: 1, noNaN: true }).map((value) => value.toPrecision(9)),
  // halfway between two 32-bit numbers, where the last digit decides
  fc
    .tuple(
      fc.float({ min: Math.fround(1e-6), max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 15, max: 30 }),
    )
    .map(([value, digits]) => halfwayAbove(value).toPrecision(digits)),
  fc
    .tuple(fc.constantFrom('', '-'), fc.stringMatching(/^(0|[1-9]\d{0,20})(\.\d{1,25})?([eE][+-]?\d{1,3})?$/))
    .map(([sign, text]) => `${sign}${text}`),
);

function halfwayAbove(value: number): number {
  const bits = new Uint32Array(Float32Array.of(value).buffer);
  const [next] = new Float32Array(Uint32Array.of((bits[0] as number) + 1).buffer);
  return (value + (next as number)) / 2;
}

const blank = fc.stringMatching(/^[ \n\r\t]{0,2}$/);
const list = fc
  .array(fc.tuple(blank, numberText, blank), { minLength: 1, maxLength: 12 })
  .map((numbers) => `[${numbers.map((each) => each.join('')).join(',')}]`);
const other = fc.json().filter((text) => !/\[\s*-?\d/.test(text));
const answer = fc
  .array(
    fc.oneof(
      list,
      fc.tuple(other, list).map(([beside, vector]) => `{"beside":${beside},"embedding":${vector}}`),
    ),
    {
      maxLength: 8,
    },
  )
  .map((parts) => `[${parts.join(' ,')}]`);

describe('vectors in JSON', () => {
  proves(
    'choice.optimizer.vector-json',
    'equal the result of JSON.parse to the last bit, for any split of the text',
    () => {
      fc.assert(
        fc.property(answer, fc.integer({ min: 1, max: 40 }), (text, pieceBytes) => {
          expect(read(text, pieceBytes)).toEqual(parsed(text));
        }),
        { numRuns: 2_000 },
      );
    },
  );

  proves('choice.optimizer.vector-json', 'are refused exactly where JSON.parse refuses', () => {
    const broken = fc.tuple(
      answer,
      fc.nat(),
      fc.constantFrom('', ',', ']', '[', '.', '-', '+', 'e', '0', '"', ' ', 'x'),
    );
    let refused = 0;
    fc.assert(
      fc.property(broken, ([text, state, put]) => {
        const at = state % text.length;
        const cut = text.slice(0, at) + put + text.slice(at + 1);
        const [mine, theirs] = [outcome(() => read(cut, 7)), outcome(() => parsed(cut))];
        refused += Number(theirs === undefined);
        if (theirs === undefined) expect(mine, cut).toBeUndefined();
        else if (mine !== undefined) expect(mine).toEqual(theirs);
        else expect(cut, 'lists of numbers and other values are refused as well').toMatch(/\[\s*-?\d/);
      }),
      { numRuns: 2_000 },
    );
    expect(refused).toBeGreaterThan(100);
  });

  it.each([
    '[[1,]]',
    '[[,1]]',
    '[[1 2]]',
    '[[01]]',
    '[[-]]',
    '[[1.]]',
    '[[.5]]',
    '[[1e]]',
    '[[+1]]',
    '[[1.2.3]]',
    '[[1',
  ])('are invalid JSON in %s', (text) => {
    for (const pieceBytes of [1, 100]) expect(() => read(text, pieceBytes)).toThrow();
  });

  proves('choice.optimizer.vector-json', 'are bounded in count, length, digits and other content', () => {
    const bounds = { vectors: 1, numbers: 3 };
    expect(read('[[1,2,3]]', 2, bounds)).toEqual([Float32Array.of(1, 2, 3)]);
    expect(() => read('[[1,2,3,4]]', 2, bounds)).toThrow('expected vectors of 1 to 3 numbers');
    expect(() => read(`[${Array(18).fill('[1]').join(',')}]`, 9, bounds)).toThrow('expected 1 vectors');
    expect(() => read(`[[0.${'1'.repeat(63)}]]`, 9)).toThrow('a number of more than 64 characters');
    expect(() => read(`["${'x'.repeat(1_048_576)}"]`)).toThrow('more than 1048576 bytes besides the vectors');
    expect(() => read('[[1,"x"]]')).toThrow('a vector with other values than numbers');
  });

  it('share one block of memory', () => {
    const rows = read(`[${Array.from({ length: 32 }, (_, at) => `[${at},1,2,3]`).join(',')}]`, 5, {
      vectors: 32,
      numbers: 8_192,
    }) as Float32Array[];
    expect(new Set(rows.map(({ buffer }) => buffer)).size).toBe(1);
    expect(rows[0]?.buffer.byteLength).toBe(32 * 4 * 4);
  });
});

function outcome(work: () => unknown): unknown {
  try {
    return work() ?? null;
  } catch {
    return undefined;
  }
}
