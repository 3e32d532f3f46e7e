import { generateKeyPairSync } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import type { Upstream } from '../../../../plugins/auth-server/upstreams/upstream.ts';
import { base64url, signedJwt } from '../../../support/identity-provider.ts';
import { proves } from '../../../support/proves.ts';
import {
  confusedJwt,
  DISCOVERY,
  deep,
  endless,
  type Hostile,
  hostileProvider,
  PUBLIC_AS_SECRET,
  publicJwk,
  SECRET,
  slow,
} from './hostile-provider.ts';
import { newLeg, scriptedProvider, soon, upstreamOf } from './support.ts';

type Provider = Awaited<ReturnType<typeof hostileProvider>>;

/** A sign-in with an honest browser. */
async function exchange(
  { upstream, setNonce }: Provider,
  query: Record<string, string> = {},
  signal = soon(),
  maxAgeS?: number,
) {
  const leg = { ...newLeg(), maxAgeS };
  setNonce(leg.nonce);
  return upstream.exchange(new URLSearchParams({ code: 'canary-code', state: leg.state, ...query }), leg, signal);
}

const attacked = async (hostile: Hostile) => exchange(await hostileProvider(hostile));

const refusal = (message: string | RegExp) => ({
  name: 'UpstreamRefusal',
  code: 'invalid_response',
  message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
});

it('the provider of these tests signs people in when it is honest', async () => {
  expect((await attacked({})).identity).toMatchObject({ subject: 'ada' });
});

