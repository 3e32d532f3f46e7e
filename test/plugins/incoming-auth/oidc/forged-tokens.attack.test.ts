import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { base64url, type IdentityProvider, identityProvider, signedJwt } from '../../../support/identity-provider.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { AUDIENCE, type OidcGateway, oidcGateway } from '../../../support/oidc-gateway.ts';
import { proves } from '../../../support/proves.ts';

const CLAIMS = { sub: 'ada', aud: AUDIENCE };

/** Provider and gateway, after one good token got in: what is refused afterwards is refused for what it is. */
async function both(alg: 'ES256' | 'RS256' = 'ES256') {
  const idp = await identityProvider({ alg });
  const gateway = await oidcGateway(idp);
  expect(await gateway.status(idp.sign(CLAIMS))).toBe(200);
  return {
    idp,
    gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await idp[Symbol.asyncDispose]();
    },
  };
}

/** Expects 401 with the words, the error code, and nothing of the token in the answer. */
async function refused(gateway: OidcGateway, token: string, words: RegExp | string): Promise<void> {
  const reply = await gateway.ask(`Bearer ${token}`);
  expect([reply.status, reply.json.error?.message]).toEqual([401, expect.stringMatching(words)]);
  expect(reply.headers.get('www-authenticate')).toContain('error="invalid_token"');
  expect(reply.text).not.toContain(token.slice(-24));
}

function keyOf(idp: IdentityProvider, alg: string): { readonly kid: string; readonly key: KeyObject } {
  const found = idp.publicKeys().find((each) => each.alg === alg);
  if (found === undefined) throw new Error(`no key for ${alg}`);
  return found;
}

const tokenWith = (idp: IdentityProvider, header: object, claims: object, signature: string): string =>
  `${base64url({ typ: 'JWT', ...header })}.${base64url({ iss: idp.issuer, exp: Date.now() / 1000 + 60, ...claims })}.${signature}`;

describe('a forged token', () => {
  it('with another signature, or other claims with a valid signature, is refused', async () => {
    await using pair = await both();
    const { idp, gateway } = pair;
    const { kid } = keyOf(idp, 'ES256');
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const exp = Math.floor(Date.now() / 1000) + 60;
    const forged = signedJwt({ alg: 'ES256', kid }, { ...CLAIMS, iss: idp.issuer, exp }, stranger.privateKey);
    await refused(gateway, forged, 'signature');
    const [header, , signature] = idp.sign(CLAIMS).split('.');
    await refused(
      gateway,
      `${header}.${base64url({ ...CLAIMS, sub: 'root', iss: idp.issuer, exp })}.${signature}`,
      'signature',
    );
    await refused(gateway, `${idp.sign(CLAIMS).split('.').slice(0, 2).join('.')}.`, /./);
  });

  proves('choice.oidc.algorithms', 'without a signature is refused, however "none" is written', async () => {
    await using pair = await both();
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'ES256,none']) {
      for (const signature of ['', 'AAAA']) {
        const token = tokenWith(pair.idp, { alg }, CLAIMS, signature);
        const reply = await pair.gateway.ask(`Bearer ${token}`);
        expect([alg, reply.status]).toEqual([alg, 401]);
      }
    }
  });

  proves(
    'choice.oidc.algorithms',
    'that takes a public key for a shared secret is refused (key confusion)',
    async () => {
      await using pair = await both('RS256');
      const { kid, key } = keyOf(pair.idp, 'RS256');
      const secrets = [
        key.export({ type: 'spki', format: 'pem' }),
        key.export({ type: 'spki', format: 'der' }),
        key.export({ type: 'pkcs1', format: 'pem' }),
        JSON.stringify(key.export({ format: 'jwk' })),
        String(key.export({ format: 'jwk' }).n),
        '',
      ];
      for (const alg of ['HS256', 'HS384', 'HS512'] as const) {
        for (const secret of secrets) {
          const text = tokenWith(pair.idp, { alg, kid }, CLAIMS, '').slice(0, -1);
          const signature = createHmac(`sha${alg.slice(2)}`, secret)
            .update(text)
            .digest('base64url');
          await refused(pair.gateway, `${text}.${signature}`, 'signed in a way that is not accepted');
        }
      }
    },
  );

  proves(
    'choice.oidc.algorithms',
    'that contains its own key, or the URL of a key, is refused without a request to that URL',
    async () => {
      await using pair = await both();
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'mine', alg: 'ES256', use: 'sig' };
      await using thief = await loopbackServer((_request, response) => response.end(JSON.stringify({ keys: [jwk] })));
      const claims = { ...CLAIMS, iss: pair.idp.issuer, exp: Math.floor(Date.now() / 1000) + 60 };
      const { kid } = keyOf(pair.idp, 'ES256');
      for (const header of [
        { jwk, kid },
        { jwk },
        { jku: thief.url, kid: 'mine' },
        { x5u: thief.url, kid },
        { x5c: ['MIIB'], kid },
      ]) {
        await refused(pair.gateway, signedJwt({ alg: 'ES256', ...header }, claims, privateKey), 'signature');
      }
      expect(thief.seen).toEqual([]);
    },
  );

  it('with a kid that is a path, a query, a prototype or no text is refused', async () => {
    await using pair = await both();
    const kids = [
      '../../../../dev/null',
      '/proc/self/environ',
      "' OR '1'='1",
      '__proto__',
      'constructor',
      '',
      7,
      null,
      [],
      {},
    ];
    for (const kid of kids) {
      const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const claims = { ...CLAIMS, iss: pair.idp.issuer, exp: Math.floor(Date.now() / 1000) + 60 };
      const token = signedJwt({ alg: 'ES256', kid }, claims, stranger.privateKey);
      expect([kid, (await pair.gateway.ask(`Bearer ${token}`)).status]).toEqual([kid, 401]);
    }
    expect({}).not.toHaveProperty('kty');
  });

  proves(
    'choice.oidc.rotation',
    'by the hundred does not make the gateway ask the provider by the hundred',
    async () => {
      await using pair = await both();
      const tokens = Array.from({ length: 200 }, (_, index) => pair.idp.sign(CLAIMS, { kid: `unknown-${index}` }));
      pair.gateway.clock.aheadMs = 11_000;
      const statuses = await Promise.all(tokens.map((token) => pair.gateway.status(token)));
      expect(new Set(statuses)).toEqual(new Set([401]));
      expect(pair.idp.seen.filter((each) => each === 'GET /jwks')).toHaveLength(2);
    },
  );

  it('with critical extensions or detached payload is refused', async () => {
    await using pair = await both();
    await refused(pair.gateway, pair.idp.sign(CLAIMS, { crit: ['x-own'], 'x-own': true }), 'signature');
    await refused(pair.gateway, pair.idp.sign(CLAIMS, { b64: false, crit: ['b64'] }), 'signature');
  });
});

