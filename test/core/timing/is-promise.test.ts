import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { isPromise } from '../../../core/timing/is-promise.ts';

describe('a value that may be a promise', () => {
  it('accepts any thenable', () => {
    expect(isPromise(Promise.resolve(1))).toBe(true);
    expect(isPromise(runInNewContext('Promise.resolve(1)'))).toBe(true);
    // biome-ignore lint/suspicious/noThenProperty: a promise of another library
    expect(isPromise<unknown>({ then: () => undefined })).toBe(true);
  });

  it('is none when it is a value, whatever its type', () => {
    // biome-ignore lint/suspicious/noThenProperty: a member of that name is no method
    for (const value of [undefined, null, 0, '', 'then', {}, { then: 1 }, [], () => 1]) {
      expect(isPromise<unknown>(value)).toBe(false);
    }
  });
});
