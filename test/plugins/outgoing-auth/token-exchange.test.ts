import type { AuthContext, BackendRequest, Caller } from '@toolmgr/core';
import { fakeClock } from '@toolmgr/core/testing';
import { describe, expect, it } from 'vitest';
import tokenExchange from '../../../plugins/outgoing-auth/token-exchange/index.ts';
import { createTokenExchange } from '../../../plugins/outgoing-auth/token-exchange/strategy.ts';
import { bootPlugin, pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { type TokenEndpoint, tokenEndpoint } from '../../support/token-endpoint.ts';
import { until } from '../../support/until.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const GATEWAY: Caller = { issuer: '', subject: 'gateway', key: '\0gateway', claims: {} };

function callerOf(subject: string, token?: string, claims: Caller['claims'] = {}): Caller {
  const proof = token === undefined ? {} : { token: { reveal: () => token } };
  return { issuer: 'idp', subject, key: `idp\0${subject}`, claims, ...proof };
}

function authContextOf(
  caller: Caller,
  purpose: AuthContext['purpose'] = 'call',
  signal = new AbortController().signal,
): AuthContext {
  return { caller, purpose, signal };
}

/** A strategy over a real endpoint, with its clock. */
async function prepared(endpoint: TokenEndpoint, options: Record<string, unknown> = {}) {
  endpoint.subjects.set('token-of-ada', 'ada').set('token-of-bob', 'bob');
  const clock = fakeClock();
  const core = pluginCore({ SECRET: 's3cret:+&ü' });
  const strategy = createTokenExchange({ ...core, now: clock.now });
  const authorizer = await strategy.prepare({ tokenUrl: endpoint.url, ...options }, 'outgoingAuth.default');
  const send = async (authContext: AuthContext, backend = 'github'): Promise<string | undefined> => {
    const far = { name: backend, transport: 'streamable-http' } as const;
    const outbound: BackendRequest = { backend: far, method: 'POST', url: 'http://127.0.0.1:1/mcp', headers: {} };
    await authorizer.apply(outbound, authContext);
    return outbound.headers.authorization;
  };
  return { clock, core, authorizer, send, close: () => strategy.close() };
}

const ADA = callerOf('ada', 'token-of-ada');
const BOB = callerOf('bob', 'token-of-bob');

describe('a token exchange', () => {
  proves(
    ['vmcp.token-exchange.token-url', 'vmcp.token-exchange.strings', 'vmcp.token-exchange.scopes'],
    'asks as RFC 8693 says: a form, the client by HTTP Basic, audience and scopes',
    async () => {
      await using endpoint = await tokenEndpoint({ clients: { 'gate way': 's3cret:+&ü' } });
      const { send } = await prepared(endpoint, {
        audience: 'https://github.internal',
        clientId: 'gate way',
        clientSecretEnv: 'SECRET',
        scopes: ['repo', 'user:read'],
      });
      const header = await send(authContextOf(ADA));
      expect(header).toBe('Bearer issued.ada.1');
      expect(endpoint.requests).toEqual([
        {
          contentType: 'application/x-www-form-urlencoded;charset=UTF-8',
          client: { id: 'gate way', secret: 's3cret:+&ü' },
          form: {
            grant_type: EXCHANGE,
            subject_token: 'token-of-ada',
            subject_token_type: ACCESS_TOKEN,
            requested_token_type: ACCESS_TOKEN,
            audience: 'https://github.internal',
            scope: 'repo user:read',
          },
        },
      ]);
    },
  );

  it('sends only the client id when it has no secret, and no credentials without a client id', async () => {
    await using endpoint = await tokenEndpoint();
    const named = await prepared(endpoint, { clientId: 'public' });
    await named.send(authContextOf(ADA));
    const nameless = await prepared(endpoint);
    await nameless.send(authContextOf(ADA));
    expect(endpoint.requests.map(({ client, form }) => [client, form.client_id])).toEqual([
      [undefined, 'public'],
      [undefined, undefined],
    ]);
  });

  proves(
    'vmcp.token-exchange.subject-token-type',
    'sends the token as an access token unless configured otherwise',
    async () => {
      await using endpoint = await tokenEndpoint();
      for (const type of [undefined, 'jwt', 'id_token', 'urn:example:custom']) {
        const { send } = await prepared(endpoint, type === undefined ? {} : { subjectTokenType: type });
        await send(authContextOf(ADA));
      }
      expect(endpoint.requests.map(({ form }) => form.subject_token_type)).toEqual([
        ACCESS_TOKEN,
        'urn:ietf:params:oauth:token-type:jwt',
        'urn:ietf:params:oauth:token-type:id_token',
        'urn:example:custom',
      ]);
    },
  );
});

describe('exchanged tokens', () => {
  proves(
    'choice.token-exchange.kept',
    'are kept per caller, token and backend until shortly before their end',
    async () => {
      await using endpoint = await tokenEndpoint();
      const { send, clock } = await prepared(endpoint);
      expect(await send(authContextOf(ADA))).toBe('Bearer issued.ada.1');
      expect(await send(authContextOf(callerOf('ada', 'token-of-ada')))).toBe('Bearer issued.ada.1');
      expect(await send(authContextOf(BOB))).toBe('Bearer issued.bob.2');
      expect(await send(authContextOf(ADA), 'docs')).toBe('Bearer issued.ada.3');
      endpoint.subjects.set('next-token-of-ada', 'ada');
      expect(await send(authContextOf(callerOf('ada', 'next-token-of-ada')))).toBe('Bearer issued.ada.4');
      clock.advance(3_600_000 - 31_000);
      expect(await send(authContextOf(ADA))).toBe('Bearer issued.ada.1');
      clock.advance(2_000);
      expect(await send(authContextOf(ADA))).toBe('Bearer issued.ada.5');
    },
  );

  it.each([
    ['a short life is used up to four fifths', 10, 7_900, 8_100],
    ['a life in quotes counts', '10', 7_900, 8_100],
    ['a life that is not said is a minute', undefined, 47_000, 49_000],
    ['a life beyond reason is an hour', 1e12, 3_569_000, 3_571_000],
  ])('%s', async (_what, lifetime, stillMs, overMs) => {
    await using endpoint = await tokenEndpoint();
    endpoint.lifetime = undefined;
    if (lifetime !== undefined) endpoint.answer = { expires_in: lifetime };
    const { send, clock } = await prepared(endpoint);
    await send(authContextOf(ADA));
    clock.advance(stillMs);
    await send(authContextOf(ADA));
    expect(endpoint.requests).toHaveLength(1);
    clock.advance(overMs - stillMs);
    await send(authContextOf(ADA));
    expect(endpoint.requests).toHaveLength(2);
  });

  it('are used although other members of the response are malformed', async () => {
    await using endpoint = await tokenEndpoint();
    endpoint.answer = { id_token: 'no JWT', scope: ['a', 'b'], refresh_token: 7, expires_in: null };
    const { send } = await prepared(endpoint);
    expect(await send(authContextOf(ADA))).toBe('Bearer issued.ada.1');
  });

  it('expire with the caller token they were exchanged for', async () => {
    await using endpoint = await tokenEndpoint();
    const { send, clock } = await prepared(endpoint);
    const ending = callerOf('ada', 'token-of-ada', { exp: clock.now() / 1000 + 60 });
    await send(authContextOf(ending));
    clock.advance(59_000);
    await send(authContextOf(ending));
    expect(endpoint.requests).toHaveLength(1);
    clock.advance(2_000);
    await send(authContextOf(ending));
    expect(endpoint.requests).toHaveLength(2);
  });

  proves('choice.token-exchange.single-flight', 'are made once for all who ask at the same time', async () => {
    await using endpoint = await tokenEndpoint();
    const { send } = await prepared(endpoint);
    const release = endpoint.hold();
    const leaving = new AbortController();
    const left = send(authContextOf(ADA, 'call', leaving.signal));
    const asked = Array.from({ length: 50 }, () => send(authContextOf(ADA)));
    const other = send(authContextOf(BOB));
    await until(() => endpoint.requests.length === 2);
    leaving.abort(new Error('the caller left'));
    await expect(left).rejects.toThrow('the caller left');
    release();
    expect(new Set(await Promise.all(asked)).size).toBe(1);
    expect(await other).toContain('issued.bob');
    expect(endpoint.requests).toHaveLength(2);
  });

  it('have a bounded number of waiting callers', async () => {
    await using endpoint = await tokenEndpoint();
    const { send, close } = await prepared(endpoint);
    const release = endpoint.hold();
    const asked = Array.from({ length: 256 }, (_, at) => send(authContextOf(callerOf('ada', `unknown-${at}`))));
    const ended = Promise.allSettled(asked);
    await expect(send(authContextOf(ADA))).rejects.toThrow('more than 256 token exchanges are in flight');
    release();
    await close();
    expect((await ended).every(({ status }) => status === 'rejected')).toBe(true);
  });

  proves(
    'choice.token-exchange.renewed-on-401',
    'are made anew when a backend refuses them, and not again and again',
    async () => {
      await using endpoint = await tokenEndpoint();
      const { send, clock, authorizer } = await prepared(endpoint);
      const backend = { name: 'github', transport: 'streamable-http' } as const;
      await send(authContextOf(ADA));
      expect(authorizer.refused?.(backend, ADA)).toBe(false); // made a moment ago: another would be no better
      clock.advance(10_000);
      expect(authorizer.refused?.(backend, ADA)).toBe(true);
      expect(await send(authContextOf(ADA))).toBe('Bearer issued.ada.2');
      expect(authorizer.refused?.(backend, ADA)).toBe(true); // that of a call with the old one
      expect(await send(authContextOf(ADA))).toBe('Bearer issued.ada.2');
      expect(authorizer.refused?.(backend, GATEWAY)).toBe(false); // there is none
      expect(endpoint.requests).toHaveLength(2);
    },
  );
});

describe('without a token of a caller', () => {
  proves(
    'choice.token-exchange.discovery',
    'the gateway lists with a token of its own where it has a secret, and bare where not',
    async () => {
      await using endpoint = await tokenEndpoint({ clients: { gateway: 's' } });
      const own = await prepared(endpoint, {
        clientId: 'gateway',
        clientSecret: 's',
        audience: 'far',
        scopes: ['list'],
      });
      expect(await own.send(authContextOf(GATEWAY, 'discovery'))).toBe('Bearer issued.gateway.1');
      expect(await own.send(authContextOf(GATEWAY, 'discovery'))).toBe('Bearer issued.gateway.1');
      expect(endpoint.requests.map(({ form }) => form)).toEqual([
        { grant_type: 'client_credentials', audience: 'far', scope: 'list' },
      ]);
      const bare = await prepared(endpoint, { clientId: 'gateway' });
      expect(await bare.send(authContextOf(GATEWAY, 'discovery'))).toBeUndefined();
      expect(endpoint.requests).toHaveLength(1);
    },
  );

  it('lists are sent without credentials when the endpoint issues no token for the gateway itself, with one log line', async () => {
    await using endpoint = await tokenEndpoint();
    endpoint.before = ({ form }, response) => {
      if (form.grant_type !== 'client_credentials') return false;
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"unauthorized_client"}');
      return true;
    };
    const { send, core, clock } = await prepared(endpoint, { clientId: 'gateway', clientSecret: 's' });
    expect(await send(authContextOf(GATEWAY, 'discovery'))).toBeUndefined();
    expect(await send(authContextOf(GATEWAY, 'discovery'))).toBeUndefined();
    expect(await send(authContextOf(ADA))).toBe('Bearer issued.ada.1');
    clock.advance(61_000);
    expect(await send(authContextOf(GATEWAY, 'discovery'))).toBeUndefined();
    expect(endpoint.requests).toHaveLength(3);
    expect(core.lines).toEqual([
      { level: 'warn', message: expect.stringContaining('without a credential'), fields: { backend: 'github' } },
    ]);
    clock.advance(61_000);
    endpoint.before = undefined;
    expect(await send(authContextOf(GATEWAY, 'discovery'))).toBe('Bearer issued.gateway.2');
  });

  it('a call is refused, because there is no token to exchange', async () => {
    await using endpoint = await tokenEndpoint();
    const { send } = await prepared(endpoint, { clientId: 'gateway', clientSecret: 's' });
    for (const purpose of ['call', 'session'] as const) {
      await expect(send(authContextOf(callerOf('unknown'), purpose))).rejects.toMatchObject({
        code: 'AUTH_STRATEGY_REFUSED',
        message: expect.stringContaining('this caller has no token'),
      });
    }
    expect(endpoint.requests).toHaveLength(0);
  });
});

