import { RawObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { RawJsonError } from '../../../core/json/json-errors.ts';
import { MAX_JSON_DEPTH } from '../../../core/json/json-scan.ts';
import { rawElements } from '../../../core/json/raw-elements.ts';
import fc from '../../support/fast-check.ts';
import { proves } from '../../support/proves.ts';

const parse = (text: string): RawObject => RawObject.parse(Buffer.from(text));

describe('a raw object', () => {
  it('knows its members without decoding them', () => {
    const object = parse(' { "a" : 1 , "b\\u0063" : [1, {"x":"}"}] , "d" : "say \\"hi\\"" } ');
    expect([...object.keys()]).toEqual(['a', 'bc', 'd']);
    expect(object.get('bc')?.toString()).toBe('[1, {"x":"}"}]');
    expect(object.string('d')).toBe('say "hi"');
    expect(object.string('a')).toBeUndefined();
  });

  it('keeps big integers, escapes and key order byte-equal when one member is replaced', () => {
    const object = parse('{"id":12345678901234567890123,"name":"a","e":"\\u00e9\\n","n":-0.0e-7}');
    const changed = object.with('name', Buffer.from('"b"')).toBytes().toString();
    expect(changed).toBe('{"id":12345678901234567890123,"name":"b","e":"\\u00e9\\n","n":-0.0e-7}');
  });

  it('takes the last of two members with one name, as JSON.parse does, and writes only that', () => {
    const object = parse('{"a":1,"b":2,"a":3}');
    expect(object.toBytes().toString()).toBe('{"a":3,"b":2}');
  });

  it('gives its own bytes back when nothing changed', () => {
    const bytes = Buffer.from('{"a": 1}');
    expect(RawObject.parse(bytes).toBytes()).toBe(bytes);
    expect(RawObject.parse(bytes).without('z').toBytes()).toBe(bytes);
  });

  it('finds the end of long strings that are full of escapes', () => {
    const text = `${'x'.repeat(100)}\\${'\\"'.repeat(3)}`;
    const json = JSON.stringify({ a: text, b: 1 });
    expect(parse(json).string('a')).toBe(text);
    for (let backslashes = 0; backslashes < 120; backslashes++) {
      const value = { a: 'y'.repeat(40) + '\\'.repeat(backslashes), b: 'end' };
      expect(parse(JSON.stringify(value)).string('b')).toBe('end');
    }
  });

  it.each([
    '',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    '{a:1}',
    '{"a":1}x',
    '[1]',
    '"s"',
    '{"a":[1}',
    '{"a":{]}',
    '{"a":"x}',
    '{"a" 1}',
    '{"a":<html>}',
    '{"a":undefined}',
    'null',
  ])('refuses %j', (text) => {
    expect(() => parse(text)).toThrow(RawJsonError);
  });

  it('refuses nesting over its bound instead of overflowing', () => {
    const deep = `{"a":${'['.repeat(MAX_JSON_DEPTH + 1)}${']'.repeat(MAX_JSON_DEPTH + 1)}}`;
    expect(() => parse(deep)).toThrow('nested too deeply');
  });

  proves('choice.fidelity.big-integers', 'agrees with JSON.parse about members and values of any object', () => {
    const json = fc.json({ maxDepth: 5 }).map((text) => JSON.parse(text) as unknown);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), (object) => {
        const text = JSON.stringify(object);
        const raw = parse(text);
        const decoded = JSON.parse(text) as Record<string, unknown>;
        expect([...raw.keys()].sort()).toEqual(Object.keys(decoded).sort());
        for (const key of raw.keys()) expect(raw.value(key)).toEqual(decoded[key]);
      }),
      { numRuns: 300 },
    );
  });

  it('never accepts what JSON.parse refuses for its structure, and never hangs, on torn and mixed text', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), fc.nat(), fc.string({ maxLength: 3 }), (text, at, noise) => {
        const object = `{"k":${text}}`;
        const cut = at % object.length;
        const torn = object.slice(0, cut) + noise;
        try {
          parse(torn);
        } catch (cause) {
          expect(cause).toBeInstanceOf(RawJsonError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('raw elements', () => {
  it('are the slices between the commas', () => {
    const slices = rawElements(Buffer.from(' [ {"a":[1,2]} , "x,y" , 3 ] '), 50_000).map(String);
    expect(slices).toEqual(['{"a":[1,2]}', '"x,y"', '3']);
    expect(rawElements(Buffer.from('[]'), 50_000)).toEqual([]);
  });

  it.each(['[', '[1', '[1,]', '{}', '[1]]', '[1 2]'])('of %j are refused', (text) => {
    expect(() => rawElements(Buffer.from(text), 50_000)).toThrow(RawJsonError);
  });
});
