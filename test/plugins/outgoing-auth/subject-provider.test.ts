import type { JsonObject } from '@toolmgr/core';
import type { UpstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAwsSts } from '../../../plugins/outgoing-auth/aws-sts/strategy.ts';
import { createTokenExchange } from '../../../plugins/outgoing-auth/token-exchange/strategy.ts';
import { awsSts } from '../../support/aws-sts.ts';
import { base64url } from '../../support/identity-provider.ts';
import { authServerSlots, GATEWAY, headersOf, requestTo } from '../../support/outgoing-auth.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { tokenEndpoint } from '../../support/token-endpoint.ts';

const HOUR_MS = 3_600_000;

function jwt(claims: object): string {
  return `${base64url({ alg: 'RS256' })}.${base64url({ ...claims })}.c2lnbmF0dXJl`;
}

/** An exchange of upstream tokens at a real endpoint. */
async function exchanging(options: object = {}, over: Partial<UpstreamTokens> = {}) {
  const endpoint = await tokenEndpoint();
  const test = await authServerSlots(over);
  const strategy = createTokenExchange({
    slots: test.slots,
    slot: test.slot,
    log: pluginCore().log,
    now: test.clock.now,
  });
  onTestFinished(async () => {
    await strategy.close();
    await endpoint[Symbol.asyncDispose]();
  });
  const authorizer = await strategy.prepare({ tokenUrl: endpoint.url, ...options }, 'outgoingAuth.default');
  for (let at = 1; at < 9; at++) {
    for (const name of ['ada', 'bob']) endpoint.subjects.set(`access.idp.${name}.${at}`, name);
    endpoint.subjects.set(`access.github.ada.${at}`, 'ada-at-github');
  }
  const sent = () => endpoint.requests.map(({ form }) => form.subject_token);
  return { ...test, endpoint, authorizer, sent };
}

describe('token_exchange with an authorization server', () => {
  proves(
    ['vmcp.token-exchange.subject-provider-name', 'vmcp.token-exchange.subject-provider-name-filled'],
    "exchanges the caller's token of the named provider, and of the first one without a name",
    async () => {
      const first = await exchanging();
      expect(await headersOf(first.authorizer, first.ada)).toEqual({ authorization: 'Bearer issued.ada.1' });
      expect(first.sent()).toEqual(['access.idp.ada.1']);

      const named = await exchanging({ subjectProviderName: 'github' });
      await named.accounts.connect(named.ada.subject, 'github', named.github.grant('ada'));
      expect(await headersOf(named.authorizer, named.ada)).toEqual({ authorization: 'Bearer issued.ada-at-github.1' });
      expect(named.sent()).toEqual(['access.github.ada.1']);
    },
  );

  it('caches by that token: a refreshed one is exchanged again, in the same session', async () => {
    const { authorizer, ada, bob, sent, clock } = await exchanging();
    for (let call = 0; call < 3; call++) await headersOf(authorizer, ada);
    await headersOf(authorizer, bob);
    clock.advance(HOUR_MS);
    await headersOf(authorizer, ada);
    expect(sent()).toEqual(['access.idp.ada.1', 'access.idp.bob.2', 'access.idp.ada.3']);
  });

  it('exchanges anew after a 401, also when the upstream token was last used long ago', async () => {
    const { authorizer, ada, sent, clock } = await exchanging();
    await headersOf(authorizer, ada);
    clock.advance(10_000);
    expect(authorizer.refused?.(requestTo('far').backend, ada)).toBe(true);
    expect(await headersOf(authorizer, ada)).toEqual({ authorization: 'Bearer issued.ada.2' });
    expect(sent()).toHaveLength(2);
  });

  it('sends the ID token when that is the type of the subject', async () => {
    const idToken = jwt({ sub: 'ada' });
    const token = {
      accessToken: secretOf('a'),
      idToken: secretOf(idToken),
      issuedMs: 0,
      expiresMs: undefined,
      claims: {},
    };
    const { authorizer, ada, endpoint, sent } = await exchanging(
      { subjectTokenType: 'id_token' },
      { known: () => token },
    );
    endpoint.subjects.set(idToken, 'ada');
    await headersOf(authorizer, ada);
    expect(sent()).toEqual([idToken]);
    expect(endpoint.requests[0]?.form.subject_token_type).toBe('urn:ietf:params:oauth:token-type:id_token');
    const without = { accessToken: secretOf('a'), issuedMs: 0, expiresMs: undefined, claims: {} };
    const other = await exchanging(
      { subjectTokenType: 'id_token' },
      { known: () => without, obtain: async () => without },
    );
    await expect(headersOf(other.authorizer, other.ada)).rejects.toThrow('gave no ID token; its scopes need openid');
  });

  it('names the nearest provider, and is refused with disableUpstreamTokenInjection', async () => {
    await expect(exchanging({ subjectProviderName: 'gitub' })).rejects.toThrow(
      'outgoingAuth.default.subjectProviderName: no upstream provider is named "gitub", did you mean "github"?',
    );
  });

  proves(
    'vmcp.auth-server.disable-upstream-token-injection-exclusive',
    'refuses to start with disableUpstreamTokenInjection',
    async () => {
      await expect(exchanging({}, { isInjectionDisabled: true })).rejects.toThrow(
        'outgoingAuth.default: token_exchange cannot be combined with authServerConfig.disableUpstreamTokenInjection',
      );
      const { slot, clock } = await authServerSlots({ isInjectionDisabled: true });
      const options = { region: 'eu-central-1', fallbackRoleArn: 'arn:aws:iam::123456789012:role/r' };
      await expect(
        createAwsSts({ slot, now: clock.now, environment: process.env }).prepare(options, 'x'),
      ).rejects.toThrow('x: aws_sts cannot be combined with authServerConfig.disableUpstreamTokenInjection');
    },
  );

  it('never mixes two callers on one backend', async () => {
    const { authorizer, ada, bob, sent } = await exchanging();
    const headers = await Promise.all(
      Array.from({ length: 400 }, (_, at) => headersOf(authorizer, at % 2 === 0 ? ada : bob)),
    );
    headers.forEach(({ authorization }, at) => {
      expect(authorization).toContain(at % 2 === 0 ? 'issued.ada.' : 'issued.bob.');
    });
    expect(sent()).toHaveLength(2);
  });

  it('sends a person to the provider that is not connected, and nothing for the gateway itself', async () => {
    const { authorizer, ada, sent } = await exchanging({ subjectProviderName: 'github' });
    await expect(headersOf(authorizer, ada)).rejects.toMatchObject({ code: 'USER_ACTION_REQUIRED' });
    await expect(headersOf(authorizer, ada)).rejects.toMatchObject({ code: 'USER_ACTION_REQUIRED' });
    expect(await headersOf(authorizer, GATEWAY, { purpose: 'discovery' })).toEqual({});
    expect(sent()).toEqual([]);
  });
});

