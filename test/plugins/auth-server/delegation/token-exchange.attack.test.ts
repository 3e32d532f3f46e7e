import { createHmac, createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import type { JsonObject } from '@toolmgr/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { authServerRig, claimsOf, headerOf, type IssuedTokens } from '../../../support/auth-server-rig.ts';
import { base64url, signedJwt } from '../../../support/identity-provider.ts';
import { proves } from '../../../support/proves.ts';
import { ACCESS_TOKEN, type DelegationRig, delegationRig, EXCHANGE, ID_TOKEN, SECRET } from './delegating.ts';

const GENERIC = { error: 'invalid_request', error_description: 'the subject token is not accepted' };
let made: DelegationRig;
let person: IssuedTokens;

beforeAll(async () => {
  made = await delegationRig({
    issuer: () => ({ allowedActors: ['crm'] }),
    clients: ({ audience, clientSecretRef }) => [
      { clientId: 'agent', clientSecretRef, scopes: ['openid', 'tools'], audiences: [audience] },
      { clientId: 'second', clientSecretRef },
    ],
  });
  person = await made.rig.tokens();
});
afterAll(() => made[Symbol.asyncDispose]());

/** A token of the trusted issuer for its client `crm`. */
const ofOther = (claims: JsonObject = {}, header: JsonObject = {}): string =>
  made.other.sign({ sub: 'ada', aud: made.rig.audience, client_id: 'crm', ...claims }, header);

/** `depth` actors. */
const chainOf = (depth: number): JsonObject =>
  Array.from({ length: depth }).reduce<JsonObject>((act, _, n) => ({ sub: `a${n}`, ...(n === 0 ? {} : { act }) }), {});

describe('forged subject tokens', () => {
  proves(
    'choice.delegation.forged',
    'are refused with every kind of signature that is not of this server',
    async () => {
      const { rig, exchange } = made;
      const [head = '', payload = '', signature = ''] = person.access.split('.');
      const { keys } = (await (await fetch(`${rig.issuer}/.well-known/jwks.json`)).json()) as { keys: JsonWebKey[] };
      const { kid } = headerOf(person.access);
      const publicPem = createPublicKey({ key: keys[0] as JsonWebKey, format: 'jwk' }).export({
        type: 'spki',
        format: 'pem',
      });
      const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const ownKey = { typ: 'at+jwt', alg: 'ES256', jwk: privateKey.export({ format: 'jwk' }) as JsonObject };
      const hmac = (text: string) => `${text}.${createHmac('sha256', publicPem).update(text).digest('base64url')}`;
      const forged = [
        `${base64url({ typ: 'at+jwt', alg: 'none' })}.${payload}.`,
        `${base64url({ typ: 'at+jwt', alg: 'none' })}.${payload}.${signature}`,
        hmac(`${base64url({ typ: 'at+jwt', alg: 'HS256', kid })}.${payload}`),
        signedJwt({ typ: 'at+jwt', alg: 'ES256', kid }, claimsOf(person.access), privateKey),
        signedJwt({ ...ownKey }, claimsOf(person.access), privateKey),
        `${head}.${base64url({ ...claimsOf(person.access), sub: 'eve' })}.${signature}`,
        `${head}.${payload}.${'A'.repeat(signature.length)}`,
        `${head}.${payload}.`,
        `${head}.${payload}`,
        'x',
        '..',
        '',
      ];
      for (const subject_token of forged) {
        const { status, body } = await exchange({ subject_token });
        expect([status, body.error], subject_token).toEqual([400, 'invalid_request']);
      }
    },
  );

  it('are refused from another gateway and from an issuer that is not trusted', async () => {
    await using foreign = await authServerRig();
    const { access } = await foreign.tokens();
    const { body } = await made.exchange({ subject_token: access });
    expect(body).toEqual(GENERIC);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const evil = signedJwt(
      { typ: 'at+jwt', alg: 'ES256' },
      { ...person.claims, iss: 'https://evil.example' },
      privateKey,
    );
    expect((await made.exchange({ subject_token: evil })).body).toEqual(GENERIC);
  });

  it('are refused when they name this server as issuer but are signed by a trusted one', async () => {
    const token = ofOther({ iss: made.rig.issuer });
    expect((await made.exchange({ subject_token: token })).body).toEqual(GENERIC);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['another audience', { aud: 'https://other.example/mcp' }, {}],
    ['no audience', { aud: undefined as never }, {}],
    ['no subject', { sub: undefined as never }, {}],
    ['an empty subject', { sub: '' }, {}],
    ['a time in the past', { exp: Math.floor(Date.now() / 1000) - 1 }, {}],
    ['no end', { exp: undefined as never }, {}],
    ['a beginning in the future', { nbf: Math.floor(Date.now() / 1000) + 60 }, {}],
    ['the hash of an access token (an ID token)', { at_hash: 'x' }, {}],
    ['the hash of a code (an ID token)', { c_hash: 'x' }, {}],
    ['a nonce (an ID token)', { nonce: 'x' }, {}],
    ['a key that it is bound to', { cnf: { jkt: 'x' } }, {}],
    ['the type of a logout token', {}, { typ: 'logout+jwt' }],
    ['the type of an ID-JAG', {}, { typ: 'oauth-id-jag+jwt' }],
  ])('are refused with %s', async (_what, claims, header) => {
    expect((await made.exchange({ subject_token: ofOther() })).status).toBe(200);
    expect((await made.exchange({ subject_token: ofOther(claims, header) })).body).toEqual(GENERIC);
  });

  proves(
    'choice.delegation.session',
    'are refused after their session was revoked, and so are tokens that were made of them',
    async () => {
      const { rig, exchange } = made;
      const { access, refresh, clientId } = await rig.tokens();
      const first = (await exchange({ subject_token: access })).body.access_token ?? '';
      const second = (await exchange({ subject_token: first }, 'second')).body.access_token ?? '';
      expect(await rig.server.issuer.isWithdrawn(claimsOf(second))).toBe(false);
      await rig.post('/oauth/revoke', { token: refresh, client_id: clientId });
      for (const subject_token of [access, first, second]) {
        expect((await exchange({ subject_token })).body).toEqual(GENERIC);
        expect(await rig.server.issuer.isWithdrawn(claimsOf(subject_token))).toBe(true);
      }
    },
  );

  it('are refused as ID tokens and refresh tokens', async () => {
    const { exchange } = made;
    const subject_token = person.access;
    for (const type of [
      ID_TOKEN,
      'urn:ietf:params:oauth:token-type:refresh_token',
      'urn:ietf:params:oauth:token-type:saml2',
    ]) {
      expect((await exchange({ subject_token, subject_token_type: type })).body.error).toBe('invalid_request');
    }
    expect((await exchange({ subject_token, requested_token_type: ID_TOKEN })).body.error).toBe('invalid_request');
    expect((await exchange({ subject_token: person.refresh })).body).toEqual(GENERIC);
  });
});

describe('chains of actors', () => {
  proves('choice.delegation.depth', 'end at ten actors', async () => {
    const { exchange } = made;
    let token = person.access;
    for (let n = 0; n < 10; n++) {
      const { status, body } = await exchange({ subject_token: token }, n % 2 === 0 ? 'agent' : 'second');
      expect(status).toBe(200);
      token = body.access_token ?? '';
    }
    const { status, body } = await exchange({ subject_token: token });
    expect([status, body.error]).toEqual([400, 'invalid_request']);
  });

  it.each<[string, number, unknown]>([
    ['eight actors and the two of the exchange', 200, chainOf(8)],
    ['nine actors and the two of the exchange', 400, chainOf(9)],
    ['eleven actors', 400, chainOf(11)],
    ['two hundred actors', 400, chainOf(200)],
    ['more than 8 KiB', 400, { sub: 'x'.repeat(8_192) }],
    ['a text', 400, 'agent'],
    ['a list', 400, [{ sub: 'a' }]],
    ['null', 400, null],
    ['no subject', 400, { iss: 'https://a.example' }],
    ['a subject that is a number', 400, { sub: 7 }],
    ['an issuer that is a list', 400, { sub: 'a', iss: ['https://a.example'] }],
    ['a malformed inner actor', 400, { sub: 'a', act: { sub: 'b', act: 'c' } }],
  ])('with %s are answered with %i', async (_what, status, act) => {
    const answer = await made.exchange({ subject_token: ofOther({ act: act as never }) });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body.error).toBe('invalid_request');
  });
});