describe('a token endpoint that refuses', () => {
  const says = (endpoint: TokenEndpoint, status: number, body: string): void => {
    endpoint.before = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      return true;
    };
  };

  proves('choice.token-exchange.errors', "tells the caller's matter from the operator's", async () => {
    await using endpoint = await tokenEndpoint();
    const { send, clock } = await prepared(endpoint, { clientId: 'gateway', clientSecret: 'c1ient-s3cret' });
    const cases = [
      [400, 'invalid_grant', 'AUTH_STRATEGY_REFUSED', /sign in again/],
      [400, 'invalid_request', 'AUTH_STRATEGY_REFUSED', /sign in again/],
      [403, 'access_denied', 'AUTH_STRATEGY_REFUSED', /denies the caller/],
      [400, 'invalid_target', 'AUTH_STRATEGY_FAILED', /configured audience/],
      [400, 'invalid_scope', 'AUTH_STRATEGY_FAILED', /configured scopes/],
      [401, 'invalid_client', 'AUTH_STRATEGY_FAILED', /id and secret/],
      [400, 'unauthorized_client', 'AUTH_STRATEGY_FAILED', /does not grant/],
      [400, 'unsupported_grant_type', 'AUTH_STRATEGY_FAILED', /does not know this grant/],
      [400, 'token-of-ada c1ient-s3cret', 'AUTH_STRATEGY_FAILED', /answered with status 400/],
      [503, 'invalid_grant', 'AUTH_STRATEGY_FAILED', /answered with status 503/],
      [429, '', 'AUTH_STRATEGY_FAILED', /answered with status 429/],
    ] as const;
    for (const [status, error, code, sentence] of cases) {
      says(endpoint, status, JSON.stringify({ error, error_description: 'token-of-ada c1ient-s3cret' }));
      clock.advance(10_000);
      const failure = await send(authContextOf(ADA)).catch((cause: unknown) => cause);
      expect(failure, error).toMatchObject({ code, message: expect.stringMatching(sentence) });
      expect(everything(failure)).not.toMatch(/token-of-ada|c1ient-s3cret/);
    }
  });

  it.each([
    ['no object', '[]', /returned an invalid response/],
    ['no JSON', '<html>token-of-ada</html>', /returned an invalid response/],
    ['no token', '{"token_type":"Bearer","issued_token_type":"URN"}', /its "access_token" property must be a string/],
    [
      'a token over several lines',
      '{"access_token":"a\\r\\nx-evil: 1","token_type":"Bearer","issued_token_type":"URN"}',
      /not a valid header value/,
    ],
    [
      'a token of another kind',
      '{"access_token":"a","token_type":"N_A","issued_token_type":"URN"}',
      /unsupported `token_type` value/,
    ],
    [
      'no kind of token',
      '{"access_token":"a","issued_token_type":"URN"}',
      /its "token_type" property must be a string/,
    ],
    [
      'a token of the kind dpop',
      '{"access_token":"a","token_type":"DPoP","issued_token_type":"URN"}',
      /not a bearer token/,
    ],
    [
      'another type than was asked for',
      '{"access_token":"a","token_type":"Bearer","issued_token_type":"x"}',
      /not an access token/,
    ],
    ['no type', '{"access_token":"a","token_type":"Bearer"}', /not an access token/],
    [
      'an endless token',
      `{"access_token":"${'a'.repeat(17_000)}","token_type":"Bearer","issued_token_type":"URN"}`,
      /not a valid header value/,
    ],
    ['an endless answer', `{"x":"${'a'.repeat(70_000)}"}`, /returned an invalid response/],
  ])('is not believed when it grants %s', async (_what, body, sentence) => {
    await using endpoint = await tokenEndpoint();
    const { send } = await prepared(endpoint);
    says(endpoint, 200, body.replace('URN', ACCESS_TOKEN));
    const failure = await send(authContextOf(ADA)).catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ code: 'AUTH_STRATEGY_FAILED', message: expect.stringMatching(sentence) });
    expect(everything(failure)).not.toContain('token-of-ada');
  });

  it('is not followed when it redirects', async () => {
    await using elsewhere = await tokenEndpoint();
    await using endpoint = await tokenEndpoint();
    const { send } = await prepared(endpoint, { clientId: 'gateway', clientSecret: 's' });
    endpoint.before = (_request, response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
      return true;
    };
    await expect(send(authContextOf(ADA))).rejects.toMatchObject({ code: 'AUTH_STRATEGY_FAILED' });
    expect(elsewhere.requests).toHaveLength(0);
  });

  proves(
    'choice.token-exchange.recovers',
    'or is unavailable causes one request, then errors without a request for two seconds, then a new request',
    async () => {
      const first = await tokenEndpoint();
      const { send, clock } = await prepared(first);
      await first[Symbol.asyncDispose]();
      await expect(send(authContextOf(ADA))).rejects.toMatchObject({
        code: 'AUTH_STRATEGY_FAILED',
        message: expect.stringMatching(/its token endpoint did not answer \(.*ECONNREFUSED/),
      });
      await using again = await tokenEndpoint({ port: first.port });
      again.subjects.set('token-of-ada', 'ada');
      await expect(send(authContextOf(ADA))).rejects.toThrow(/did not answer/);
      expect(again.requests).toHaveLength(0);
      clock.advance(2_001);
      expect(await send(authContextOf(ADA))).toBe('Bearer issued.ada.1');
    },
  );

  it('that never responds: the request is aborted when the gateway stops', async () => {
    await using endpoint = await tokenEndpoint();
    const { send, close } = await prepared(endpoint);
    endpoint.hold();
    const asked = send(authContextOf(ADA));
    await until(() => endpoint.requests.length === 1);
    await close();
    await expect(asked).rejects.toMatchObject({ code: 'AUTH_STRATEGY_FAILED' });
  });
});

