import { encode, type JsonObject, type RawJson, RawObject } from '@toolmgr/core';
import { MAX_QUESTION, questionAbout } from '@toolmgr/plugins/kit/confirm';
import { describe, expect, it } from 'vitest';

/** A call with these arguments; the ones of a text are not decoded. */
function callWith(given: JsonObject | string) {
  const raw: RawJson = typeof given === 'string' ? Buffer.from(given) : encode(given);
  return {
    members: RawObject.empty().with('arguments', raw),
    get arguments(): JsonObject {
      if (typeof given === 'string') throw new Error('decoded');
      return given;
    },
  };
}

describe('a question to a person', () => {
  it('has every argument, and none is cut', () => {
    expect(questionAbout('Pay', callWith({}))).toBe('Pay: without arguments?');
    expect(questionAbout('Pay', callWith({ euro: 10, to: ['a', 'b'] }))).toBe('Pay: euro 10, to ["a","b"]?');
    const most = MAX_QUESTION - 'Pay: note ""?'.length;
    expect(questionAbout('Pay', callWith({ note: 'x'.repeat(most) }))).toHaveLength(MAX_QUESTION);
    expect(questionAbout('Pay', callWith({ note: 'x'.repeat(most + 1) }))).toBeUndefined();
  });

  it.each([
    ['a\u202eb', 'note "a\\u{202e}b"'],
    ['a\u00a0\u3164b', 'note "a\\u{a0}\\u{3164}b"'],
    [`a${' '.repeat(9)}b`, 'note "a (9 spaces) b"'],
    ['a        b', 'note "a        b"'],
  ])('shows what is not seen: %j', (note, shown) => {
    expect(questionAbout('Pay', callWith({ note }))).toBe(`Pay: ${shown}?`);
  });

  it.each(['0.1', '-12.50', '1e2', '123456789012345', '0', '0e9'])('shows the number %s', (number) => {
    const given = { euro: Number(number) };
    expect(questionAbout('Pay', { ...callWith(given), arguments: given })).toBe(`Pay: euro ${Number(number)}?`);
  });

  it.each(['1234567890123456', '1e400', '1e-400', '0.1234567890123456', '[{"a":9007199254740993}]'])(
    'does not ask about %s, which is another number after it is read',
    (number) => {
      expect(questionAbout('Pay', callWith(`{"euro":${number}}`))).toBeUndefined();
    },
  );

  it('does not decode arguments that are far too long', () => {
    expect(questionAbout('Pay', callWith(`{"list":[${'1,'.repeat(4_000_000)}1]}`))).toBeUndefined();
  });
});
