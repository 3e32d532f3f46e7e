import { describe, expect, it } from 'vitest';
import { contentHash } from '../../../../hosts/operator/objects/content-hash.ts';
import { hasApplied } from '../../../../hosts/operator/objects/drift.ts';

const inTemplate = (spec: object) => ({ spec: { template: { spec } } });

describe('what others changed', () => {
  it.each<[string, boolean, unknown, unknown]>([
    ['other keys', true, { a: 1, b: 2 }, { a: 1 }],
    ['another value', false, { a: 2 }, { a: 1 }],
    ['a removed key', false, {}, { a: false }],
    ['a list of values with one more', false, { args: ['a', 'b'] }, { args: ['a'] }],
    ['one more rule of a Role', false, { rules: [{ verbs: ['get'] }, {}] }, { rules: [{ verbs: ['get'] }] }],
    [
      'one more container with one more variable',
      true,
      inTemplate({ containers: [{ name: 'x' }, { name: 'a', env: [{ name: 'M' }, { name: 'E', value: '1' }] }] }),
      inTemplate({ containers: [{ name: 'a', env: [{ name: 'E', value: '1' }] }] }),
    ],
    [
      'a variable with another value',
      false,
      inTemplate({ containers: [{ name: 'a', env: [{ name: 'E', value: '2' }] }] }),
      inTemplate({ containers: [{ name: 'a', env: [{ name: 'E', value: '1' }] }] }),
    ],
    [
      'one more toleration',
      false,
      inTemplate({ tolerations: [{ key: 'a' }, { key: 'b' }] }),
      inTemplate({ tolerations: [{ key: 'a' }] }),
    ],
  ])('%s: applied is %s', (_what, expected, live, applied) => {
    expect(hasApplied(live, applied)).toBe(expected);
  });

  it('hashes do not depend on the order of keys, but on that of lists', () => {
    expect(contentHash({ a: 1, b: { c: 2, d: undefined } })).toBe(contentHash({ b: { c: 2 }, a: 1 }));
    expect(contentHash(['a', 'b'])).not.toBe(contentHash(['b', 'a']));
  });
});
