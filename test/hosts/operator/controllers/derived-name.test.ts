import { expect, it } from 'vitest';
import { derivedName, labelValue, MAX_STATEFUL_SET } from '../../../../hosts/operator/controllers/derived-name.ts';

const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;

it('a short name is kept with its prefix and suffix', () => {
  expect(derivedName('tools', { prefix: 'vmcp-', suffix: '-proxy' })).toBe('vmcp-tools-proxy');
});

it.each([
  ['253 characters', 'a'.repeat(253)],
  ['dots', 'a.b.example.com'],
  ['a digit first', '1tools'],
  ['dashes where it is cut', `${'a'.repeat(50)}${'-'.repeat(40)}b`],
])('a name with %s becomes a DNS label with a hash', (_what, name) => {
  for (const max of [63, MAX_STATEFUL_SET]) {
    const derived = derivedName(name, { suffix: '-proxy', max });
    expect(derived).toMatch(LABEL);
    expect(derived.length).toBeLessThanOrEqual(max);
    expect(derived).toMatch(/-[0-9a-f]{8}-proxy$/);
  }
});

it('long names that differ at their end give different names', () => {
  const long = 'a'.repeat(200);
  expect(derivedName(`${long}b`)).not.toBe(derivedName(`${long}c`));
  expect(derivedName('a.b')).not.toBe(derivedName('a-b'));
});

it('a label has at most 63 characters and is the name where it fits', () => {
  expect(labelValue('a.b')).toBe('a.b');
  expect(labelValue('a'.repeat(64)).length).toBeLessThanOrEqual(63);
});
