import { isObject, type JsonObject, RawObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { Lines } from '../../../core/backend/transports/lines.ts';
import { cursorAfter, startOf } from '../../../core/catalog/cursor.ts';
import { RawJsonError } from '../../../core/json/json-errors.ts';
import { rawElements } from '../../../core/json/raw-elements.ts';
import { decodeHeaderValue, encodeHeaderValue } from '../../../core/mcp/headers.ts';
import { readMessage } from '../../../core/mcp/message.ts';
import { SseFrames, SseTooLarge } from '../../../core/mcp/sse-frames.ts';
import { createStateSeal } from '../../../core/pipeline/bridge/request-state.ts';
import { callerNamed } from '../../support/fake-gateway.ts';
import fc from '../../support/fast-check.ts';
import { cuts, cutUp, effort, mutated, PROPERTY_MS } from './effort.ts';

const key = fc.oneof(
  fc.string({ maxLength: 8, unit: 'binary' }),
  fc.constantFrom('__proto__', 'constructor', '', 'a\\b', '"', '1', 'ü', '\ud800'),
);
const value = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
const object = fc.dictionary(key, value, { maxKeys: 8 }).map((members) => ({ ...members }) as JsonObject);
const spacing = fc.constantFrom(undefined, 1, '\t', ' \n');
const json = fc.tuple(object, spacing).map(([members, space]) => Buffer.from(JSON.stringify(members, null, space)));
const anyBytes = fc.oneof(
  mutated(json),
  fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)),
);

/** The result of JSON.parse; `undefined` when it throws. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Runs a function that may only fail with a JSON error. */
function refusing<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof RawJsonError || cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

describe('a raw object', { timeout: PROPERTY_MS }, () => {
  it('has the members that JSON.parse finds, and returns the written bytes', () => {
    fc.assert(
      fc.property(json, (bytes) => {
        const raw = RawObject.parse(bytes);
        const known = parsed(bytes) as JsonObject;
        expect([...raw.keys()].sort()).toEqual(Object.keys(known).sort());
        for (const name of raw.keys()) expect(raw.value(name)).toEqual(known[name]);
        const [first = 'none'] = raw.keys();
        const changed = { ...known, [first]: 1 };
        expect(parsed(raw.with(first, Buffer.from('1')).toBytes())).toEqual(changed);
        expect(RawObject.parse(raw.without(first).toBytes()).has(first)).toBe(false);
      }),
      effort(500),
    );
  });

  it('accepts everything that JSON.parse accepts, with the same result', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const known = parsed(bytes);
        const raw = refusing(() => RawObject.parse(bytes));
        if (isObject(known)) {
          expect([...(raw?.keys() ?? ['refused'])].sort()).toEqual(Object.keys(known).sort());
          for (const name of raw?.keys() ?? []) expect(raw?.value(name)).toEqual(known[name]);
        } else if (known !== undefined) expect(raw).toBeUndefined();
        if (Array.isArray(known)) expect(rawElements(bytes, 50_000).map((element) => parsed(element))).toEqual(known);
      }),
      effort(3000),
    );
  });

  it('can read its own output', () => {
    fc.assert(
      fc.property(anyBytes, key, (bytes, name) => {
        const raw = refusing(() => RawObject.parse(bytes));
        if (raw === undefined) return;
        const changed = RawObject.parse(raw.with(name, Buffer.from('{"a":[1]}')).toBytes());
        expect(changed.object(name)?.get('a')?.toString()).toBe('[1]');
        const others = [...raw.keys()].filter((each) => each !== name);
        for (const other of others) expect(changed.get(other)).toEqual(raw.get(other));
      }),
      effort(1000),
    );
  });
});

describe('a message', { timeout: PROPERTY_MS }, () => {
  const message = fc.record(
    {
      jsonrpc: fc.oneof({ weight: 5, arbitrary: fc.constant('2.0') }, value),
      id: fc.oneof(fc.string(), fc.integer(), fc.double(), value),
      method: fc.oneof(fc.constantFrom('tools/call', 'initialize'), value),
      params: fc.oneof(object, value),
      result: value,
      error: value,
    },
    { requiredKeys: [] },
  );
  const bytes = message.map((members) => Buffer.from(JSON.stringify(members)));

  it('is parsed or refused, never a fault, and keeps its id', () => {
    fc.assert(
      fc.property(fc.oneof(bytes, mutated(bytes), anyBytes), (body) => {
        const read = readMessage(body);
        const known = parsed(body);
        const id = isObject(known) ? known.id : undefined;
        if ('misread' in read) {
          // -32602: half of a surrogate pair, which no UTF-8 text can pass on
          expect([-32700, -32600, -32602]).toContain(read.misread.code);
          const echo = typeof id === 'string' || typeof id === 'number' ? id : null;
          // text that is not JSON has no id
          if (read.misread.code !== -32700) expect(parsed(read.id)).toEqual(echo);
          return;
        }
        expect(isObject(known)).toBe(true);
        if (read.kind === 'request') expect(read.key).toEqual(id);
      }),
      effort(3000),
    );
  });
});