describe('an ID token', () => {
  const seconds = Math.floor(Date.now() / 1000);

  proves(
    'choice.sign-in.max-age',
    'says when the person signed in, and is refused when that is too long ago',
    async () => {
      const aged = async (claims: object, maxAgeS?: number) =>
        exchange(await hostileProvider({ claims: { ...claims } }), {}, soon(), maxAgeS).then(
          ({ identity }) => identity.subject,
          ({ code }) => code,
        );
      expect(await aged({ auth_time: seconds - 3_700 }, 3_600)).toBe('login_required');
      expect(await aged({ auth_time: seconds - 60 }, 0)).toBe('login_required');
      expect(await aged({ auth_time: 'now' }, 3_600)).not.toBe('ada');
      expect(await aged({ auth_time: seconds - 3_000 }, 3_600)).toBe('ada');
      expect(await aged({ auth_time: seconds }, 0)).toBe('ada');
      expect([await aged({ auth_time: seconds - 9_000 }), await aged({}, 60)]).toEqual(['ada', 'ada']);
      const { upstream } = await hostileProvider();
      const urlOf = async (maxAgeS?: number) =>
        new URL(await upstream.authorizationUrl({ ...newLeg(), maxAgeS }, soon())).searchParams.get('max_age');
      expect([await urlOf(60), await urlOf()]).toEqual(['60', null]);
    },
  );

  const OTHER = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  for (const [what, claims, said] of [
    ['of another issuer', { iss: 'https://other.example' }, '"iss"'],
    ['for another client', { aud: 'other' }, '"aud"'],
    ['for several clients, given to another', { aud: ['gateway', 'other'], azp: 'other' }, '"azp"'],
    ['with another nonce', { nonce: 'other' }, '"nonce"'],
    ['without a nonce', { nonce: undefined }, '"nonce"'],
    ['that has ended', { exp: seconds - 3600 }, '"exp"'],
    ['without an end', { exp: undefined }, '"exp"'],
    ['without a subject', { sub: undefined }, '"sub"'],
    ['whose subject is no text', { sub: { id: 1 } }, '"sub"'],
    ['whose subject is empty', { sub: '' }, ''],
    ['whose subject is very long', { sub: 'a'.repeat(10_000) }, ''],
  ] as const) {
    proves('choice.upstream.id-token', `${what} is refused`, async () => {
      await expect(attacked({ claims })).rejects.toMatchObject(refusal(said));
    });
  }

  proves(
    'choice.upstream.id-token',
    'without a signature is refused, also when the provider lists alg none',
    async () => {
      const metadata = () => ({ id_token_signing_alg_values_supported: ['none', 'ES256'] });
      for (const signature of ['', 'c2ln']) {
        const idToken = (claims: Readonly<Record<string, unknown>>) =>
          `${base64url({ alg: 'none' })}.${base64url(claims)}.${signature}`;
        await expect(attacked({ idToken, metadata })).rejects.toMatchObject({ name: 'UpstreamRefusal' });
      }
    },
  );

  proves(
    'choice.upstream.id-token',
    'signed with HS256 and a public key or the client secret is refused, also when the provider lists HS256',
    async () => {
      const metadata = () => ({ id_token_signing_alg_values_supported: ['HS256', 'ES256'] });
      for (const key of PUBLIC_AS_SECRET) {
        const idToken = (claims: Readonly<Record<string, unknown>>) => confusedJwt(claims, key);
        await expect(attacked({ idToken, metadata })).rejects.toMatchObject({ name: 'UpstreamRefusal' });
      }
    },
  );

  proves('choice.upstream.id-token', 'signed with a key that the provider does not publish is refused', async () => {
    for (const kid of ['key-1', 'other']) {
      const idToken = (claims: Readonly<Record<string, unknown>>) =>
        signedJwt({ alg: 'ES256', kid }, claims, OTHER.privateKey);
      await expect(attacked({ idToken })).rejects.toMatchObject({ name: 'UpstreamRefusal' });
    }
  });

  it('with a key of its own in the header is refused', async () => {
    const header = { alg: 'ES256', jwk: publicJwk(OTHER.publicKey), jku: 'https://evil.example/jwks', kid: 'key-1' };
    const idToken = (claims: Readonly<Record<string, unknown>>) => signedJwt(header, claims, OTHER.privateKey);
    await expect(attacked({ idToken })).rejects.toMatchObject({ name: 'UpstreamRefusal' });
  });

  proves('choice.upstream.id-token', 'with a part that is changed after the signature is refused', async () => {
    const provider = await hostileProvider({
      idToken: (claims): string => {
        const [head = '', , signature = ''] = provider.sign(claims).split('.');
        return `${head}.${base64url({ ...claims, sub: 'bob' })}.${signature}`;
      },
    });
    await expect(exchange(provider)).rejects.toMatchObject({ name: 'UpstreamRefusal' });
  });

  it('that is absent, or no token, is refused', async () => {
    for (const id_token of [null, '', 'x', 'a.b.c', 42] as const) {
      await expect(attacked({ token: { id_token } }), String(id_token)).rejects.toMatchObject({
        name: 'UpstreamRefusal',
      });
    }
  });

  it('with claims that are nested too deeply is refused', async () => {
    let nested: unknown = 'end';
    for (let levels = 0; levels < 100; levels++) nested = [nested];
    await expect(attacked({ claims: { nested } })).rejects.toMatchObject(refusal('nested too deeply'));
  });
});

