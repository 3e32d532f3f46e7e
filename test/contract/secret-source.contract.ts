import type { SecretSource } from '@toolmgr/core';
import { expect, it } from 'vitest';

/** Tests for every implementation of the slot `secretSources`. `open` makes a source with these secrets. */
export function secretSourceContract(
  open: (secrets: Readonly<Record<string, string>>) => Promise<SecretSource> | SecretSource,
): void {
  const { signal } = new AbortController();
  const values: Readonly<Record<string, string>> = {
    plain: 'hunter2',
    UPPER_1: ' blanks around ',
    lines: 'one\ntwo\r\n',
    unicode: 'ä 😀 "\\',
    long: 'x'.repeat(20_000),
  };

  it('returns exactly the value that was stored', async () => {
    const source = await open(values);
    for (const [name, value] of Object.entries(values)) expect(await source.read(name, signal)).toBe(value);
  });

  it('distinguishes names by case', async () => {
    const source = await open({ key: 'one', KEY: 'two' });
    expect([await source.read('key', signal), await source.read('KEY', signal)]).toEqual(['one', 'two']);
  });

  it.each(['none', '__proto__', 'constructor', 'toString', '../plain', 'plain/', ''])(
    'rejects the unknown name %j with SECRET_MISSING',
    async (name) => {
      await expect((await open(values)).read(name, signal)).rejects.toMatchObject({ code: 'SECRET_MISSING' });
    },
  );

  it('names an unknown secret, and no value of another one', async () => {
    const error = await (await open(values)).read('none', signal).catch(String);
    expect(error).toContain('none');
    for (const value of Object.values(values)) expect(error).not.toContain(value);
  });

  it('rejects an empty value with SECRET_MISSING', async () => {
    await expect((await open({ empty: '' })).read('empty', signal)).rejects.toMatchObject({ code: 'SECRET_MISSING' });
  });

  it('answers many reads at once', async () => {
    const source = await open(values);
    const read = await Promise.all(Array.from({ length: 30 }, () => source.read('plain', signal)));
    expect(new Set(read)).toEqual(new Set(['hunter2']));
  });
}
