import { describe, expect, it } from 'vitest';
import { Gathering } from '../../../core/protocol/http/gathering.ts';
import { proves } from '../../support/proves.ts';

/** A body of `bytes`, in pieces of the sizes given in turn. */
function piecesOf(bytes: number, ...sizes: readonly number[]): Buffer[] {
  const body = Buffer.from(Array.from({ length: bytes }, (_, at) => at % 251));
  const pieces: Buffer[] = [];
  for (let at = 0, n = 0; at < bytes; n++) {
    const size = sizes[n % sizes.length] ?? 1;
    pieces.push(body.subarray(at, at + size));
    at += size;
  }
  return pieces;
}

function gathered(pieces: readonly Uint8Array[]): Gathering {
  const gathering = new Gathering();
  for (const piece of pieces) gathering.add(piece);
  return gathering;
}

describe('bytes that arrive in pieces', () => {
  it.each([
    [0, [1]],
    [1, [1]],
    [4_097, [1]],
    [70_000, [1]],
    [70_001, [4_096, 1]],
    [300_000, [65_536]],
    [300_000, [1, 65_536, 7, 100_000]],
  ])('are whole again: %i bytes in pieces of %j', (bytes, sizes) => {
    const pieces = piecesOf(bytes, ...sizes);
    const gathering = gathered(pieces);
    expect(gathering.bytes).toBe(bytes);
    expect(gathering.whole().equals(Buffer.concat(pieces))).toBe(true);
  });

  it('stay the same buffer when they come in one piece', () => {
    const piece = Buffer.from('{"jsonrpc":"2.0"}');
    expect(gathered([piece]).whole()).toBe(piece);
  });

  proves('choice.http.small-pieces', 'take about their own size: 2 MB in single bytes less than 4 MB', () => {
    const memory = (): number => {
      const { heapUsed, arrayBuffers, external } = process.memoryUsage();
      return heapUsed + Math.max(arrayBuffers, external);
    };
    const gathering = new Gathering();
    const before = memory();
    for (let n = 0; n < 2_000_000; n++) gathering.add(byteFor(n));
    expect(memory() - before).toBeLessThan(4_000_000);
    expect(gathering.whole()).toHaveLength(2_000_000);
  });
});

const BYTES = Array.from({ length: 256 }, (_, byte) => Buffer.from([byte]));

function byteFor(n: number): Buffer {
  return BYTES[n % 256] as Buffer;
}