describe('the answer of a browser', () => {
  proves(
    'choice.upstream.callback-issuer',
    'with the issuer of another provider is refused, and its code is sent nowhere (RFC 9207)',
    async () => {
      const provider = await hostileProvider({});
      const before = async () => provider.got.filter(({ path }) => path === '/token').length;
      await expect(exchange(provider, { iss: 'https://other.example' })).rejects.toMatchObject(refusal('"iss"'));
      expect(await before()).toBe(0);
    },
  );

  proves('choice.upstream.callback-issuer', 'without the issuer is refused when the provider promises it', async () => {
    const provider = await hostileProvider({
      metadata: () => ({ authorization_response_iss_parameter_supported: true }),
    });
    await expect(exchange(provider)).rejects.toMatchObject(refusal('"iss"'));
    expect(provider.got.filter(({ path }) => path === '/token')).toEqual([]);
    expect((await exchange(provider, { iss: provider.url })).identity.subject).toBe('ada');
  });

  it('with another state, or with a parameter twice, is refused', async () => {
    const provider = await hostileProvider({});
    const leg = newLeg();
    for (const query of [
      `code=a&state=other`,
      `code=a`,
      `code=a&code=b&state=${leg.state}`,
      `code=a&state=${leg.state}&state=${leg.state}`,
      `state=${leg.state}`,
      `response=a.b.c&state=${leg.state}`,
    ]) {
      await expect(provider.upstream.exchange(new URLSearchParams(query), leg, soon()), query).rejects.toMatchObject({
        name: 'UpstreamRefusal',
      });
    }
    expect(provider.got.filter(({ path }) => path === '/token')).toEqual([]);
  });

  proves(
    'choice.upstream.callback-issuer',
    'of an OAuth 2.0 provider with a known issuer is compared with it too',
    async () => {
      const server = await scriptedProvider({
        [DISCOVERY]: () => ({
          issuer: server.url,
          authorization_endpoint: `${server.url}/a`,
          token_endpoint: `${server.url}/token`,
          registration_endpoint: `${server.url}/clients`,
        }),
        '/clients': () => ({ client_id: 'c', client_secret: 's' }),
      });
      const upstream = await upstreamOf({
        type: 'oauth2',
        oauth2Config: { scopes: ['a'], dcrConfig: { discoveryUrl: `${server.url}${DISCOVERY}` } },
      });
      const leg = newLeg();
      const query = new URLSearchParams({ code: 'a', state: leg.state, iss: 'https://other.example' });
      await expect(upstream.exchange(query, leg, soon())).rejects.toMatchObject(refusal('"iss"'));
      expect(server.got.filter(({ path }) => path === '/token')).toEqual([]);
    },
  );
});

describe('a discovery document', () => {
  const authorizationUrl = async (hostile: Hostile) =>
    (await hostileProvider(hostile)).upstream.authorizationUrl(newLeg(), soon());

  it('of another issuer is not used', async () => {
    for (const issuer of ['https://other.example', null, 42, '', 'x', {}]) {
      await expect(
        authorizationUrl({ metadata: () => ({ issuer }) as JsonObject }),
        String(issuer),
      ).rejects.toMatchObject({
        code: 'REMOTE_UNAVAILABLE',
      });
    }
  });

  it('sends no browser to a URL that is not http', async () => {
    for (const url of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      '/relative',
      'http://idp.example/a',
      7,
    ]) {
      await expect(
        authorizationUrl({ metadata: () => ({ authorization_endpoint: url }) }),
        String(url),
      ).rejects.toThrow('has no authorization_endpoint that may be used');
    }
  });

  proves(
    'choice.upstream.addresses',
    'leads to no private address that is not allowed, by address or by name, and no secret arrives there',
    async () => {
      const inner = await scriptedProvider({ '/token': () => ({}), '/jwks': () => ({}), '/userinfo': () => ({}) });
      for (const target of [
        inner.url,
        inner.url.replace('127.0.0.1', 'localhost'),
        'http://169.254.169.254',
        'https://10.1.2.3',
        'http://[::1]:1',
      ]) {
        for (const [member, path] of [
          ['token_endpoint', '/token'],
          ['jwks_uri', '/jwks'],
        ] as const) {
          await expect(attacked({ metadata: () => ({ [member]: `${target}${path}` }) }), target).rejects.toMatchObject({
            name: 'GatewayFault',
          });
        }
        const fields = { scopes: ['openid', 'profile'] };
        const { identity } = await attacked({ metadata: () => ({ userinfo_endpoint: `${target}/userinfo` }), fields });
        expect(identity.name).toBeUndefined();
      }
      const named = { token_endpoint: 'https://localhost:1/token' }; // its address is known when it is connected to
      await expect(attacked({ metadata: () => named })).rejects.toMatchObject({
        code: 'REMOTE_REFUSED',
        message: expect.stringContaining('allowPrivateAddresses'),
      });
      expect(inner.got).toEqual([]);
    },
  );

  it('is not read at a private address without the setting that allows it', async () => {
    await expect(hostileProvider({ provider: { allowPrivateAddresses: false } })).rejects.toThrow(
      'allowPrivateAddresses: true',
    );
  });
});