describe('aws_sts with an authorization server', () => {
  const options = {
    region: 'eu-central-1',
    fallbackRoleArn: 'arn:aws:iam::123456789012:role/reader',
    roleMappings: [{ roleArn: 'arn:aws:iam::123456789012:role/admin', claim: 'admins' }],
  };

  async function assuming(tokens: Partial<UpstreamTokens> = {}, more: object = {}) {
    const test = await authServerSlots(tokens);
    const sts = await awsSts(test.clock.now);
    vi.stubEnv('AWS_ENDPOINT_URL_STS', sts.url);
    const strategy = createAwsSts({ slot: test.slot, now: test.clock.now, environment: process.env });
    onTestFinished(async () => {
      await strategy.close();
      await sts[Symbol.asyncDispose]();
    });
    const authorizer = await strategy.prepare({ ...options, ...more }, 'outgoingAuth.default');
    return { ...test, sts, authorizer };
  }
  const tokenOf = (access: string, id?: string, claims: JsonObject = { groups: ['admins'] }) => ({
    accessToken: secretOf(access),
    ...(id === undefined ? {} : { idToken: secretOf(id) }),
    issuedMs: 0,
    expiresMs: undefined,
    claims,
  });

  proves(
    'vmcp.aws-sts.subject-provider-name',
    "uses the caller's upstream token as web identity token: the access token that is a JWT, else the ID token",
    async () => {
      const [access, id] = [jwt({ aud: 'sts' }), jwt({ aud: 'client' })];
      for (const [token, sent] of [
        [tokenOf(access, id), access],
        [tokenOf('opaque', id), id],
      ] as const) {
        const { authorizer, ada, sts } = await assuming({ known: () => token });
        sts.tokens.add(sent);
        await headersOf(authorizer, ada);
        expect(sts.requests.map(({ WebIdentityToken }) => WebIdentityToken)).toEqual([sent]);
      }
      const { authorizer, ada } = await assuming();
      await expect(headersOf(authorizer, ada)).rejects.toThrow(
        'the upstream provider idp gave neither an access token that is a JWT nor an ID token',
      );
    },
  );

  proves(
    'vmcp.aws-sts.subject-provider-claims',
    'chooses the role and the name of its session by the claims of the named provider, also after they changed',
    async () => {
      const lists = [[], ['admins'], ['staff', 'admins']];
      const tokens = lists.map((groups, at) => {
        const claims = { sub: `ada-${at}`, groups };
        return tokenOf(jwt(claims), undefined, claims);
      });
      let at = 0;
      const known = () => tokens[at];
      const { authorizer, ada, sts } = await assuming({ known }, { subjectProviderName: 'idp' });
      for (const { accessToken } of tokens) sts.tokens.add(accessToken.reveal());
      for (; at < tokens.length; at++) await headersOf(authorizer, ada);
      expect(sts.requests.map(({ RoleArn, RoleSessionName }) => [RoleArn?.split('/')[1], RoleSessionName])).toEqual([
        ['reader', 'ada-0'],
        ['admin', 'ada-1'],
        ['admin', 'ada-2'],
      ]);
      at = 0;
      const claimed = { ...ada, claims: { ...ada.claims, groups: ['admins'] }, token: secretOf('a newer token') };
      await headersOf(authorizer, claimed);
      expect(sts.requests.at(-1)?.RoleArn).toMatch(/reader$/); // the claims of the issued token do not count
    },
  );

  it('chooses the role by the claims of the request when no provider is named, also after they changed', async () => {
    const token = tokenOf(jwt({ aud: 'sts' }));
    const { authorizer, ada, sts } = await assuming({ known: () => token });
    sts.tokens.add(token.accessToken.reveal());
    await headersOf(authorizer, ada);
    const promoted = { ...ada, claims: { ...ada.claims, groups: ['admins'] }, token: secretOf('a newer token') };
    await headersOf(authorizer, promoted);
    expect(sts.requests.map(({ RoleArn }) => RoleArn?.split('/')[1])).toEqual(['reader', 'admin']);
  });
});
