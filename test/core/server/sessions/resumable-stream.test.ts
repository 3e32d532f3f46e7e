import { describe, expect, it } from 'vitest';
import type { ResponseStream } from '../../../../core/contract/inbound.ts';
import { ByteBudget } from '../../../../core/mcp/byte-budget.ts';
import { ResumableStream } from '../../../../core/server/era-2025-11-25/sessions/resumable-stream.ts';
import { eventStream } from '../../../../core/server/http/http-replies.ts';
import { DROPPABLE, MessageWriter, MUST } from '../../../../core/server/message-writer.ts';
import type { Heartbeat } from '../../../../core/timing/shared-timers.ts';
import { proves } from '../../../support/proves.ts';

/** A connection whose reader may fall behind. */
function connection() {
  const written: string[] = [];
  const pieces: (Buffer | string)[] = [];
  const drains: (() => void)[] = [];
  const state = { pendingBytes: 0, ended: false };
  const stream: ResponseStream = {
    write(chunk) {
      const parts = [chunk].flat();
      pieces.push(...parts);
      return written.push(parts.join('')) > 0;
    },
    onDrain: (listener) => void drains.push(listener),
    end: () => {
      state.ended = true;
    },
    get pendingBytes() {
      return state.pendingBytes;
    },
  };
  const writer = new MessageWriter(eventStream(stream), 100);
  const ids = () => written.flatMap((frame) => /^id: (\S+)\n(?!retry)/.exec(frame)?.[1] ?? []);
  const drain = () => {
    state.pendingBytes = 0;
    for (const each of drains) each();
  };
  return { writer, written, pieces, ids, state, drain };
}

/** A connection of a transport without resumption. */
function plainConnection() {
  const written: string[] = [];
  const writer = new MessageWriter(
    {
      write: ({ parts, eventId }) => written.push(`${eventId ?? 'no id'} ${Buffer.concat(parts)}`) > 0,
      keepAlive: () => {},
      onDrain: () => {},
      end: () => {},
      pendingBytes: 0,
    },
    100,
  );
  return { writer, written };
}

function createStream({ events = 10, bytes = 10_000, isPrimed = false, stored = budgetOf(100_000), share = '' } = {}) {
  const streams: Heartbeat['streams'] = new Set();
  const heartbeat: Heartbeat = { streams, calls: { add: () => {}, delete: () => {} }, stop: () => {} };
  const parts = { replayEvents: events, replayBytes: bytes, stored, isPrimed, heartbeat };
  return { stream: new ResumableStream('s', parts, share), streams };
}

const budgetOf = (memoryBudgetBytes: number) => new ByteBudget({ memoryBudgetBytes, memoryWaitMs: 0 });

const message = (n: number) => [Buffer.from(`{"n":${n}}`)];

