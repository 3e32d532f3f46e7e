import { RawObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { Lines } from '../../../core/backend/transports/lines.ts';
import { SseFrames, SseTooLarge } from '../../../core/mcp/sse-frames.ts';
import { cpuClock } from '../../support/cpu-clock.ts';
import { proves } from '../../support/proves.ts';

const LINES = 2_000_000;
const MAX_BYTES = 100_000_000;
const nothing = (): void => {};

function memory(): number {
  const { heapUsed, arrayBuffers, external } = process.memoryUsage();
  return heapUsed + Math.max(arrayBuffers, external);
}

describe('a backend that sends little at a time', () => {
  proves(
    'choice.http.small-pieces',
    'has an event of two million empty lines kept in 16 MB, and cut at its bound',
    () => {
      let size = 0;
      const frames = new SseFrames(MAX_BYTES, ({ data }) => {
        size = data.length;
      });
      const chunk = Buffer.from('data:\n'.repeat(10_000));
      const before = memory();
      for (let lines = 0; lines < LINES; lines += 10_000) frames.push(chunk);
      expect(memory() - before).toBeLessThan(16_000_000);
      frames.push(Buffer.from('\n'));
      expect(size).toBe(LINES - 1);
      const tight = new SseFrames(1_000, nothing);
      expect(() => tight.push(chunk)).toThrow(SseTooLarge);
    },
  );

  proves('choice.http.small-pieces', 'has lines in pieces of one byte kept in about their size', () => {
    const byte = Buffer.from('x');
    const told: number[] = [];
    const frames = new SseFrames(MAX_BYTES, ({ data }) => void told.push(data.length));
    const lines = new Lines(MAX_BYTES, (line) => void told.push(line.length), nothing);
    frames.push(Buffer.from('data:'));
    const before = memory();
    for (let n = 0; n < 1_000_000; n++) {
      frames.push(byte);
      lines.push(byte);
    }
    expect(memory() - before).toBeLessThan(16_000_000);
    frames.push(Buffer.from('\n\n'));
    lines.push(Buffer.from('\n'));
    expect(told).toEqual([1_000_000, 1_000_000]);
  });

  it.each(['\r', '\n', '\r\n', 'data:\r', 'data:\n', ':\r\n'])(
    'has lines that end with %j read in linear time',
    (line) => {
      const chunk = Buffer.from(line.repeat(1_000_000));
      const usedMs = cpuClock();
      new SseFrames(MAX_BYTES, nothing).push(chunk);
      expect(usedMs()).toBeLessThan(2_500); // quadratic: half a minute
    },
  );
});

describe('JSON as text in a result', () => {
  it('is scanned with its escaped quotes in the time of a loop, whatever stands before them', () => {
    const text = String.raw`{\"a\":\"b\\\"\",\"c\\\\\":1}`;
    for (let shift = 0; shift < 100; shift++) {
      const bytes = Buffer.from(`{"t":"${'x'.repeat(shift)}${text.repeat(9)}","u":1}`);
      expect(RawObject.parse(bytes).value('t')).toBe((JSON.parse(bytes.toString()) as { t: string }).t);
    }
    for (const cut of [60, 61, 62, 63]) {
      const bytes = Buffer.from(`{"t":"${text.repeat(9)}`.slice(0, cut));
      expect(() => RawObject.parse(bytes)).toThrow('unterminated string');
    }
    const bytes = Buffer.from(`{"t":"${String.raw`\"`.repeat(10_000_000)}"}`);
    const scanMs = fastest(() => RawObject.parse(bytes));
    const loopMs = fastest(() => pairsIn(bytes));
    expect(scanMs / loopMs).toBeLessThan(RATIO);
  });
});

/** A native search for each quote takes more than ten times as long as a plain loop over the bytes. */
const RATIO = 8;

function fastest(run: () => unknown): number {
  const times = [1, 2, 3, 4, 5].map(() => {
    const usedMs = cpuClock();
    run();
    return usedMs();
  });
  return Math.min(...times);
}

function pairsIn(bytes: Buffer): number {
  let pairs = 0;
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] !== 0x5c) continue;
    pairs++;
    at++;
  }
  return pairs;
}
