import { join } from 'node:path';
import { onePasswordStore } from '@toolmgr/plugins/secrets';
import { describe, expect, it } from 'vitest';

// A stub that speaks the command line of `op`; the service of 1Password is not tested.
const program = join(import.meta.dirname, '../../../support/op-stub.mjs');
const VALUE = 'line one\nline two ';
const store = (env: object = {}, timeoutMs = 30_000) =>
  onePasswordStore({
    program,
    timeoutMs,
    env: {
      PATH: process.env.PATH,
      OP_SERVICE_ACCOUNT_TOKEN: 'ops_good',
      OP_STUB_ITEMS: JSON.stringify({ 'op://Private/GitHub/token': VALUE }),
      TOOLMGR_SECRETS_PASSWORD: 'not for op',
      OTHER: 'not for op',
      ...env,
    },
  });
const signal = () => AbortSignal.timeout(30_000);

describe('1Password', () => {
  it('gives a value byte for byte, and nothing for an unknown reference', async () => {
    expect(await store().read('op://Private/GitHub/token', signal())).toBe(VALUE);
    expect(await store().read('op://Private/GitHub/other', signal())).toBeUndefined();
  });

  it('runs no program for a text that is no reference', async () => {
    const broken = onePasswordStore({ program: '/nonexistent', env: {} });
    for (const key of [
      '',
      '--help',
      'TOKEN',
      'op://a',
      'op://a/b/c;rm -rf /',
      'op://a/b/$(id)',
      'op://a/b/c\nd',
      'op://-a/../../b',
    ])
      expect(await broken.read(key, signal())).toBeUndefined();
  });

  it('lists references without values', async () => {
    const listed = await store().list?.(signal());
    expect(listed).toEqual([{ key: 'op://Private/GitHub/token', description: 'Title 0: credential' }]);
  });

  it('says what to do when it is not signed in, not installed or does not answer, and repeats no token', async () => {
    await expect(store({ OP_SERVICE_ACCOUNT_TOKEN: 'ops_bad' }).test(signal())).rejects.toThrow(
      /^op is not signed in to 1Password: set OP_SERVICE_ACCOUNT_TOKEN/,
    );
    await expect(onePasswordStore({ program: '/nonexistent/op', env: {} }).test(signal())).rejects.toThrow(
      'not installed',
    );
    await expect(store({ OP_STUB_HANGS: '1' }, 300).test(signal())).rejects.toThrow('did not answer within 0.3 s');
  });
});
