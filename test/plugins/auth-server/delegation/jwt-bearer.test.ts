import type { JsonObject } from '@toolmgr/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { claimsOf } from '../../../support/auth-server-rig.ts';
import { proves } from '../../../support/proves.ts';
import { type DelegationRig, delegationRig, EXCHANGE, JWT_BEARER, SECRET } from './delegating.ts';

const REFUSED = { error: 'invalid_grant', error_description: 'the assertion is not accepted' };
/** Order of the group of P-256, to change a signature into another valid one. */
const ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
let made: DelegationRig;

beforeAll(async () => {
  made = await delegationRig({
    issuer: ({ audience }) => ({
      expectedAudience: audience,
      jwtBearer: {
        maxAssertionAge: '10m',
        subjectBindings: [{ subject: 'robot', resources: [audience], scopes: ['tools'] }],
      },
    }),
  });
});
afterAll(() => made[Symbol.asyncDispose]());

const nowS = (): number => Math.floor(Date.now() / 1000);

/** An assertion that is accepted, with changes. */
function assertionOf(claims: JsonObject = {}, header: JsonObject = {}): string {
  const { rig, other } = made;
  return other.sign(
    { sub: 'robot', aud: `${rig.issuer}/oauth/token`, exp: nowS() + 300, ...claims },
    { typ: 'JWT', ...header },
  );
}

const send = (assertion: string, more: Readonly<Record<string, string>> = {}, headers?: Record<string, string>) =>
  made.rig.token({ grant_type: JWT_BEARER, assertion, resource: made.rig.audience, ...more }, headers);

describe('JWT bearer (RFC 7523)', () => {
  it('gives a listed subject a token without a client', async () => {
    const { status, body, headers } = await send(assertionOf(), { scope: 'tools' });
    expect({ status, body }).toMatchObject({ status: 200, body: { token_type: 'Bearer', scope: 'tools' } });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).not.toHaveProperty('refresh_token');
    const claims = claimsOf(body.access_token ?? '');
    expect(claims).toMatchObject({
      iss: made.rig.issuer,
      sub: `${made.other.issuer}#robot`,
      aud: made.rig.audience,
      scp: ['tools'],
    });
    expect(claims.client_id).toMatch(/^jwt-bearer-[0-9a-f]{32}$/);
    expect(claims).not.toHaveProperty('tsid');
    expect(Number(claims.exp) - Number(claims.iat)).toBeLessThanOrEqual(300);
    const again = await send(assertionOf());
    expect(claimsOf(again.body.access_token ?? '').client_id).toBe(claims.client_id);
    expect(again.body.scope).toBe('');
  });

  it('issues a token that a delegate may exchange', async () => {
    const { body } = await send(assertionOf());
    const exchanged = await made.exchange({ subject_token: body.access_token ?? '' });
    expect(claimsOf(exchanged.body.access_token ?? '')).toMatchObject({
      sub: `${made.other.issuer}#robot`,
      act: { sub: 'agent' },
    });
  });

  it('lives no longer than the access tokens of this server', async () => {
    await using short = await delegationRig({
      config: { tokenLifespans: { accessTokenLifespan: '1m' } },
      issuer: ({ audience }) => ({ jwtBearer: { subjectBindings: [{ subject: 'robot', resources: [audience] }] } }),
    });
    const { rig, other } = short;
    const assertion = other.sign({ sub: 'robot', aud: `${rig.issuer}/oauth/token`, exp: nowS() + 300 });
    const { body } = await rig.token({ grant_type: JWT_BEARER, assertion, resource: rig.audience });
    expect(Number(body.expires_in)).toBe(60);
  });

  it('accepts other audiences than the token endpoint when they are configured', async () => {
    await using made2 = await delegationRig({
      issuer: ({ audience }) => ({
        jwtBearer: {
          acceptedAudiences: ['api://gateway'],
          subjectBindings: [{ subject: 'robot', resources: [audience] }],
        },
      }),
    });
    const { rig, other } = made2;
    const ask = (aud: string) =>
      rig.token({
        grant_type: JWT_BEARER,
        assertion: other.sign({ sub: 'robot', aud, exp: nowS() + 60 }),
        resource: rig.audience,
      });
    expect((await ask('api://gateway')).status).toBe(200);
    expect((await ask(`${rig.issuer}/oauth/token`)).body).toEqual(REFUSED);
  });

  it.each<[string, JsonObject, JsonObject]>([
    ['another subject', { sub: 'eve' }, {}],
    ['another audience', { aud: 'https://other.example/token' }, {}],
    ['the resource as audience', { aud: 'http://127.0.0.1/mcp' }, {}],
    ['another issuer', { iss: 'https://evil.example' }, {}],
    ['an end in the past', { exp: 1 }, {}],
    ['a long life', { exp: Math.floor(Date.now() / 1000) + 3600 }, {}],
    ['no beginning', { iat: undefined as never }, {}],
    [
      'a beginning in the future',
      { iat: Math.floor(Date.now() / 1000) + 3000, exp: Math.floor(Date.now() / 1000) + 3300 },
      {},
    ],
    ['an actor', { act: { sub: 'x' } }, {}],
    ['claims of an ID token', { at_hash: 'x' }, {}],
    ['the type of an ID-JAG', {}, { typ: 'oauth-id-jag+jwt' }],
    ['the type of an ID-JAG in another form', {}, { typ: 'application/OAuth-ID-JAG+jwt' }],
    ['no algorithm', {}, { alg: 'none' }],
    ['an unknown key', {}, { kid: 'unknown' }],
  ])('refuses an assertion with %s', async (_what, claims, header) => {
    const { status, body } = await send(assertionOf(claims, header));
    expect([status, body]).toEqual([400, REFUSED]);
  });

  it('wants one listed resource and listed scopes', async () => {
    expect((await send(assertionOf(), { resource: 'https://other.example/mcp' })).body.error).toBe('invalid_target');
    const two = `grant_type=${JWT_BEARER}&assertion=${assertionOf()}&resource=${made.rig.audience}&resource=https://b.example`;
    const init = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: two };
    expect(await (await fetch(`${made.rig.issuer}/oauth/token`, init)).json()).toMatchObject({
      error: 'invalid_target',
    });
    expect((await send(assertionOf(), { scope: 'tools admin' })).body.error).toBe('invalid_scope');
    const none = { grant_type: JWT_BEARER, assertion: assertionOf() };
    expect((await made.rig.token(none)).body.error).toBe('invalid_target');
  });

  it('wants one assertion', async () => {
    const twice = `grant_type=${JWT_BEARER}&assertion=${assertionOf()}&assertion=${assertionOf()}&resource=${made.rig.audience}`;
    const init = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: twice };
    expect(await (await fetch(`${made.rig.issuer}/oauth/token`, init)).json()).toMatchObject({
      error: 'invalid_request',
    });
  });

  it('is refused for a client', async () => {
    const authorization = `Basic ${Buffer.from(`agent:${SECRET}`).toString('base64')}`;
    expect((await send(assertionOf(), {}, { authorization })).status).toBe(400);
    expect((await send(assertionOf(), { client_id: 'agent', client_secret: SECRET })).status).toBe(400);
  });

  it('is not there unless an issuer enables it', async () => {
    await using off = await delegationRig();
    const assertion = off.other.sign({ sub: 'robot', aud: `${off.rig.issuer}/oauth/token`, exp: nowS() + 60 });
    const answer = await off.rig.token({ grant_type: JWT_BEARER, assertion, resource: off.rig.audience });
    expect(answer.status).toBe(400);
    const metadata = await (await fetch(`${off.rig.issuer}/.well-known/oauth-authorization-server`)).json();
    expect((metadata as { grant_types_supported: string[] }).grant_types_supported).toEqual([
      'authorization_code',
      'refresh_token',
      EXCHANGE,
    ]);
  });
});