describe('a valid signature is not enough', () => {
  it('for a token of another issuer, audience, time or kind', async () => {
    await using pair = await both();
    const { idp, gateway } = pair;
    const now = Math.floor(Date.now() / 1000);
    const cases: readonly [object, RegExp | string, object?][] = [
      [{ ...CLAIMS, iss: 'https://evil.example' }, 'another issuer'],
      [{ ...CLAIMS, iss: `${idp.issuer}.evil.example` }, 'another issuer'],
      [{ ...CLAIMS, iss: undefined }, /issuer|claim/],
      [{ ...CLAIMS, iss: [idp.issuer] }, /issuer|claim/],
      [{ ...CLAIMS, aud: 'https://other.example/mcp' }, 'another audience'],
      [{ ...CLAIMS, aud: `${AUDIENCE}/` }, 'another audience'],
      [{ ...CLAIMS, aud: [] }, 'another audience'],
      [{ sub: 'ada' }, /another audience|claim/],
      [{ ...CLAIMS, exp: now - 3600 }, 'expired'],
      [{ ...CLAIMS, exp: undefined }, 'claim'],
      [{ ...CLAIMS, exp: 'never' }, 'claim'],
      [{ ...CLAIMS, nbf: now + 3600 }, 'not valid yet'],
      [{ ...CLAIMS, sub: undefined }, 'claim'],
      [{ ...CLAIMS, sub: '' }, 'claim'],
      [{ ...CLAIMS, sub: 42 }, /claim|signature/],
      [{ ...CLAIMS, sub: 'ada\0admin' }, 'claim'],
      [{ ...CLAIMS, sub: 'a\r\nb' }, 'claim'],
      [{ ...CLAIMS, sub: 'a'.repeat(2000) }, 'claim'],
      [CLAIMS, 'not an access token', { typ: 'logout+jwt' }],
      [CLAIMS, 'not an access token', { typ: 'dpop+jwt' }],
      [CLAIMS, 'not an access token', { typ: ['JWT', 'x'] }],
    ];
    for (const [claims, words, header] of cases) await refused(gateway, idp.sign({ ...claims }, { ...header }), words);
    expect(await gateway.status(idp.sign({ ...CLAIMS, aud: ['https://a.example', AUDIENCE] }))).toBe(200);
  });

  proves('choice.oidc.client-subject', 'to be the user whose name a client has', async () => {
    await using pair = await both();
    const { idp, gateway } = pair;
    const unnamed = { ...CLAIMS, sub: undefined };
    expect(await gateway.status(idp.sign({ ...unnamed, sub: 'ada' }))).toBe(200);
    expect(await gateway.status(idp.sign({ ...unnamed, client_id: 'ada' }))).toBe(200);
    const [user, client] = gateway.calls.slice(-2).map(({ caller }) => caller);
    expect([user?.subject, client?.subject]).toEqual(['ada', 'client_id:ada']);
    expect(client?.key).not.toBe(user?.key);
    await refused(gateway, idp.sign({ ...unnamed, sub: 'client_id:ada' }), 'claim');
    await refused(gateway, idp.sign({ ...unnamed, sub: null, client_id: 'ada' }), 'claim');
    for (const client_id of ['', 7, 'a\0b', 'a'.repeat(2000)]) {
      await refused(gateway, idp.sign({ ...unnamed, client_id }), 'claim');
    }
  });

  proves('choice.oidc.bound-tokens', 'for a token that its sender has to prove a key for', async () => {
    await using pair = await both();
    for (const cnf of [{ jkt: 'abc' }, { 'x5t#S256': 'abc' }, {}]) {
      await refused(pair.gateway, pair.idp.sign({ ...CLAIMS, cnf }), 'bound to a key');
    }
  });

  proves('choice.oidc.cache', 'and a refusal is forgotten: the same token may be good later', async () => {
    await using pair = await both();
    const token = pair.idp.sign({ ...CLAIMS, nbf: Math.floor(Date.now() / 1000) + 100 });
    expect(await pair.gateway.status(token)).toBe(401);
    pair.gateway.clock.aheadMs = 100_000;
    expect(await pair.gateway.status(token)).toBe(200);
  });

  proves('choice.oidc.cache', 'and bad tokens push no good one out', async () => {
    await using pair = await both();
    const good = pair.idp.sign(CLAIMS);
    expect(await pair.gateway.status(good)).toBe(200);
    const bad = Array.from({ length: 300 }, (_, index) => pair.idp.sign({ ...CLAIMS, aud: `other-${index}` }));
    await Promise.all(bad.map((token) => pair.gateway.status(token)));
    await pair.idp.pause();
    pair.gateway.clock.aheadMs = 25 * 3_600_000; // all keys are too old, and the provider gives no new ones
    expect(await pair.gateway.status(pair.idp.sign({ ...CLAIMS, exp: Date.now() / 1000 + 1e6 }))).toBe(503);
    pair.gateway.clock.aheadMs = 0;
    expect(await pair.gateway.status(good)).toBe(200);
  });
});

