import { describe, expect, it } from 'vitest';
import { type LoginOutcome, logIn } from '../../../../plugins/outgoing-auth/oauth-client/login/log-in.ts';
import type {
  CachedClient,
  LoginSettings,
} from '../../../../plugins/outgoing-auth/oauth-client/login/login-settings.ts';
import { loginProvider } from '../../../support/login-provider.ts';
import { followLogin, oauthRemote } from '../../../support/oauth-remote.ts';

async function tryLogin(
  url: string,
  settings: Partial<LoginSettings> = {},
  browser: (url: string) => unknown = (shown) => followLogin(shown),
  cached?: CachedClient,
): Promise<LoginOutcome & { readonly shown: string[] }> {
  const shown: string[] = [];
  const outcome = await logIn({
    remote: { url, transport: 'streamable-http', headers: {} },
    settings: { isRequired: false, ...settings },
    cached,
    timeoutMs: 5_000,
    show(login) {
      shown.push(login.url);
      void browser(login.url);
    },
    now: Date.now,
    signal: AbortSignal.timeout(20_000),
  });
  return { ...outcome, shown };
}

describe('a login at a remote server', () => {
  it('works', async () => {
    await using idp = await loginProvider();
    await using remote = await oauthRemote(idp, { era: '2026-07-28' });
    const outcome = await tryLogin(remote.url);
    expect(outcome).toMatchObject({ kind: 'done' });
  });
});
