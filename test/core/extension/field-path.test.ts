import { fieldPath } from '@toolmgr/core';
import { expect, it } from 'vitest';

it('writes a path with the index of a list in brackets', () => {
  expect(fieldPath(['backends', 0, 'url'])).toBe('backends[0].url');
  expect(fieldPath([0, 'steps', 1])).toBe('[0].steps[1]');
  expect(fieldPath([2, 'name'], 'plan.backends')).toBe('plan.backends[2].name');
  expect([fieldPath([]), fieldPath([], 'plan'), fieldPath(['plugins'], '')]).toEqual(['', 'plan', 'plugins']);
});
