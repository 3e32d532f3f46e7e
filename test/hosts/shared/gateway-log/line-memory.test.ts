import { describe, expect, it } from 'vitest';
import {
  createLineMemory,
  type LogLine,
  MAX_BACKENDS,
  MAX_CHARS,
  MAX_LINE_CHARS,
  MAX_LINES,
  MAX_WAITING,
} from '../../../../hosts/shared/gateway-log/line-memory.ts';

const line = (message: string, backend = 'one'): LogLine => ({
  time: '2026-01-01T00:00:00.000Z',
  backend,
  level: 'output',
  message,
});

describe('the memory of lines', () => {
  it('has the last lines of a backend, oldest first', () => {
    const memory = createLineMemory();
    for (const message of ['a', 'b', 'c']) memory.add(line(message));
    memory.add(line('x', 'two'));
    expect(memory.of('one', 2).map(({ message }) => message)).toEqual(['b', 'c']);
    expect(memory.of('two', 5).map(({ message }) => message)).toEqual(['x']);
    expect([memory.of('one', 0), memory.of('unknown', 5)]).toEqual([[], []]);
  });

  it('is bounded in lines, characters, the length of one line, and backends', () => {
    const memory = createLineMemory();
    for (let at = 0; at < 100_000; at++) memory.add(line(`line ${at}`));
    expect(memory.of('one', 1_000_000)).toHaveLength(MAX_LINES);
    expect(memory.of('one', 1)[0]?.message).toBe('line 99999');
    for (let at = 0; at < 1_000; at++) memory.add(line('x'.repeat(1_000)));
    const chars = memory.of('one', MAX_LINES).reduce((sum, { message }) => sum + message.length, 0);
    expect(chars).toBeLessThanOrEqual(MAX_CHARS);
    memory.add({ ...line('y'.repeat(1_000_000)), level: 'warn', fields: { more: 'z' } });
    expect(memory.of('one', 1)[0]?.message).toHaveLength(MAX_LINE_CHARS);
    expect(memory.of('one', 1)[0]?.fields).toBeUndefined();
    for (let at = 0; at < MAX_BACKENDS; at++) memory.add(line('x', `backend ${at}`));
    expect(memory.of('one', 1)).toEqual([]);
    expect(memory.of('backend 0', 1)).toHaveLength(1);
  });

  it('passes new lines to followers of the backend until they stop', async () => {
    const memory = createLineMemory();
    memory.add(line('before'));
    const stop = new AbortController();
    const followed = memory.follow('one', stop.signal);
    memory.add(line('a'));
    memory.add(line('other', 'two'));
    expect((await followed.next()).value?.message).toBe('a');
    const next = followed.next();
    memory.add(line('b'));
    expect((await next).value?.message).toBe('b');
    const last = followed.next();
    stop.abort();
    expect((await last).done).toBe(true);
  });

  it('ends all followers when it is closed', async () => {
    const memory = createLineMemory();
    const next = memory.follow('one', new AbortController().signal).next();
    memory.close();
    expect((await next).done).toBe(true);
    expect((await memory.follow('one', new AbortController().signal).next()).done).toBe(true);
  });

  it('drops the oldest lines of a follower that reads slowly and tells how many', async () => {
    const memory = createLineMemory();
    const followed = memory.follow('one', new AbortController().signal);
    for (let at = 0; at < MAX_WAITING + 5; at++) memory.add(line(`line ${at}`));
    expect((await followed.next()).value).toMatchObject({ level: 'warn', message: expect.stringMatching(/^5 lines/) });
    expect((await followed.next()).value?.message).toBe('line 5');
  });
});
