import { findPlugin } from '@toolmgr/core';
import { catalogue, environmentSecrets } from '@toolmgr/plugins';
import { readOptionalSecret, readSecret } from '@toolmgr/plugins/kit/secrets';
import { afterEach, describe, expect, it } from 'vitest';
import { createSlots } from '../../../core/extension/slots.ts';
import environment from '../../../plugins/secrets/environment/index.ts';
import { secretSourceContract } from '../../contract/secret-source.contract.ts';
import { pluginCore } from '../../support/plugin-core.ts';

const NAME = 'TOOLMGR_TEST_SECRET';
const { signal } = new AbortController();

describe('the source environment', () => {
  secretSourceContract((secrets) => environmentSecrets(secrets));
});

describe('secrets/environment', () => {
  afterEach(() => {
    delete process.env[NAME];
  });

  it('fills the slot when it is applied, before any plugin reads', async () => {
    const core = { ...pluginCore(), slots: createSlots() };
    process.env[NAME] = 'v1';
    environment.apply(core, environment.config.parse({}));
    expect(await core.slots.secretSources.get('environment').read(NAME, signal)).toBe('v1');
  });

  it('is in the catalogue', async () => {
    expect(await findPlugin('secrets/environment', { catalogue, baseDir: '' })).toBe(environment);
  });

  it.each([
    [{}, 'the environment variable DB is not set; export it before the start'],
    [{ DB: '' }, 'the environment variable DB is empty; export it before the start'],
  ])('names the missing variable of %j', async (variables, message) => {
    await expect(environmentSecrets(variables).read('DB', signal)).rejects.toMatchObject({
      code: 'SECRET_MISSING',
      message,
    });
  });
});

describe('a secret of a setting', () => {
  const { slots } = pluginCore({ DB: 'hunter2', EMPTY: '' });

  it('is shown nowhere but where it is sent', async () => {
    const secret = await readSecret(slots, 'DB', 'db.passwordEnv');
    expect([secret.reveal(), `${secret}`, JSON.stringify({ secret })]).toEqual([
      'hunter2',
      '[secret]',
      '{"secret":"[secret]"}',
    ]);
  });

  it('that is missing is a fault with the setting and the name', async () => {
    await expect(readSecret(slots, 'EMPTY', 'db.passwordEnv')).rejects.toMatchObject({
      code: 'SECRET_MISSING',
      message: 'db.passwordEnv: the environment variable EMPTY is empty; export it before the start',
    });
  });

  it('is read from another source first, and then from the environment', async () => {
    const { slots: both } = pluginCore({ DB: 'of the environment', OTHER: 'v2' });
    both.secretSources.register('a-vault', environmentSecrets({ DB: 'of the vault' }));
    expect((await readSecret(both, 'DB', 'db.passwordEnv')).reveal()).toBe('of the vault');
    expect((await readSecret(both, 'OTHER', 'db.passwordEnv')).reveal()).toBe('v2');
    expect((await readOptionalSecret(both, 'OTHER'))?.reveal()).toBe('v2');
    await expect(readSecret(both, 'NONE', 'db.passwordEnv')).rejects.toThrow(
      /^db.passwordEnv: the environment variable NONE is not set.*; the environment variable NONE is not set[^;]*;[^;]*$/,
    );
  });

  it('is not read from the environment when the source before it fails', async () => {
    const { slots: both } = pluginCore({ DB: 'v1' });
    both.secretSources.register('a-vault', { read: () => Promise.reject(new Error('vault is away')) });
    await expect(readSecret(both, 'DB', 'db.passwordEnv')).rejects.toThrow('vault is away');
    await expect(readOptionalSecret(both, 'DB')).rejects.toThrow('vault is away');
  });

  it('that is optional and missing is none', async () => {
    expect((await readOptionalSecret(slots, 'DB'))?.reveal()).toBe('hunter2');
    expect([await readOptionalSecret(slots, 'EMPTY'), await readOptionalSecret(slots, 'NONE')]).toEqual([
      undefined,
      undefined,
    ]);
  });

  it('cannot be read without a source in the plan, which the fault says', async () => {
    const none = createSlots();
    await expect(readSecret(none, 'DB', 'db.passwordEnv')).rejects.toMatchObject({
      code: 'PLAN_INCOMPLETE',
      message: expect.stringContaining('add secrets/environment to the plan'),
    });
    expect(await readOptionalSecret(none, 'DB')).toBeUndefined();
  });

  it('is not missing when its source fails', async () => {
    const failing = createSlots();
    failing.secretSources.register('environment', { read: () => Promise.reject(new Error('vault is away')) });
    await expect(readOptionalSecret(failing, 'DB')).rejects.toThrow('vault is away');
  });
});