describe('a header value', { timeout: PROPERTY_MS }, () => {
  it('is encoded as visible ASCII and decoded to the same value', () => {
    const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }), encodedLike);
    fc.assert(
      fc.property(text, (given) => {
        const written = encodeHeaderValue(given);
        expect(written).toMatch(/^[\t\x20-\x7e]+$/);
        expect(written).toBe(written.trim());
        expect(decodeHeaderValue(` ${written}\t`)).toBe(given);
      }),
      effort(2000),
    );
  });

  it('of any kind is read or refused', () => {
    fc.assert(
      fc.property(fc.oneof(encodedLike, fc.string({ unit: 'binary' })), (given) => {
        const read = decodeHeaderValue(given);
        if (read !== undefined)
          expect(decodeHeaderValue(encodeHeaderValue(read.toWellFormed()))).toBe(read.toWellFormed());
      }),
      effort(2000),
    );
  });

  const encodedLike = fc
    .tuple(
      fc.constantFrom('=?base64?', '=?BASE64?', '=?'),
      fc.oneof(fc.base64String(), fc.string()),
      fc.constantFrom('?=', '='),
    )
    .map((parts) => parts.join(''));
});

describe('an event stream', { timeout: PROPERTY_MS }, () => {
  const line = fc.oneof(
    fc.constantFrom(
      'data:',
      'data',
      'data: ',
      'id:',
      'id: 7',
      'id:\0',
      'event: ping',
      'retry: 10',
      'retry: 1e3',
      'retry:0x9',
    ),
    fc.constantFrom(':', ': note', 'other: 1', '', '', '', 'data: {"a":1}', 'data:  two', '﻿data: mark'),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  const ends = fc.constantFrom('\n', '\r', '\r\n', '\n\n');
  const stream = fc.array(fc.tuple(line, ends), { maxLength: 12 }).map((parts) => Buffer.from(parts.flat().join('')));

  it('is parsed in the same way for any chunks, as the standard requires', () => {
    fc.assert(
      fc.property(fc.oneof(stream, mutated(stream)), cuts, (bytes, at) => {
        const events: string[] = [];
        const frames = new SseFrames(1 << 20, ({ name, data }) => void events.push(`${name}|${data.toString('utf8')}`));
        for (const chunk of cutUp(bytes, at)) frames.push(chunk);
        const known = readEventStream(bytes.toString('utf8'));
        expect(events).toEqual(known.events);
        expect([frames.lastEventId, frames.retryMs]).toEqual([known.lastEventId, known.retryMs]);
      }),
      effort(3000),
    );
  });

  it('keeps no more than its limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('data: 12345', 'x'.repeat(30), '', ':'), { maxLength: 12 }),
        cuts,
        (lines, at) => {
          const limit = 40;
          const frames = new SseFrames(limit, ({ data }) => expect(data.length).toBeLessThanOrEqual(limit));
          try {
            for (const chunk of cutUp(Buffer.from(`${lines.join('\n')}\n\n`), at)) frames.push(chunk);
          } catch (cause) {
            expect(cause).toBeInstanceOf(SseTooLarge);
          }
        },
      ),
      effort(500),
    );
  });
});

