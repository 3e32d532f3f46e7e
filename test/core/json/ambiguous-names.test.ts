import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { ambiguousNameIn, declaredNames, foldCase, isFolded } from '../../../core/json/ambiguous-names.ts';
import fc from '../../support/fast-check.ts';

const alike = (text: string, names?: Parameters<typeof ambiguousNameIn>[1]): string | undefined => {
  const found = ambiguousNameIn(JSON.parse(text) as JsonObject, names);
  return found && `${found.name} ${found.other}`;
};

describe('folded case', () => {
  it('is the same for names that some reader takes for one', () => {
    const alikes = [
      ['name', 'Name', 'NAME', 'nAmE'],
      ['task', 'taſk', 'tas\u212a', 'TAſ\u212a'],
      ['uri', 'URI', 'urı', 'urİ'],
      ['σ', 'ς', 'Σ'],
      ['ß', 'ẞ'],
      ['µ', 'μ', 'Μ'],
      ['å', 'Å', '\u212b'],
      ['x\ud800', 'x\udfff', 'X\ufffd'],
    ];
    for (const names of alikes) expect(new Set(names.map(foldCase)).size, names.join()).toBe(1);
  });

  it('is as coarse as simple case folding, by which Go compares', () => {
    // without the u flag a class is matched by upper case, with it by simple case folding (ECMA-262, Canonicalize)
    for (let code = 0x80; code <= 0x1ffff; code++) {
      if (code >= 0xd800 && code < 0xe000) continue;
      const character = String.fromCodePoint(code);
      for (const other of [character.toLowerCase(), character.toUpperCase()]) {
        if ([...other].length !== 1 || other === character) continue;
        expect(foldCase(`a${character}`), code.toString(16)).toBe(foldCase(`a${other}`));
      }
    }
  });

  it('leaves apart what is said to need no folding', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9_.-]{0,8}$/), fc.stringMatching(/^[a-z0-9_.-]{0,8}$/), (a, b) => {
        expect([isFolded(a), isFolded(b)]).toEqual([true, true]);
        return (foldCase(a) === foldCase(b)) === (a === b);
      }),
    );
  });
});

describe('look-alike members', () => {
  it('are found beside each other at any depth', () => {
    const found = [
      '{"path":1,"Path":2}',
      '{"Path":1,"path":2}',
      '{"a":{"b":[[{"c":1,"C":2}]]}}',
      '{"taſk":1,"task":2}',
      '{"\u212aey":1,"key":2}',
      '{"__proto__":1,"__PROTO__":2}',
    ];
    for (const text of found) expect(alike(text), text).toBeDefined();
    const none = [
      '{}',
      '{"a":1,"b":2}',
      '{"camelCase":1,"snake_case":2}',
      '[{"a":1},{"A":1}]',
      '{"a":{"b":1},"b":{"B":1}}',
    ];
    for (const text of none) expect(alike(text), text).toBeUndefined();
  });

  it('are found alone when they stand for a declared name, and left alone when both are declared', () => {
    const names = declaredNames(['path', 'n', 'N', 'o'], new Map([['o', declaredNames(['inner'])]]));
    expect(alike('{"Path":1}', names)).toBe('Path path');
    expect(alike('{"o":{"INNER":1}}', names)).toBe('INNER inner');
    expect(alike('{"o":[{"Inner":1}]}', names)).toBe('Inner inner');
    expect(alike('{"n":1,"N":2,"path":3,"o":{"inner":1},"other":{"Path":1}}', names)).toBeUndefined();
  });
});