describe('the options of token_exchange', () => {
  const strategy = createTokenExchange(pluginCore({}));
  const tokenUrl = 'https://idp.example.com/token';

  it('are declared by the plugin', async () => {
    const core = await bootPlugin(tokenExchange, {});
    const authorizer = await core.slots.authStrategies.get('token_exchange').prepare({ tokenUrl }, 'here');
    expect(authorizer).toMatchObject({ headerNames: ['authorization'], perCaller: true });
    await core.hooks.stopping.promise();
  });

  it.each([
    ['no tokenUrl', {}, /tokenUrl: invalid input: expected string/],
    ['a tokenUrl that is none', { tokenUrl: 'idp' }, /tokenUrl: expected an absolute URL/],
    ['plain http beyond this machine', { tokenUrl: 'http://idp.example.com/token' }, /tokenUrl: expected https/],
    ['http to a private address', { tokenUrl: 'http://10.0.0.1/token' }, /tokenUrl: expected https/],
    ['a password in the URL', { tokenUrl: 'https://a:b@idp.example.com/' }, /without user name and password/],
    ['two secrets', { tokenUrl, clientId: 'a', clientSecret: 'b', clientSecretEnv: 'C' }, /only one of clientSecret/],
    ['a secret without a name', { tokenUrl, clientSecret: 'b' }, /needs its clientId/],
    ['a scope with a space', { tokenUrl, scopes: ['a b'] }, /scopes\[0\]: expected a scope/],
    ['a type that is no URI', { tokenUrl, subjectTokenType: 'saml' }, /subjectTokenType: expected access_token/],
    [
      'an upstream',
      { tokenUrl, subjectProviderName: 'github' },
      /names an upstream provider, and there is no authorization server/,
    ],
    ['a misspelt key', { tokenUrl, audiance: 'x' }, /unknown key "audiance", did you mean "audience"/],
  ])('refuse %s', async (_what, options, sentence) => {
    const refused = strategy.prepare(options, 'outgoingAuth.default');
    await expect(refused).rejects.toMatchObject({ code: 'AUTH_STRATEGY_INVALID' });
    await expect(refused).rejects.toThrow(sentence);
  });

  proves('choice.standalone.env-name-unset', 'name the variable of the secret that is not set', async () => {
    const options = { tokenUrl, clientId: 'a', clientSecretEnv: 'IDP_SECRET' };
    await expect(strategy.prepare(options, 'outgoingAuth.backends.x')).rejects.toMatchObject({
      code: 'SECRET_MISSING',
      message: expect.stringMatching(/outgoingAuth\.backends\.x\.clientSecretEnv.*IDP_SECRET is not set/),
    });
  });

  it('accept https to private addresses, and http to the loopback address', async () => {
    for (const url of ['https://10.0.0.1/token', 'http://localhost:8080/token', 'http://[::1]/token']) {
      await expect(strategy.prepare({ tokenUrl: url }, 'here')).resolves.toBeDefined();
    }
  });
});

/** All that a log could print of an error. */
function everything(error: unknown): string {
  const parts: string[] = [];
  for (let at = error; at instanceof Error; at = at.cause) parts.push(at.message, at.stack ?? '', JSON.stringify(at));
  return parts.join('\n');
}
