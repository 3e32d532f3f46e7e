import type { UpstreamTokens } from '@toolmgr/plugins/kit/extension-points';
import { secretOf } from '@toolmgr/plugins/kit/secrets';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createXaa } from '../../../plugins/outgoing-auth/xaa/strategy.ts';
import { base64url } from '../../support/identity-provider.ts';
import { authServerSlots, GATEWAY, headersOf, requestTo } from '../../support/outgoing-auth.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { type TokenEndpoint, tokenEndpoint } from '../../support/token-endpoint.ts';

const AUDIENCE = 'https://auth.tickets.example';
const RESOURCE = 'https://mcp.tickets.example/mcp';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const CLIENTS = { 'gateway-at-idp': 'secret-1', 'gateway-at-tickets': 'secret-2' };

function jwt(claims: object): string {
  return `${base64url({ alg: 'RS256', typ: 'oauth-id-jag+jwt' })}.${base64url({ ...claims })}.c2lnbmF0dXJl`;
}

const ID_TOKENS = { ada: jwt({ sub: 'ada' }), bob: jwt({ sub: 'bob' }) };

interface Setting {
  readonly options?: object;
  /** Members of the identity provider's answer, and claims of its assertion. */
  readonly answer?: object;
  readonly claims?: object;
  readonly over?: Partial<UpstreamTokens>;
}

