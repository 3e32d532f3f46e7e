import type { JsonValue } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { withStrings } from '../../../plugins/data-protection/json-strings.ts';
import fc from '../../support/fast-check.ts';

const written = (
  json: string,
  look: (text: string, key: string | undefined) => string,
  encoded?: ReadonlySet<string>,
) => withStrings(Buffer.from(json), look, encoded).toString();

/** What the change of every string value makes of a decoded value. */
function changed(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => changed(each, change));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each as JsonValue, change)]));
}

describe('strings of a JSON text', () => {
  it('are all looked at, and the text means the same for any JSON', () => {
    const change = (text: string) => `<${text}>`;
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 3 }), (value, indent) => {
        const json = JSON.stringify(value, undefined, indent);
        expect(JSON.parse(written(json, change))).toEqual(changed(JSON.parse(json), change));
        const bytes = Buffer.from(json);
        expect(withStrings(bytes, (text) => text)).toBe(bytes);
      }),
    );
  });

  it('come with the key right before them or their array, and with no other', () => {
    const seen: [string, string | undefined][] = [];
    const note = (text: string, key: string | undefined) => {
      seen.push([text, key]);
      return text;
    };
    written('{"a" : "1", "b":[ "2", "2b",{"c":3},"4"],"d":{"e\\u0066":"5"},"g":null,"a":"6"}', note);
    expect(seen).toEqual([
      ['1', 'a'],
      ['2', 'b'],
      ['2b', 'b'],
      ['4', undefined],
      ['5', 'ef'],
      ['6', 'a'],
    ]);
  });

  it('leave every other byte, and end where an escaped quote does not', () => {
    const json = '{ "a\\"b" : "x\\\\", "n": 1.50e+400 , "c":"\\"y\\u0022" }';
    expect(written(json, (text) => (text === 'x\\' ? text : 'new'))).toBe(
      '{ "a\\"b" : "x\\\\", "n": 1.50e+400 , "c":"new" }',
    );
  });

  it('are not looked at in base64 where it is expected, and are looked at in anything else there', () => {
    const json = '[{"data":"QUJD/+8="},{"data":"not base64"},{"other":"QUJD"},{"data":["QUJD"]}]';
    expect(written(json, () => 'seen', new Set(['data']))).toBe(
      '[{"data":"QUJD/+8="},{"data":"seen"},{"other":"seen"},{"data":["seen"]}]',
    );
  });
});