describe('an Authorization header that is no bearer token', () => {
  proves('choice.oidc.size', 'that is too large is refused before it is decoded', async () => {
    await using pair = await both();
    await refused(pair.gateway, pair.idp.sign({ ...CLAIMS, ballast: 'x'.repeat(13_000) }), 'too long');
    await refused(pair.gateway, 'a'.repeat(500_000), 'too long');
  });

  it('is refused, and a token outside the header is ignored', async () => {
    await using pair = await both();
    const token = pair.idp.sign(CLAIMS);
    for (const odd of [
      'Bearer',
      'Bearer ',
      `Bearer ${token} ${token}`,
      `Bearer ${token},x`,
      'Bearer é',
      `Bearer "${token}"`,
    ]) {
      const reply = await pair.gateway.ask(odd);
      expect([odd, reply.status]).toEqual([odd, 401]);
      expect(reply.headers.get('www-authenticate')).toContain('error="invalid_request"');
    }
    for (const other of ['Basic YWRhOmE=', token, `DPoP ${token}`, `Bearertoken ${token}`]) {
      const reply = await pair.gateway.ask(other);
      expect([other, reply.status]).toEqual([other, 401]);
      expect(reply.headers.get('www-authenticate')).not.toContain('error');
    }
    const byQuery = await fetch(`${pair.gateway.url}?access_token=${token}`, { method: 'POST', body: '{}' });
    expect(byQuery.status).toBe(401);
  });
});
