import { hasRepeatedMembers, RawObject } from '@toolmgr/core';
import { expect, it } from 'vitest';
import fc from '../../support/fast-check.ts';

const check = (text: string): boolean => {
  const whole = `{"x":${text}}`;
  return hasRepeatedMembers(RawObject.parse(Buffer.from(whole), OPEN), JSON.parse(whole));
};

const OPEN: ReadonlySet<string> = new Set(['x', 'a']);

it('finds a duplicate member at any depth and in any spelling', () => {
  const long = 'x'.repeat(100);
  const twice = [
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":1}',
    '[[{"b":{"a":[],"c":1,"a":{}}}]]',
    '{"__proto__":1,"__proto__":2}',
    '{"":0,"":0}',
    '{"1":0,"1":0}',
    `{"${long}":1,"${long}":2}`,
    '{"é":1,"\\u00e9":2}',
    `{"a":"${long}\\\\","a":1}`,
  ];
  for (const text of twice) expect([text, check(text)]).toEqual([text, true]);
  const once = [
    '{}',
    '[]',
    '"a:b"',
    '1',
    '{"a":{"a":{"a":1}}}',
    '{"a":"\\":\\"","b":":"}',
    `{"a":"${long}\\":","b":1}`,
  ];
  for (const text of once) expect([text, check(text)]).toEqual([text, false]);
});

it('finds none in what an encoder wrote, and one in every copy with a member repeated', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.nat(), (value, pick) => {
      const text = JSON.stringify(value);
      const keys = Object.keys(JSON.parse(text) as object);
      const key = keys[pick % keys.length] as string;
      const doubled = `{${JSON.stringify(key)}:0,${text.slice(1)}`;
      return !check(text) && check(doubled);
    }),
  );
});