/** WHATWG HTML §9.2.6, implemented literally on the whole text. */
function readEventStream(text: string) {
  const events: string[] = [];
  let data: string[] = [];
  let name = '';
  let id: string | undefined;
  let lastEventId: string | undefined;
  let retryMs: number | undefined;
  const lines = text.replace(/^﻿/, '').split(/\r\n|\n|\r/);
  for (const line of lines.slice(0, -1)) {
    if (line === '') {
      lastEventId = id;
      if (data.length > 0) events.push(`${name === '' ? 'message' : name}|${data.join('\n')}`);
      data = [];
      name = '';
      continue;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const rest = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(rest);
    if (field === 'event') name = rest;
    if (field === 'id' && !rest.includes('\0')) id = rest;
    if (field === 'retry' && /^[0-9]+$/.test(rest)) retryMs = Number(rest);
  }
  return { events, lastEventId, retryMs };
}

describe('lines of a program', { timeout: PROPERTY_MS }, () => {
  it('are the same for any chunks; long ones are reported and dropped', () => {
    const text = fc.array(fc.oneof(fc.constantFrom('\n', '\r\n', '\r', '{}'), fc.string({ maxLength: 20 })), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(text, cuts, fc.integer({ min: 1, max: 30 }), (parts, at, limit) => {
        const bytes = Buffer.from(parts.join(''));
        const lines: string[] = [];
        let tooLong = 0;
        const cutter = new Lines(
          limit,
          (each) => void lines.push(each.toString('latin1')),
          () => void tooLong++,
        );
        for (const chunk of cutUp(bytes, at)) cutter.push(chunk);
        const [unended = '', ...whole] = bytes.toString('latin1').split('\n').reverse();
        const fits = (each: string): boolean => each.length <= limit;
        expect(lines).toEqual(
          whole
            .reverse()
            .filter(fits)
            .map((each) => each.replace(/\r$/, ''))
            .filter((each) => each !== ''),
        );
        expect(tooLong).toBe([unended, ...whole].filter((each) => !fits(each)).length);
      }),
      effort(2000),
    );
  });
});

describe('a cursor', { timeout: PROPERTY_MS }, () => {
  const long = fc
    .tuple(fc.constantFrom('x'.repeat(300), '😀'.repeat(120), '\ud800'.repeat(80)), key)
    .map((parts) => parts.join(''));
  const entries = fc
    .uniqueArray(fc.oneof(key, long), { minLength: 1, maxLength: 30 })
    .map((keys) => keys.sort((a, b) => (a < b ? -1 : 1)).map((each) => ({ key: each })));

  it('visits every list item once, for any keys', () => {
    fc.assert(
      fc.property(entries, fc.integer({ min: 1, max: 7 }), (list, size) => {
        const seen: string[] = [];
        let start: number | undefined = 0;
        for (let page = 0; page <= list.length && start !== undefined; page++) {
          const items = list.slice(start, start + size);
          seen.push(...items.map((item) => item.key));
          if (start + size >= list.length) break;
          const cursor = cursorAfter('tool', list, start + size - 1);
          expect(cursor.length).toBeLessThanOrEqual(512);
          expect(startOf(cursor, 'prompt', list)).toBeUndefined();
          start = startOf(cursor, 'tool', list);
        }
        expect(seen).toEqual(list.map((item) => item.key));
      }),
      effort(1000),
    );
  });

  it('of any text is a position in the list or invalid', () => {
    const cursor = fc.oneof(
      fc.string({ maxLength: 600 }),
      fc.base64String({ maxLength: 600 }),
      fc
        .record({ k: fc.constantFrom('tool', 'prompt'), a: value, n: value })
        .map((held) => Buffer.from(JSON.stringify(held)).toString('base64url')),
    );
    fc.assert(
      fc.property(cursor, entries, (given, list) => {
        const start = startOf(given, 'tool', list);
        if (start === undefined) return;
        expect(Number.isInteger(start)).toBe(true);
        expect(start).toBeGreaterThanOrEqual(0);
        expect(start).toBeLessThanOrEqual(list.length);
      }),
      effort(2000),
    );
  });
});

describe('a sealed state', { timeout: PROPERTY_MS }, () => {
  const seal = createStateSeal('a secret of a test', 60_000, 65_536, () => 1000);
  const binding = fc.record({
    caller: fc.string().map(callerNamed),
    method: fc.constantFrom('tools/call', 'prompts/get'),
    name: fc.string(),
    arguments: object,
  });
  const state = fc.record(
    {
      callId: fc.string(),
      round: fc.nat(),
      backend: fc.string(),
      inner: fc.string({ unit: 'grapheme' }),
      parked: fc.string(),
    },
    { requiredKeys: ['callId', 'round', 'backend'] },
  );

  it('opens only with the binding it was sealed with', () => {
    fc.assert(
      fc.property(state, binding, binding, (held, bound, other) => {
        const sealed = seal.seal(held, bound);
        expect(seal.open(sealed, bound)).toEqual(held);
        const reordered = Object.fromEntries(Object.entries(bound.arguments).reverse());
        expect(seal.open(sealed, { ...bound, arguments: reordered })).toEqual(held);
        if (JSON.stringify(other) !== JSON.stringify(bound)) expect(seal.open(sealed, other)).toBeUndefined();
      }),
      effort(300),
    );
  });

  it('that was changed or made up does not open', () => {
    const bound = { caller: callerNamed('ada'), method: 'tools/call', name: 'x', arguments: {} };
    const sealed = state.map((held) => Buffer.from(seal.seal(held, bound)));
    const texts = fc.oneof(fc.string(), fc.base64String({ maxLength: 200 }));
    fc.assert(
      fc.property(fc.oneof(fc.tuple(sealed, mutated(sealed)), texts), (given) => {
        const text = typeof given === 'string' ? given : given[1].toString('latin1');
        const opened = seal.open(text, bound);
        // changes that cancel each other out leave a valid state
        if (opened !== undefined) expect(seal.seal(opened, bound)).toHaveLength(text.length);
      }),
      effort(1000),
    );
  });
});
