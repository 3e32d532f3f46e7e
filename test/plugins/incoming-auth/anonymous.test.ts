import type { Inbound } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import anonymous from '../../../plugins/incoming-auth/anonymous/index.ts';
import { bootPlugin } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';

const inbound = (headers: Record<string, string> = {}): Inbound => ({
  method: 'POST',
  path: '/mcp',
  headers,
  remoteAddress: '127.0.0.1',
  signal: new AbortController().signal,
});

describe('incoming-auth/anonymous', () => {
  proves('ask.plugin.anonymous', 'accepts every request as the anonymous caller', async () => {
    const core = await bootPlugin(anonymous, {});
    expect(await core.hooks.authenticate.promise(inbound())).toEqual({
      issuer: '',
      subject: 'anonymous',
      key: '\0anonymous',
      claims: {},
    });
  });

  it('ignores what a client claims about itself', async () => {
    const core = await bootPlugin(anonymous, {});
    const caller = await core.hooks.authenticate.promise(inbound({ authorization: 'Bearer x', 'x-user': 'root' }));
    expect(caller).toMatchObject({ subject: 'anonymous', claims: {} });
  });

  it('runs last, so that another plugin can identify or refuse the caller first', async () => {
    const core = await bootPlugin(anonymous, {});
    const refusal = { refused: true, status: 401, reason: 'token expired' } as const;
    core.hooks.authenticate.tap('tokens', ({ headers }) => (headers.authorization ? refusal : undefined));
    expect(await core.hooks.authenticate.promise(inbound({ authorization: 'Bearer old' }))).toBe(refusal);
    expect(await core.hooks.authenticate.promise(inbound())).toMatchObject({ subject: 'anonymous' });
  });

  it('has no configuration', () => {
    expect(anonymous.config.safeParse({ realm: 'x' }).success).toBe(false);
  });
});
