import { describe, expect, it } from 'vitest';
import type { Inbound } from '../../../core/contract/inbound.ts';
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
  proves('ask.plugin.anonymous', 'lets every request in as the anonymous caller', async () => {
    const core = await bootPlugin(anonymous, {});
    expect(await core.hooks.authenticate.promise(inbound())).toEqual({
      issuer: '',
      subject: 'anonymous',
      key: '\0anonymous',
      claims: {},
    });
  });

  it('believes nothing a client says about itself', async () => {
    const core = await bootPlugin(anonymous, {});
    const caller = await core.hooks.authenticate.promise(inbound({ authorization: 'Bearer x', 'x-user': 'root' }));
    expect(caller).toMatchObject({ subject: 'anonymous', claims: {} });
  });

  it('is asked last, so that another plugin may refuse or name the caller before', async () => {
    const core = await bootPlugin(anonymous, {});
    const refusal = { refused: true, status: 401, reason: 'token expired' } as const;
    core.hooks.authenticate.tap('tokens', ({ headers }) => (headers.authorization ? refusal : undefined));
    expect(await core.hooks.authenticate.promise(inbound({ authorization: 'Bearer old' }))).toBe(refusal);
    expect(await core.hooks.authenticate.promise(inbound())).toMatchObject({ subject: 'anonymous' });
  });

  it('takes no configuration', () => {
    expect(anonymous.config.safeParse({ realm: 'x' }).success).toBe(false);
  });
});
