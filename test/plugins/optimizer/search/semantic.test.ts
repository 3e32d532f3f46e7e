import { describe, expect, it } from 'vitest';
import { matrixOf, semanticScores } from '../../../../plugins/optimizer/search/semantic.ts';

/** Pseudo-random numbers, the same in each run. */
function unitVector(length: number, seed: number): Float32Array {
  const vector = Float32Array.from(
    { length },
    (_, at) => Math.sin(seed * 12.9898 + at * 78.233) * (1 + ((seed + at) % 7)),
  );
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

function nearness(one: Float32Array, other: Float32Array): number {
  return 1 + one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}

describe('semantic search', () => {
  it.each([1, 7, 8, 9, 384, 1_025])('computes the scalar product of vectors of %i numbers', (length) => {
    const tools = Array.from({ length: 33 }, (_, at) => (at % 5 === 3 ? undefined : unitVector(length, at + 1)));
    const matrix = matrixOf(tools);
    if (matrix === undefined) throw new Error('no matrix');
    for (const width of [1, 2, 9, 10, 21]) {
      const rankQuery = Array.from({ length: width }, (_, at) => unitVector(length, at + 100));
      const scores = semanticScores(matrix, rankQuery, 2);
      expect(scores).toHaveLength(width);
      rankQuery.forEach((vector, each) => {
        const expected = tools.map((tool) => (tool === undefined ? 0 : nearness(tool, vector)));
        const furthest = Math.max(
          ...expected.map((value, tool) => Math.abs(value - (scores[each]?.[tool] ?? Infinity))),
        );
        expect(furthest).toBeLessThan(1e-4);
      });
    }
  });

  it('finds tools at exactly the distance, but none above it and none that is forbidden', () => {
    const axes = [
      [1, 0],
      [0, 1],
      [-1, 0],
      [1, 0],
    ].map((axis) => Float32Array.from(axis));
    const matrix = matrixOf(axes);
    if (matrix === undefined) throw new Error('no matrix');
    const found = (maxDistance: number) =>
      [...(semanticScores(matrix, [Float32Array.of(1, 0)], maxDistance, Uint8Array.of(1, 1, 1, 0))[0] ?? [])].map(
        (score) => score > 0,
      );
    expect(found(0)).toEqual([true, false, false, false]);
    expect(found(0.99)).toEqual([true, false, false, false]);
    expect(found(1)).toEqual([true, true, false, false]);
    expect(found(2)).toEqual([true, true, true, false]);
  });

  it('does not overflow for vectors longer than 1, and reads no memory of other queries', () => {
    const long = Float32Array.from({ length: 16 }, () => 1e9);
    const matrix = matrixOf([long, unitVector(16, 2)]);
    if (matrix === undefined) throw new Error('no matrix');
    const before = semanticScores(matrix, [unitVector(16, 2)], 2)[0];
    semanticScores(matrix, [long, long, long], 2);
    const after = semanticScores(matrix, [unitVector(16, 2)], 2)[0];
    expect(after).toEqual(before);
    expect(after?.[1]).toBeCloseTo(2, 3);
  });

  it('supports as many indexes as a gateway caches', () => {
    const matrices = Array.from({ length: 80 }, () => matrixOf([unitVector(384, 1)]));
    expect(matrices.every((matrix) => matrix !== undefined)).toBe(true);
    expect(semanticScores(matrices[79] ?? unmade(), [unitVector(384, 1)], 1)[0]?.[0]).toBeCloseTo(2, 3);
  });
});

function unmade(): never {
  throw new Error('no matrix');
}