describe('what a delegate may not get', () => {
  it('scopes that the client or the person lacks', async () => {
    const { exchange } = made;
    for (const scope of ['email', 'openid tools', 'admin']) {
      expect((await exchange({ subject_token: person.access, scope })).body.error).toBe('invalid_scope');
    }
    expect((await exchange({ subject_token: person.access, scope: 'openid' }, 'second')).body.error).toBe(
      'invalid_scope',
    );
  });

  it('another resource, or two', async () => {
    const { rig, exchange } = made;
    const subject_token = person.access;
    for (const resource of ['https://other.example/mcp', `${rig.audience}/`, rig.audience.toUpperCase()]) {
      expect((await exchange({ subject_token, resource })).body.error, resource).toBe('invalid_target');
    }
    const twice = await exchange({ subject_token, resource: rig.audience, audience: 'https://other.example/mcp' });
    expect(twice.body.error).toBe('invalid_target');
  });

  proves('choice.delegation.resource', 'a resource that the token was not issued for', async () => {
    const further = 'https://further.example/mcp';
    await using two = await delegationRig({
      config: { allowedAudiences: ['https://first.example/mcp', further], trustedIssuers: [] },
    });
    const { rig, exchange } = two;
    const id = await rig.register();
    const attempt = rig.begin(id, { resource: further });
    const code = (await attempt.finish()).get('code') ?? '';
    const subject_token = (await attempt.exchange(code)).body.access_token ?? '';
    expect(claimsOf(subject_token).aud).toBe(further);
    expect((await exchange({ subject_token, resource: 'https://first.example/mcp' })).body.error).toBe(
      'invalid_target',
    );
    expect(claimsOf((await exchange({ subject_token })).body.access_token ?? '').aud).toBe(further);
  });

  it('a token without a secret, with a wrong one or with that of a public client', async () => {
    const { rig, exchange } = made;
    const form = { grant_type: EXCHANGE, subject_token: person.access, subject_token_type: ACCESS_TOKEN };
    expect((await rig.token(form)).status).toBe(400);
    expect((await rig.token({ ...form, client_id: 'agent' })).status).toBe(401);
    expect((await exchange(form, 'agent', 'wrong')).status).toBe(401);
    expect((await rig.token({ ...form, client_id: person.clientId })).body.error).toBe('invalid_request');
    const code = { grant_type: 'authorization_code', code: 'x', redirect_uri: 'https://a.example', code_verifier: 'x' };
    expect((await exchange({ ...code })).status).toBe(400);
  });

  it('a code: a delegate has no redirects', async () => {
    const { browser, url } = made.rig.begin('agent');
    const answer = await browser.get(url);
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  proves('choice.delegation.listed', 'the subject of a trusted issuer that does not list it', async () => {
    expect((await made.exchange({ subject_token: ofOther() }, 'second')).body.error).toBe('invalid_grant');
    expect((await made.exchange({ subject_token: ofOther({ client_id: 'other-app' }) })).body.error).toBe(
      'invalid_grant',
    );
    const stranger = ofOther({ client_id: 'other-app', may_act: { sub: 'agent' } }); // not allowed to say so
    expect((await made.exchange({ subject_token: stranger })).body.error).toBe('invalid_grant');
  });

  it('the name of another actor', async () => {
    const { rig, exchange } = made;
    const subject_token = person.access;
    const delegated = (await exchange({ subject_token }, 'second')).body.access_token ?? '';
    const own = (await exchange({ subject_token })).body.access_token ?? '';
    const actor_token_type = ACCESS_TOKEN;
    const attempts: Readonly<Record<string, string>>[] = [
      { actor_token: delegated, actor_token_type }, // of another client
      { actor_token: own, actor_token_type }, // acts for a person itself
      { actor_token: person.access, actor_token_type }, // of a person's client
      { actor_token: ofOther({ client_id: 'agent' }), actor_token_type }, // of another issuer
      { actor_token: own },
      { actor_token_type },
      { actor_token: own, actor_token_type: ID_TOKEN },
    ];
    for (const attempt of attempts) {
      expect((await exchange({ subject_token, ...attempt })).body.error).toBe('invalid_request');
    }
    expect(rig.http.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('any secret or token in the log', async () => {
    const text = JSON.stringify(made.rig.http.logged);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(person.access.slice(-40));
  });
});
