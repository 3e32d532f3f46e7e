import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chooseClient, ownClient } from '../../../core/http1/choose-client.ts';
import { createUndiciClient } from '../../../core/http1/undici-client.ts';
import { proves } from '../../support/proves.ts';

describe('the client of HTTP backends', () => {
  proves('choice.backend.http-client', 'is the one that the plan names, the own one by default', async () => {
    expect(await chooseClient('own')).toBe(ownClient);
    expect(await chooseClient('undici')).toBe(createUndiciClient);
  });

  proves('choice.backend.http-client', 'is refused with the command that installs its package', async () => {
    const importer = join(import.meta.dirname, '../../../core/http1/undici-client.ts');
    const missing = Object.assign(new Error(`Cannot find package 'undici' imported from ${importer}`), {
      code: 'ERR_MODULE_NOT_FOUND',
    });
    await expect(chooseClient('undici', () => Promise.reject(missing))).rejects.toMatchObject({
      code: 'PLAN_INVALID',
      message: expect.stringMatching(/^httpClient is undici, but the package undici.* npm install undici@\^8/),
    });
  });

  it('is not called missing when its package fails in another way', async () => {
    const broken = new Error('broken');
    await expect(chooseClient('undici', () => Promise.reject(broken))).rejects.toBe(broken);
  });
});