describe('replayed assertions', () => {
  proves('choice.delegation.replay', 'are exchanged once, also in parallel', async () => {
    const assertion = assertionOf();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(assertion)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.find(({ status }) => status !== 200)?.body).toEqual(REFUSED);
  });

  it('are known by their jti, whatever else they say', async () => {
    expect((await send(assertionOf({ jti: 'once' }))).status).toBe(200);
    expect((await send(assertionOf({ jti: 'once', exp: nowS() + 100 }))).body).toEqual(REFUSED);
  });

  proves('choice.delegation.replay', 'are known without jti, also with another valid signature', async () => {
    const assertion = assertionOf({ jti: undefined as never });
    const [head = '', payload = '', signature = ''] = assertion.split('.');
    const bytes = Buffer.from(signature, 'base64url');
    const other = (ORDER - BigInt(`0x${bytes.subarray(32).toString('hex')}`)).toString(16).padStart(64, '0');
    const changed = Buffer.concat([bytes.subarray(0, 32), Buffer.from(other, 'hex')]).toString('base64url');
    expect((await send(assertion)).status).toBe(200);
    expect((await send(`${head}.${payload}.${changed}`)).body).toEqual(REFUSED);
  });

  it('are not consumed by a refused request', async () => {
    const assertion = assertionOf();
    expect((await send(assertion, { resource: 'https://other.example/mcp' })).status).toBe(400);
    expect((await send(assertion)).status).toBe(200);
  });
});

describe('the keys of a trusted issuer', () => {
  it('are renewed when it rotates, and cached while it is away', async () => {
    await using fresh = await delegationRig({
      issuer: ({ audience }) => ({ jwtBearer: { subjectBindings: [{ subject: 'robot', resources: [audience] }] } }),
    });
    const { rig, other } = fresh;
    const ask = () =>
      rig.token({
        grant_type: JWT_BEARER,
        assertion: other.sign({
          sub: 'robot',
          aud: `${rig.issuer}/oauth/token`,
          exp: nowS() + 60 + rig.http.clock.aheadMs / 1000,
        }),
        resource: rig.audience,
      });
    await other.pause();
    expect((await ask()).body).toEqual({
      error: 'invalid_grant',
      error_description: 'the keys of the issuer are not available',
    });
    const asked = other.seen.length;
    await other.resume();
    await ask(); // within the pause after the failure
    expect(other.seen.length).toBe(asked);
    rig.http.clock.aheadMs += 31_000;
    expect((await ask()).status).toBe(200);
    other.rotate();
    rig.http.clock.aheadMs += 11_000;
    expect((await ask()).status).toBe(200);
    await other.pause();
    expect((await ask()).status).toBe(200);
    expect(rig.http.logged).toContainEqual(
      expect.objectContaining({ level: 'warn', message: 'the keys of a trusted issuer cannot be fetched' }),
    );
  });
});