describe('a stream of a session', () => {
  it('numbers its events, and brings a reader what came after the number it names', () => {
    const { stream } = createStream();
    const first = connection();
    stream.attach(first.writer);
    for (let n = 1; n <= 3; n++) stream.push(MUST, message(n));
    expect(first.ids()).toEqual(['s-1', 's-2', 's-3']);
    stream.detach(first.writer);
    stream.push(MUST, message(4));
    const second = connection();
    stream.attach(second.writer, 2);
    expect(second.ids()).toEqual(['s-3', 's-4']);
  });

  it('copies a message once: what is stored is sent', () => {
    const { stream } = createStream();
    const first = connection();
    stream.attach(first.writer);
    stream.push(MUST, message(1));
    const second = connection();
    stream.attach(second.writer, 0);
    const [sent, again] = [first, second].map(({ pieces }) => pieces.find((piece) => `${piece}` === '{"n":1}'));
    expect(sent).toBeDefined();
    expect(again).toBe(sent);
  });

  it('sends a reader without an event id only undelivered events', () => {
    const { stream } = createStream();
    const first = connection();
    stream.attach(first.writer);
    stream.push(MUST, message(1));
    stream.detach(first.writer);
    stream.push(MUST, message(2));
    const second = connection();
    stream.attach(second.writer);
    expect(second.ids()).toEqual(['s-2']);
  });

  it('counts its connection once, for either side that ends it', () => {
    const { stream, streams } = createStream();
    const one = connection();
    const two = connection();
    stream.attach(one.writer);
    stream.attach(two.writer);
    expect([streams.size, one.state.ended]).toEqual([1, true]);
    stream.detach(one.writer);
    expect(streams.size).toBe(1);
    stream.end();
    stream.detach(two.writer);
    expect(streams.size).toBe(0);
  });

  it('keeps undelivered notifications once per kind', () => {
    const { stream } = createStream();
    for (let n = 1; n <= 3; n++) stream.push({ latest: 'tools' }, message(n));
    stream.push({ latest: 'prompts' }, message(9));
    const reader = connection();
    stream.attach(reader.writer);
    expect(reader.ids()).toEqual(['s-3', 's-4']);
  });

  it('lets go of the spare before the needed, and of the old before the new', () => {
    const { stream } = createStream({ events: 3 });
    stream.push(MUST, message(1));
    stream.push(DROPPABLE, message(2));
    stream.push(DROPPABLE, message(3));
    stream.push(MUST, message(4));
    stream.push(MUST, message(5));
    stream.push(MUST, message(6));
    const reader = connection();
    stream.attach(reader.writer, 0);
    expect(reader.ids()).toEqual(['s-4', 's-5', 's-6']);
  });

  it('is bounded in bytes, and says when something cannot wait', () => {
    const { stream } = createStream({ bytes: 200 });
    expect(stream.push(MUST, [Buffer.alloc(300, 0x20)])).toBe(false);
    for (let n = 0; n < 50; n++) expect(stream.push(MUST, message(n))).toBe(true);
    const reader = connection();
    stream.attach(reader.writer, 0);
    expect(reader.written.join('').length).toBeLessThanOrEqual(200);
    expect(reader.ids().at(-1)).toBe('s-51');
  });

  proves(
    'choice.limits.memory-replay',
    'streams of one caller store as many bytes as are free; an answer without space is replaced by an error',
    () => {
      const stored = budgetOf(3_000);
      const answer = [Buffer.alloc(1_000, 0x20)];
      const tooLarge = () => Buffer.from('too large');
      const made = [1, 2, 3].map(() => createStream({ stored, share: 'ada' }).stream);
      for (const stream of made) stream.complete(answer, tooLarge);
      const other = createStream({ stored, share: 'bob' }).stream;
      other.complete([Buffer.alloc(400, 0x20)], tooLarge);
      const resumed = [...made, other].map((stream) => {
        const reader = connection();
        stream.attach(reader.writer, 0);
        return reader.written.join('').includes('too large');
      });
      expect(resumed).toEqual([false, true, true, false]);
      for (const stream of [...made, other]) stream.forget();
      expect(stored.now.held).toBe(0);
    },
  );

  it('stores nothing for a client that cannot resume, but what waits for its connection', () => {
    const stored = budgetOf(10_000);
    const { stream } = createStream({ stored, isPrimed: true });
    stream.push(MUST, message(1));
    const first = plainConnection();
    stream.attach(first.writer);
    const waited = stored.now.held;
    stream.push(MUST, message(2));
    expect([waited > 0, stored.now.held]).toEqual([true, waited]);
    stream.end();
    stream.push(MUST, message(3));
    const second = plainConnection();
    stream.attach(second.writer);
    stream.complete(message(4), () => Buffer.from('too large'));
    expect([first.written, second.written]).toEqual([
      ['s-1 {"n":1}', 'no id {"n":2}'],
      ['s-3 {"n":3}', 'no id {"n":4}'],
    ]);
    expect(stored.now.held).toBe(waited * 2);
  });

  it('loses nothing that waited for a slow reader who left', () => {
    const { stream } = createStream();
    const slow = connection();
    stream.attach(slow.writer);
    stream.push(MUST, message(1));
    slow.state.pendingBytes = 1000;
    stream.push({ latest: 'tools' }, message(2));
    expect(slow.ids()).toEqual(['s-1']);
    stream.detach(slow.writer);
    const next = connection();
    stream.attach(next.writer);
    expect(next.ids()).toEqual(['s-2']);
  });

  it('sends what waited in its order when the reader catches up', () => {
    const { stream } = createStream();
    const slow = connection();
    stream.attach(slow.writer);
    slow.state.pendingBytes = 1000;
    for (let n = 1; n <= 5; n++) stream.push({ latest: 'progress' }, message(n));
    stream.push(DROPPABLE, message(6));
    expect(slow.written).toEqual([]);
    slow.drain();
    expect(slow.written).toEqual(['id: s-1\nevent: message\ndata: {"n":5}\n\n']);
  });
});