/** The strategy before an identity provider and the authorization server of a backend. */
async function prepared({ options = {}, answer = {}, claims = {}, over = {} }: Setting = {}) {
  const idp = await tokenEndpoint({ clients: CLIENTS });
  const target = await tokenEndpoint({ clients: CLIENTS });
  let count = 0;
  idp.before = ({ form }, response) => {
    const sub = Object.entries(ID_TOKENS).find(([, token]) => token === form.subject_token)?.[0];
    const assertion = jwt({ sub, aud: form.audience, resource: form.resource, exp: 4_000_000_000, ...claims });
    const body = { access_token: assertion, issued_token_type: ID_JAG, token_type: 'N_A', expires_in: 300, ...answer };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
  target.before = ({ form }, response) => {
    if (form.grant_type === 'client_credentials') return false;
    const { sub } = JSON.parse(Buffer.from(form.assertion?.split('.')[1] ?? '', 'base64url').toString()) as {
      sub: string;
    };
    const body = { access_token: `ticket.${sub}.${++count}`, token_type: 'Bearer', expires_in: 3600 };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    return true;
  };
  const tokenOf = (subject: string) => ({
    accessToken: secretOf('opaque'),
    idToken: secretOf(ID_TOKENS[subject as keyof typeof ID_TOKENS]),
    issuedMs: 0,
    expiresMs: undefined,
    claims: {},
  });
  const people = new Map<string, string>();
  const test = await authServerSlots(
    {
      providers: ['idp'],
      known: (caller) => (people.has(caller.subject) ? tokenOf(people.get(caller.subject) ?? '') : undefined),
      ...over,
    },
    { SECRET_1: 'secret-1', SECRET_2: 'secret-2' },
  );
  people.set(test.ada.subject, 'ada').set(test.bob.subject, 'bob');
  const core = pluginCore();
  const strategy = createXaa({ slots: test.slots, slot: test.slot, log: core.log, now: test.clock.now });
  onTestFinished(async () => {
    await strategy.close();
    await Promise.all([idp[Symbol.asyncDispose](), target[Symbol.asyncDispose]()]);
  });
  const given = {
    idpTokenUrl: idp.url,
    targetAudience: AUDIENCE,
    targetTokenUrl: target.url,
    idpClientId: 'gateway-at-idp',
    idpClientSecretEnv: 'SECRET_1',
    targetClientId: 'gateway-at-tickets',
    targetClientSecretEnv: 'SECRET_2',
    ...options,
  };
  const authorizer = await strategy.prepare(given, 'outgoingAuth.default');
  return { ...test, idp, target, authorizer, lines: core.lines };
}

function last({ requests }: TokenEndpoint) {
  return requests.at(-1);
}

describe('xaa', () => {
  proves(
    [
      'vmcp.xaa.idp-token-url',
      'vmcp.xaa.target-audience',
      'vmcp.xaa.target-token-url',
      'vmcp.xaa.idp-client',
      'vmcp.xaa.target-client',
      'vmcp.xaa.target-resource',
      'vmcp.xaa.scopes',
      'vmcp.xaa.subject-token-type',
      'vmcp.xaa.subject-provider-name',
    ],
    'exchanges the ID token of the caller for an assertion, and the assertion for a token of the backend',
    async () => {
      const { authorizer, ada, idp, target } = await prepared({
        options: { targetResource: RESOURCE, scopes: ['tickets.read', 'tickets.write'] },
      });
      expect(await headersOf(authorizer, ada)).toEqual({ authorization: 'Bearer ticket.ada.1' });
      expect(last(idp)).toMatchObject({
        client: { id: 'gateway-at-idp', secret: 'secret-1' },
        form: {
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          requested_token_type: ID_JAG,
          audience: AUDIENCE,
          resource: RESOURCE,
          subject_token: ID_TOKENS.ada,
          subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
        },
      });
      expect(last(target)).toMatchObject({
        client: { id: 'gateway-at-tickets', secret: 'secret-2' },
        form: {
          grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
          scope: 'tickets.read tickets.write',
          assertion: expect.stringMatching(/^ey/),
        },
      });
    },
  );

  it('caches the token of each caller, and requests it anew after a 401', async () => {
    const { authorizer, ada, bob, idp, clock } = await prepared();
    const headers = await Promise.all(
      Array.from({ length: 100 }, (_, at) => headersOf(authorizer, at % 2 === 0 ? ada : bob)),
    );
    headers.forEach(({ authorization }, at) => {
      expect(authorization).toContain(at % 2 === 0 ? 'ticket.ada.' : 'ticket.bob.');
    });
    expect(idp.requests).toHaveLength(2);
    clock.advance(10_000);
    expect(authorizer.refused?.(requestTo('far').backend, ada)).toBe(true);
    expect(await headersOf(authorizer, ada)).toEqual({ authorization: 'Bearer ticket.ada.3' });
  });

  it.each([
    [
      'another issued type',
      { answer: { issued_token_type: 'urn:ietf:params:oauth:token-type:access_token' } },
      'id-jag',
    ],
    ['no issued type', { answer: { issued_token_type: undefined } }, 'id-jag'],
    ['a bearer token', { answer: { token_type: 'Bearer' } }, 'token_type is not N_A'],
    ['no JWT', { answer: { access_token: 'opaque' } }, 'not a JWT'],
    ['a JWT without claims', { answer: { access_token: 'a.W10.c' } }, 'not a JWT'],
    ['another audience', { claims: { aud: 'https://evil.example' } }, 'not exactly targetAudience'],
    ['two audiences', { claims: { aud: [AUDIENCE, 'https://evil.example'] } }, 'not exactly targetAudience'],
    ['another resource', { options: { targetResource: RESOURCE }, claims: { resource: 'x' } }, 'not targetResource'],
    ['no resource', { options: { targetResource: RESOURCE }, claims: { resource: undefined } }, 'not targetResource'],
    ['an end in the past', { claims: { exp: 1 } }, 'that has ended'],
  ])('sends no assertion with %s to the authorization server', async (_name, setting: Setting, message) => {
    const { authorizer, ada, target } = await prepared(setting);
    const sending = headersOf(authorizer, ada);
    await expect(sending).rejects.toMatchObject({ code: 'AUTH_STRATEGY_FAILED' });
    await expect(sending).rejects.toThrow(message);
    await expect(sending).rejects.toThrow('backend "far": its identity provider');
    expect(target.requests).toEqual([]);
  });

  it('accepts an audience as a list of one', async () => {
    const { authorizer, ada } = await prepared({ claims: { aud: [AUDIENCE] } });
    await headersOf(authorizer, ada);
  });

  proves('vmcp.xaa.subject-provider-name', 'needs the name of the provider when there are several', async () => {
    const several = { over: { providers: ['idp', 'github'] } };
    await expect(prepared(several)).rejects.toThrow(
      'outgoingAuth.default: AmbiguousSubjectProvider: there are several upstream providers (idp, github); set subjectProviderName',
    );
    const { authorizer, ada } = await prepared({ ...several, options: { subjectProviderName: 'idp' } });
    await headersOf(authorizer, ada);
    await expect(prepared({ options: { subjectProviderName: 'idq-1' } })).rejects.toThrow(
      'no upstream provider is named',
    );
    const { slots, slot, log, now } = pluginCore();
    const options = { idpTokenUrl: 'https://a.example', targetAudience: 'x', targetTokenUrl: 'https://b.example' };
    await expect(createXaa({ slots, slot, log, now }).prepare(options, 'x')).rejects.toThrow(
      'there is no authorization server',
    );
  });

  it('uses client credentials at the target for the gateway itself, and no credential without a secret', async () => {
    const { authorizer, target, idp } = await prepared({ options: { scopes: ['list'] } });
    expect(await headersOf(authorizer, GATEWAY, { purpose: 'discovery' })).toEqual({
      authorization: 'Bearer issued.gateway-at-tickets.1',
    });
    expect(last(target)?.form).toEqual({ grant_type: 'client_credentials', scope: 'list' });
    expect(idp.requests).toEqual([]);
    const none = { targetClientId: undefined, targetClientSecretEnv: undefined };
    const without = await prepared({ options: none });
    expect(await headersOf(without.authorizer, GATEWAY, { purpose: 'discovery' })).toEqual({});
  });

  proves(
    'vmcp.xaa.insecure-target-token-url',
    'allows plain http for the target only with insecureTargetTokenUrl',
    async () => {
      const targetTokenUrl = 'http://auth.tickets.example/token';
      await expect(prepared({ options: { targetTokenUrl } })).rejects.toThrow('targetTokenUrl: expected https');
      await prepared({ options: { targetTokenUrl, insecureTargetTokenUrl: true } });
      await expect(
        prepared({ options: { idpTokenUrl: 'http://idp.example/token', insecureTargetTokenUrl: true } }),
      ).rejects.toThrow('idpTokenUrl: expected https');
    },
  );

  it.each([
    [{ idpClientSecretEnv: undefined }, 'idpClientId: needs idpClientSecret or idpClientSecretEnv'],
    [{ targetClientSecretEnv: undefined }, 'targetClientId: needs targetClientSecret or targetClientSecretEnv'],
    [{ targetClientId: undefined }, 'a client secret needs its targetClientId'],
    [{ idpClientSecret: 'x' }, 'set only one of idpClientSecret and idpClientSecretEnv'],
    [{ targetAudience: undefined }, 'targetAudience'],
    [{ targetTokenUrl: undefined }, 'targetTokenUrl'],
    [{ idpTokenUrl: undefined }, 'idpTokenUrl'],
    [{ subjectTokenType: 'urn:ietf:params:oauth:token-type:access_token' }, 'subjectTokenType'],
    [{ idpClientSecretEnv: 'UNSET' }, 'idpClientSecretEnv'],
  ])('refuses %j', async (options, message) => {
    await expect(prepared({ options })).rejects.toThrow(message);
  });

  it('adds nothing with disableUpstreamTokenInjection', async () => {
    const { authorizer, ada, lines } = await prepared({ over: { isInjectionDisabled: true } });
    expect(await headersOf(authorizer, ada)).toEqual({});
    expect(lines).toHaveLength(1);
  });
});

describe('attacks on xaa', () => {
  it('texts of hostile answers, ID tokens and secrets are in no fault', async () => {
    const canary = 'canary-a1b2c3';
    for (const answer of [
      { access_token: undefined, error: canary, error_description: canary },
      { access_token: canary, token_type: canary },
      { access_token: `${canary}\r\nx: y` },
    ]) {
      const { authorizer, ada } = await prepared({ answer });
      const failure: unknown = await headersOf(authorizer, ada).catch((cause: unknown) => cause);
      expect(String(failure)).toContain('backend "far"');
      expect(String(failure)).not.toContain(canary);
      expect(String(failure)).not.toContain(ID_TOKENS.ada);
      expect(String(failure)).not.toContain('secret-1');
    }
  });
});
