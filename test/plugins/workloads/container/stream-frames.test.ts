import { describe, expect, it } from 'vitest';
import { frameSplitter } from '../../../../plugins/workloads/container/stream-frames.ts';
import fc from '../../../support/fast-check.ts';

function frame(stream: 1 | 2, text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.from([stream, 0, 0, 0, 0, 0, 0, 0]);
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

describe('the frames of an attach stream', () => {
  it('give both outputs, wherever the bytes are cut', () => {
    const frames = fc.array(fc.tuple(fc.constantFrom(1 as const, 2 as const), fc.string({ unit: 'grapheme' })), {
      maxLength: 8,
    });
    fc.assert(
      fc.property(frames, fc.array(fc.nat(40), { minLength: 1 }), (parts, cuts) => {
        const bytes = Buffer.concat(parts.map(([stream, text]) => frame(stream, text)));
        const got = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
        const split = frameSplitter((kind, piece) => {
          got[kind] = Buffer.concat([got[kind], piece]);
        });
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = (cuts[turn % cuts.length] ?? 0) + 1;
          split(bytes.subarray(at, at + size));
          at += size;
        }
        const of = (stream: number) =>
          parts
            .filter(([kind]) => kind === stream)
            .map(([, text]) => text)
            .join('');
        expect(got.stdout.toString()).toBe(Buffer.from(of(1)).toString());
        expect(got.stderr.toString()).toBe(Buffer.from(of(2)).toString());
      }),
    );
  });
});