describe('a redirect', () => {
  proves('choice.upstream.no-redirects', 'of any endpoint is not followed, so that no secret leaves', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      const away = await scriptedProvider({});
      const redirect = ({ response, path }: { response: import('node:http').ServerResponse; path: string }) =>
        void response.writeHead(status, { location: `${away.url}${path}` }).end();
      for (const path of [DISCOVERY, '/token', '/jwks']) {
        await expect(attacked({ answers: { [path]: redirect } }), `${status} ${path}`).rejects.toMatchObject({
          name: 'GatewayFault',
        });
      }
      expect(away.got).toEqual([]);
    }
  });

  proves(
    'choice.upstream.no-redirects',
    'of a metadata document is followed within its origin only, one of a registration never',
    async () => {
      const away = await scriptedProvider({});
      let target = '';
      const server = await scriptedProvider({
        '/meta': ({ response }) => void response.writeHead(302, { location: target }).end(),
        '/real': () => ({
          issuer: server.url,
          authorization_endpoint: `${server.url}/a`,
          token_endpoint: `${server.url}/t`,
          registration_endpoint: `${server.url}/clients`,
        }),
        '/clients': ({ response }) => void response.writeHead(307, { location: `${away.url}/clients` }).end(),
      });
      const upstream = () =>
        upstreamOf(
          {
            type: 'oauth2',
            oauth2Config: {
              scopes: ['a'],
              dcrConfig: { discoveryUrl: `${server.url}/meta`, initialAccessTokenRef: { env: 'INITIAL' } },
            },
          },
          { environment: { INITIAL: SECRET } },
        );
      target = `${away.url}/real`;
      await expect((await upstream()).authorizationUrl(newLeg(), soon())).rejects.toMatchObject({
        name: 'GatewayFault',
      });
      target = '/real';
      await expect((await upstream()).authorizationUrl(newLeg(), soon())).rejects.toThrow('redirect');
      expect(server.got.filter(({ path }) => path === '/clients')).toHaveLength(1);
      expect(away.got).toEqual([]);
    },
  );
});

describe('a registration', () => {
  proves(
    'choice.upstream.addresses',
    'at a private address from a document is refused, also at the one that is only guessed',
    async () => {
      const inner = await scriptedProvider({ '/clients': () => ({ client_id: 'x' }) });
      const server = await scriptedProvider({
        '/meta': () => ({
          issuer: server.url,
          authorization_endpoint: `${server.url}/a`,
          token_endpoint: `${server.url}/t`,
          registration_endpoint: `${inner.url}/clients`,
        }),
      });
      const upstream = await upstreamOf(
        {
          type: 'oauth2',
          oauth2Config: {
            scopes: ['a'],
            dcrConfig: { discoveryUrl: `${server.url}/meta`, initialAccessTokenRef: { env: 'INITIAL' } },
          },
        },
        { environment: { INITIAL: SECRET } },
      );
      await expect(upstream.authorizationUrl(newLeg(), soon())).rejects.toMatchObject({ name: 'GatewayFault' });
      expect(inner.got).toEqual([]);
    },
  );
});

