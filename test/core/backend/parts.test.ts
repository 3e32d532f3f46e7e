import { type Backend, DEFAULT_LIMITS, type JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { type CallerCalls, ConcurrencyLimit } from '../../../core/backend/concurrency-limit.ts';
import { mergeSources } from '../../../core/backend/merge-sources.ts';
import { Lines } from '../../../core/backend/transports/lines.ts';
import { joinParts } from '../../../core/json/byte-pieces.ts';
import { membersWithoutBraces } from '../../../core/json/raw-json.ts';
import { mirrorArguments, readAnnotations, stripAnnotations } from '../../../core/mcp/mirrored-params.ts';
import { SseFrames, SseTooLarge } from '../../../core/mcp/sse-frames.ts';
import { Cancel } from '../../../core/timing/cancel.ts';
import { proves } from '../../support/proves.ts';

/** The events of a stream cut into chunks of `size` bytes. */
function eventsOf(stream: string, size: number, maxBytes = 1_000) {
  const events: string[] = [];
  const frames = new SseFrames(maxBytes, ({ name, data }) => void events.push(`${name}|${data.toString()}`));
  const bytes = Buffer.from(stream);
  for (let at = 0; at < bytes.length; at += size) frames.push(bytes.subarray(at, at + size));
  return { events, frames };
}

describe('SseFrames', () => {
  const stream =
    '\ufeff: hello\nid: 1\ndata: one\n\nevent: ping\rdata:two\rdata: and more\r\rretry: 250\r\nid: 2\r\ndata\r\n\r\nid: 3\ndata: half';

  it.each([1, 2, 3, 7, 1000])('reads all line ends in chunks of %i bytes', (size) => {
    const { events, frames } = eventsOf(stream, size);
    expect(events).toEqual(['message|one', 'ping|two\nand more', 'message|']);
    expect(frames.retryMs).toBe(250);
  });

  it('moves the id with whole events only', () => {
    const { frames } = eventsOf(stream, 5);
    expect(frames.lastEventId).toBe('2');
  });

  it('moves the id with an event that has no data', () => {
    expect(eventsOf('id: 9\n\n', 3).frames.lastEventId).toBe('9');
  });

  it('refuses an event over the limit, in one line or in many', () => {
    expect(() => eventsOf(`data: ${'x'.repeat(2_000)}\n\n`, 100)).toThrow(SseTooLarge);
    expect(() => eventsOf(`${'data: 0123456789\n'.repeat(200)}\n`, 50)).toThrow(SseTooLarge);
  });
});

describe('Lines', () => {
  it('cuts lines, drops CR and empty ones, and skips one that is too long', () => {
    const lines: string[] = [];
    let tooLong = 0;
    const cutter = new Lines(
      10,
      (line) => void lines.push(line.toString()),
      () => void tooLong++,
    );
    for (const byte of Buffer.from(`one\r\n\n${'x'.repeat(50)}\ntwo\nthr`)) cutter.push(Buffer.from([byte]));
    cutter.push(Buffer.from('ee\nfour\n'));
    expect(lines).toEqual(['one', 'two', 'three', 'four']);
    expect(tooLong).toBe(1);
  });
});

describe('message parts', () => {
  it('join to the bytes they stand for', () => {
    expect(joinParts(['{"é":', Buffer.from('"ü"'), '}']).toString()).toBe('{"é":"ü"}');
  });

  it('give the members of an object without its braces, nothing for none', () => {
    expect(membersWithoutBraces(Buffer.from(' { "a" : {} } '))?.toString().trim()).toBe('"a" : {}');
    expect(membersWithoutBraces(Buffer.from('{ }'))).toBeUndefined();
  });
});

describe('Gate', () => {
  const never = new Cancel();

  it('passes the slot on in order', async () => {
    const gate = new ConcurrencyLimit('b', { places: 1, placesPerCaller: 1, line: 2, linePerCaller: 2 });
    const ada = gate.shareOf('ada');
    expect(gate.enter(ada, 1_000, never)).toBeUndefined();
    const order: number[] = [];
    const waits = [1, 2].map((n) => gate.enter(ada, 1_000, never)?.then(() => void order.push(n)));
    expect(() => gate.enter(ada, 1_000, never)).toThrow('too many calls');
    gate.leave(ada);
    await waits[0];
    gate.leave(ada);
    await waits[1];
    expect(order).toEqual([1, 2]);
    gate.leave(ada);
    expect([gate.inside, ada.inside]).toEqual([0, 0]);
  });

  it('limits the waiting time', async () => {
    const gate = new ConcurrencyLimit('b', { places: 1, placesPerCaller: 1, line: 2, linePerCaller: 2 });
    const ada = gate.shareOf('ada');
    gate.enter(ada, 1_000, never);
    await expect(gate.enter(ada, 20, never)).rejects.toMatchObject({ code: 'BACKEND_BUSY' });
    const stop = new Cancel();
    const waiting = gate.enter(ada, 1_000, stop);
    stop.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    gate.leave(ada);
    expect(gate.inside).toBe(0);
  });

  proves('choice.share.in-flight', 'keeps slots for other callers, however many calls one caller makes', async () => {
    expect([DEFAULT_LIMITS.inFlightPerCaller, DEFAULT_LIMITS.inFlightPerBackend]).toEqual([256, 512]);
    const gate = new ConcurrencyLimit('b', { places: 3, placesPerCaller: 2, line: 10, linePerCaller: 10 });
    const [eve, ada, bob] = ['eve', 'ada', 'bob'].map((key) => gate.shareOf(key)) as [
      CallerCalls,
      CallerCalls,
      CallerCalls,
    ];
    const eves = [1, 2, 3].map(() => gate.enter(eve, 1_000, never));
    expect([eves[0], eves[1], gate.inside]).toEqual([undefined, undefined, 2]);
    expect(gate.enter(ada, 1_000, never)).toBeUndefined();
    const bobs = gate.enter(bob, 1_000, never);
    gate.leave(ada); // Eve has waited longer, but has her share
    await bobs;
    gate.leave(eve);
    await eves[2];
    for (const share of [eve, eve, bob]) gate.leave(share);
    expect(gate.inside).toBe(0);
  });

  proves('choice.share.in-flight', 'serves waiting callers in turns', async () => {
    const gate = new ConcurrencyLimit('b', { places: 1, placesPerCaller: 1, line: 10, linePerCaller: 10 });
    const [eve, ada] = ['eve', 'ada'].map((key) => gate.shareOf(key)) as [CallerCalls, CallerCalls];
    const order: string[] = [];
    gate.enter(eve, 1_000, never);
    const all = [eve, eve, eve, ada].map(async (share) => {
      await gate.enter(share, 1_000, never);
      order.push(share.key);
      gate.leave(share);
    });
    gate.leave(eve);
    await Promise.all(all);
    expect(order).toEqual(['ada', 'eve', 'eve', 'eve']);
    expect(gate.inside).toBe(0);
  });

  proves('choice.share.queue', 'has room in the queue for other callers when one caller fills it', async () => {
    expect([DEFAULT_LIMITS.queuePerCaller, DEFAULT_LIMITS.queuePerBackend]).toEqual([768, 1024]);
    const gate = new ConcurrencyLimit('b', { places: 1, placesPerCaller: 1, line: 3, linePerCaller: 2 });
    const [eve, ada, bob] = ['eve', 'ada', 'bob'].map((key) => gate.shareOf(key)) as [
      CallerCalls,
      CallerCalls,
      CallerCalls,
    ];
    gate.enter(eve, 1_000, never);
    const eves = [gate.enter(eve, 1_000, never), gate.enter(eve, 1_000, never)];
    const oldest = expect(eves[0]).rejects.toMatchObject({ code: 'BACKEND_BUSY', notRun: true });
    expect(() => gate.enter(eve, 1_000, never)).toThrow('too many calls');
    const others = [gate.enter(ada, 1_000, never), gate.enter(bob, 1_000, never)];
    await oldest;
    expect(() => gate.enter(gate.shareOf('cy'), 1_000, never)).toThrow('too many calls'); // everybody has one
    gate.leave(eve);
    await others[0]; // other callers do not wait for the second call of the caller that filled the queue
    gate.leave(ada);
    await others[1];
    gate.leave(bob);
    await eves[1];
    gate.leave(eve);
    expect(gate.inside).toBe(0);
  });
});

describe('mergeSources', () => {
  const backend = (name: string, url = 'http://x/'): Backend => ({ name, transport: 'streamable-http', url });

  it('merges sources, ignores equal snapshots and prefers the first source with one warning', () => {
    const sets: string[] = [];
    const warnings: (JsonObject | undefined)[] = [];
    const log = {
      debug() {},
      info() {},
      error() {},
      warn: (_: string, fields?: JsonObject) => void warnings.push(fields),
    };
    const directory = mergeSources((all) => void sets.push(all.map((one) => `${one.name}=${one.url}`).join()), log);
    directory.update('static', [backend('b'), backend('a')]);
    directory.update('group', [backend('a', 'http://other/'), backend('c')]);
    directory.update('group', [backend('c'), { url: 'http://other/', name: 'a', transport: 'streamable-http' }]);
    directory.update('static', [backend('b')]);
    expect(sets).toEqual([
      'a=http://x/,b=http://x/',
      'a=http://x/,b=http://x/,c=http://x/',
      'a=http://other/,b=http://x/,c=http://x/',
    ]);
    expect(warnings).toEqual([{ backend: 'a', owner: 'static', source: 'group' }]);
  });
});

describe('x-mcp-header annotations', () => {
  const tool = (inputSchema: JsonObject) => Buffer.from(JSON.stringify({ name: 't', inputSchema }));
  const property = (header: string, type = 'string') => ({ type, 'x-mcp-header': header });

  it('compile from chains of properties', () => {
    const nested = { type: 'object', properties: { deep: property('Deep', 'boolean') } };
    expect(readAnnotations(tool({ properties: { a: property('A'), nested } }))).toEqual({
      mirrored: [
        { header: 'A', path: ['a'], type: 'string' },
        { header: 'Deep', path: ['nested', 'deep'], type: 'boolean' },
      ],
    });
  });

  proves(
    'choice.encoding.param-types',
    'are valid on strings, integers and booleans that properties alone reach',
    () => {
      const invalid: JsonObject[] = [
        { properties: { a: property('A', 'number') } },
        { properties: { a: property('bad name') } },
        { properties: { a: property('A'), b: property('a') } },
        { properties: { list: { type: 'array', items: property('A') } } },
        { anyOf: [{ properties: { a: property('A') } }] },
        { $defs: { a: property('A') } },
        { properties: { a: { type: 'string', 'x-mcp-header': 7 } } },
        property('Root'),
      ];
      for (const schema of invalid)
        expect(readAnnotations(tool(schema)), JSON.stringify(schema)).toHaveProperty('invalid');
    },
  );

  it('are not looked for in data or in names of properties', () => {
    expect(
      readAnnotations(tool({ properties: { 'x-mcp-header': { type: 'number', default: { 'x-mcp-header': 1 } } } })),
    ).toBeUndefined();
  });

  it('come off without touching anything else', () => {
    const definition =
      '{"name":"t","inputSchema":{"properties":{"x-mcp-header":{"x-mcp-header":"A","maximum":12345678901234567890}}}}';
    expect(stripAnnotations(Buffer.from(definition)).toString()).toBe(definition.replace('"x-mcp-header":"A",', ''));
  });

  proves('choice.encoding.param-omitted', 'send nothing for what is absent, null or of another type', () => {
    const headers: Record<string, string> = {};
    const mirrored = [
      { header: 'A', path: ['a'], type: 'string' },
      { header: 'B', path: ['b'], type: 'integer' },
      { header: 'C', path: ['c', 'd'], type: 'boolean' },
      { header: 'E', path: ['constructor', 'name'], type: 'string' },
      { header: 'F', path: ['f'], type: 'integer' },
    ] as const;
    mirrorArguments(headers, mirrored, { a: null, b: 1.5, c: { d: false }, f: 42.0 });
    expect(headers).toEqual({ 'mcp-param-c': 'false', 'mcp-param-f': '42' });
  });
});
