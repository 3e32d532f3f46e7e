import {
  type Upstream,
  type UpstreamGrant,
  UpstreamRefusal,
  type UpstreamTokenSet,
} from '../../plugins/auth-server/upstreams/upstream.ts';
import { secretOf } from '../../plugins/kit/secrets/secret.ts';

/** A provider without HTTP that rotates refresh tokens: each one is valid for one use. */
export interface FakeUpstream extends Upstream {
  /** A sign-in of an account. `without`: members that the provider leaves out. */
  grant(account: string, without?: { readonly refreshToken?: boolean }): UpstreamGrant;
  /** Refresh tokens that were sent, in order. */
  readonly refreshes: string[];
  readonly revoked: string[];
  /** Changes the next refreshes. */
  next: {
    /** Runs before the provider answers. */
    before?: () => Promise<void>;
    /** Runs after the refresh token is used up: the answer is lost when it throws. */
    after?: () => Promise<void>;
    check?: () => Promise<void>;
  };
}

/** Creates a provider. Access tokens live `lifeMs`; `now` returns epoch milliseconds. */
export function fakeUpstream(name: string, now: () => number, lifeMs: number | 'endless' = 3_600_000): FakeUpstream {
  const valid = new Set<string>();
  let count = 0;
  const issue = (account: string, hasRefreshToken: boolean): UpstreamTokenSet => {
    count++;
    const refreshToken = `refresh.${name}.${account}.${count}`;
    if (hasRefreshToken) valid.add(refreshToken);
    return {
      accessToken: secretOf(`access.${name}.${account}.${count}`),
      ...(hasRefreshToken ? { refreshToken: secretOf(refreshToken) } : {}),
      ...(lifeMs === 'endless' ? {} : { expiresMs: now() + lifeMs }),
      clientId: 'client',
      scope: 'read',
    };
  };
  const self: FakeUpstream = {
    name,
    loginPolicy: 'required',
    refreshes: [],
    revoked: [],
    next: {},
    authorizationUrl: async () => 'https://idp.example/authorize',
    exchange: async () => self.grant('ada'),
    grant(account, { refreshToken = false } = {}) {
      const identity = { subject: account, name: account, isSynthetic: false, claims: { sub: account } };
      return { identity, tokens: issue(account, !refreshToken) };
    },
    async refresh({ refreshToken }) {
      const used = refreshToken?.reveal() ?? '';
      self.refreshes.push(used);
      await self.next.before?.();
      if (!valid.delete(used)) throw new UpstreamRefusal(name, 'invalid_grant', 'the refresh token is not accepted');
      const tokens = issue(used.split('.')[2] ?? '', true);
      await self.next.after?.();
      return { tokens, check: async () => self.next.check?.() };
    },
    async revoke({ accessToken }) {
      self.revoked.push(accessToken.reveal());
    },
    async close() {},
  };
  return self;
}