describe('an answer', () => {
  const PATHS = [DISCOVERY, '/token', '/jwks'];

  for (const [what, answer] of [
    ['without an end', endless],
    ['that is nested too deeply', deep],
    [
      'that says it has 1 GB',
      ({ response }: { response: import('node:http').ServerResponse }) =>
        void response.writeHead(200, { 'content-length': String(1024 ** 3) }).write('{'),
    ],
    [
      'that is no JSON',
      ({ response }: { response: import('node:http').ServerResponse }) => void response.end('<html>'),
    ],
    ['that is a list', () => []],
  ] as const) {
    proves('choice.upstream.bounded-answers', `${what} ends a sign-in with a fault, within memory`, async () => {
      const before = process.memoryUsage().rss;
      for (const path of PATHS) {
        const failed = await attacked({ answers: { [path]: answer } }).catch((cause: Error) => cause);
        expect(failed, path).toBeInstanceOf(Error);
      }
      expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 * 1024);
    });
  }

  proves(
    'choice.upstream.bounded-answers',
    'that comes one byte at a time ends with the time of the caller',
    async () => {
      for (const path of ['/token', '/jwks']) {
        const provider = await hostileProvider({ answers: { [path]: slow } });
        const began = Date.now();
        await expect(exchange(provider, {}, AbortSignal.timeout(700))).rejects.toMatchObject({ name: 'GatewayFault' });
        expect(Date.now() - began).toBeLessThan(10_000);
      }
    },
  );

  proves('choice.upstream.userinfo-subject', 'of userinfo about another person is refused', async () => {
    const fields = { scopes: ['openid', 'profile'] };
    for (const sub of ['bob', 42, null] as const) {
      await expect(attacked({ answers: { '/userinfo': () => ({ sub, name: 'Bob' }) }, fields })).rejects.toMatchObject(
        refusal('another subject'),
      );
    }
  });

  proves('choice.upstream.bounded-answers', 'of userinfo that is nested too deeply is not kept as claims', async () => {
    let nested: JsonObject = {};
    for (let levels = 0; levels < 100; levels++) nested = { nested };
    const server = await scriptedProvider({
      '/token': () => ({ access_token: 'a', token_type: 'bearer' }),
      '/user': () => ({ sub: 'ada', nested }),
    });
    const upstream = await upstreamOf({
      type: 'oauth2',
      oauth2Config: {
        authorizationEndpoint: `${server.url}/a`,
        tokenEndpoint: `${server.url}/token`,
        clientId: 'gateway',
        userInfo: { endpointUrl: `${server.url}/user` },
      },
    });
    const leg = newLeg();
    const query = new URLSearchParams({ code: 'a', state: leg.state });
    await expect(upstream.exchange(query, leg, soon())).rejects.toThrow('nested too deeply');
  });

  it('of userinfo that is hostile leaves the person without a name', async () => {
    const fields = { scopes: ['openid', 'profile'] };
    for (const answer of [endless, deep]) {
      const { identity } = await attacked({ answers: { '/userinfo': answer }, fields });
      expect(identity).toMatchObject({ subject: 'ada' });
      expect(identity.name).toBeUndefined();
    }
  });

  it('gives no member by way of a prototype', async () => {
    const body = '{"__proto__":{"access_token":"a","token_type":"bearer","id_token":"x"},"constructor":{"name":"x"}}';
    const answers = {
      '/token': ({ response }: { response: import('node:http').ServerResponse }) => void response.end(body),
    };
    await expect(attacked({ answers })).rejects.toMatchObject({ name: 'UpstreamRefusal' });
    expect(({} as { access_token?: string }).access_token).toBeUndefined();
  });
});

describe('a refresh', () => {
  async function signedIn(hostile: Hostile = {}) {
    const provider = await hostileProvider(hostile);
    return { ...provider, tokens: (await exchange(provider)).tokens };
  }

  for (const [what, claims] of [
    ['of another person', { sub: 'bob' }],
    ['of another issuer', { iss: 'https://other.example' }],
    ['for another client', { aud: 'other' }],
  ] as const) {
    proves(
      'choice.upstream.refresh-checked-late',
      `with an ID token ${what} returns the tokens for storing and then refuses them`,
      async () => {
        let isHonest = true;
        const provider = await hostileProvider({
          idToken: (given) => provider.sign(isHonest ? given : { ...given, ...claims }),
        });
        const { tokens } = await exchange(provider);
        isHonest = false;
        const refreshed = await provider.upstream.refresh(tokens, soon());
        expect(refreshed.tokens.refreshToken?.reveal()).toBe('canary-refresh-token');
        await expect(refreshed.check()).rejects.toMatchObject({ name: 'UpstreamRefusal', code: 'invalid_response' });
      },
    );
  }

  it('with an ID token of a key that is not published returns the tokens and then refuses them', async () => {
    let isHonest = true;
    const other = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const provider = await hostileProvider({
      idToken: (given) =>
        isHonest ? provider.sign(given) : signedJwt({ alg: 'ES256', kid: 'key-1' }, given, other.privateKey),
    });
    const { tokens } = await exchange(provider);
    isHonest = false;
    await expect((await provider.upstream.refresh(tokens, soon())).check()).rejects.toMatchObject({
      name: 'UpstreamRefusal',
    });
  });

  it('accepts an honest one', async () => {
    const { upstream, tokens } = await signedIn();
    await (await upstream.refresh(tokens, soon())).check();
  });
});

describe('a canary', () => {
  const CANARY = 'canary';

  /** Everything that a failure shows: message, causes, properties and stack. */
  function shown(cause: unknown): string {
    const texts: string[] = [];
    for (let at = cause; at instanceof Error; at = at.cause) {
      texts.push(at.message, at.stack ?? '', JSON.stringify({ ...at }));
    }
    return texts.join('\n');
  }

  proves(
    'choice.upstream.no-secret-shown',
    'in texts, tokens, codes and secrets reaches no error and no log',
    async () => {
      const canaryText = { error_description: 'canary-text', error_uri: 'https://canary.example' };
      const json =
        (status: number, body: JsonObject) =>
        ({ response }: { response: import('node:http').ServerResponse }) =>
          void response
            .writeHead(status, { 'content-type': 'application/json', 'www-authenticate': 'Bearer error="canary"' })
            .end(JSON.stringify(body));
      const cases: readonly Hostile[] = [
        ...[400, 401, 403, 500].map((status) => ({
          answers: { '/token': json(status, { error: 'canary_code', ...canaryText }) },
        })),
        { answers: { '/token': json(400, { error: 'invalid_grant', ...canaryText }) } },
        { answers: { '/token': json(200, { error: 'canary_code', ...canaryText }) } },
        { answers: { '/token': json(200, { access_token: 'canary-a', token_type: 'canary' }) } },
        { answers: { '/token': ({ response }) => void response.end('canary {') } },
        { answers: { '/jwks': json(200, { keys: [{ kty: 'canary', kid: 'canary' }] }) } },
        {
          answers: { '/userinfo': json(403, canaryText) },
          fields: { userInfoOverride: { endpointUrl: 'https://x.example' } },
        },
        { claims: { nonce: 'canary-nonce' } },
        { claims: { iss: 'https://canary.example' } },
        { token: { id_token: 'canary.canary.canary' } },
        { metadata: () => ({ issuer: 'https://user:canary@other.example' }) },
        { metadata: () => ({ issuer: 'canary text' }) },
        { metadata: () => ({ issuer: `https://other.example/${'canary'.repeat(60)}` }) },
      ];
      for (const [index, hostile] of cases.entries()) {
        const log: string[] = [];
        const failed = await attacked({
          ...hostile,
          options: { log, environment: { SECRET } },
        }).catch((cause: unknown) => cause);
        expect(failed, String(index)).toBeInstanceOf(Error);
        expect(shown(failed), String(index)).not.toContain(CANARY);
        expect(log.join('\n'), String(index)).not.toContain(CANARY);
      }
    },
  );

  proves('choice.upstream.no-secret-shown', 'in the redirect of a provider reaches no error', async () => {
    const { upstream } = await hostileProvider({});
    const leg = newLeg();
    const tries: readonly Record<string, string>[] = [
      { error: 'canary', error_description: 'canary' },
      { error: 'access_denied', error_description: 'canary' },
      { iss: 'https://canary.example', code: 'canary' },
    ];
    for (const query of tries) {
      const given = new URLSearchParams({ state: leg.state, ...query });
      expect(shown(await failureOf(upstream, given, leg))).not.toContain(CANARY);
    }
  });

  function failureOf(upstream: Upstream, query: URLSearchParams, leg: ReturnType<typeof newLeg>): Promise<unknown> {
    return upstream.exchange(query, leg, soon()).catch((cause: unknown) => cause);
  }
});
