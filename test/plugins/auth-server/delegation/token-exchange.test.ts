import { describe, expect, it } from 'vitest';
import { claimsOf, headerOf } from '../../../support/auth-server-rig.ts';
import { proves } from '../../../support/proves.ts';
import { ACCESS_TOKEN, delegationRig, EXCHANGE, JWT_BEARER, JWT_TYPE, SECRET } from './delegating.ts';

describe('token exchange (RFC 8693)', () => {
  proves('choice.delegation.act', 'gives a configured client a token with which it acts for a person', async () => {
    await using made = await delegationRig();
    const { rig, exchange } = made;
    const person = await rig.tokens();
    const { status, body, headers } = await exchange({ subject_token: person.access, scope: 'openid' });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { issued_token_type: ACCESS_TOKEN, token_type: 'Bearer', scope: 'openid' },
    });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).not.toHaveProperty('refresh_token');
    const claims = claimsOf(body.access_token ?? '');
    expect(claims).toMatchObject({
      iss: rig.issuer,
      sub: person.claims.sub,
      aud: rig.audience,
      client_id: 'agent',
      scope: 'openid',
      scp: ['openid'],
      name: 'Ada',
      email: 'ada@example.com',
      act: { iss: rig.issuer, sub: 'agent' },
    });
    expect(claims).not.toHaveProperty('tsid');
    expect(claims.jti).not.toBe(person.claims.jti);
    expect(Number(claims.exp) - Number(claims.iat)).toBe(900);
    expect(headerOf(body.access_token ?? '')).toMatchObject({ typ: 'at+jwt', alg: 'ES256' });
  });

  it('grants no scope without a request, and accepts the secret in the form', async () => {
    await using made = await delegationRig();
    const { rig } = made;
    const { access } = await rig.tokens();
    const { body } = await rig.token({
      grant_type: EXCHANGE,
      client_id: 'agent',
      client_secret: SECRET,
      subject_token: access,
      subject_token_type: JWT_TYPE,
      requested_token_type: ACCESS_TOKEN,
      audience: rig.audience,
    });
    expect(body.scope).toBe('');
    expect(claimsOf(body.access_token ?? '')).not.toHaveProperty('scope');
  });

  it('puts every actor into the chain, outermost first', async () => {
    await using made = await delegationRig();
    const { rig, exchange } = made;
    const { access } = await rig.tokens();
    const first = await exchange({ subject_token: access });
    const second = await exchange({ subject_token: first.body.access_token ?? '' }, 'second');
    expect(claimsOf(second.body.access_token ?? '').act).toEqual({
      iss: rig.issuer,
      sub: 'second',
      act: { iss: rig.issuer, sub: 'agent' },
    });
  });

  it('lives no longer than the subject token', async () => {
    await using made = await delegationRig({ config: { delegationTokenLifespan: '24h' } });
    const { rig, exchange } = made;
    const { access, claims } = await rig.tokens();
    const { body } = await exchange({ subject_token: access });
    expect(Number(claimsOf(body.access_token ?? '').exp)).toBeLessThanOrEqual(Number(claims.exp));
  });

  it('takes the subject of a trusted issuer, with both actors in the chain', async () => {
    await using made = await delegationRig({ issuer: () => ({ allowedActors: ['crm'] }) });
    const { rig, other, exchange } = made;
    const subject = other.sign({ sub: 'ada', aud: rig.audience, client_id: 'crm', scope: 'tools', name: 'Someone' });
    const { body } = await exchange({ subject_token: subject, scope: 'tools' });
    const claims = claimsOf(body.access_token ?? '');
    expect(claims).toMatchObject({
      sub: `${other.issuer}#ada`,
      client_id: 'agent',
      scope: 'tools',
      act: { iss: rig.issuer, sub: 'agent', act: { iss: other.issuer, sub: 'crm' } },
    });
    expect(claims).not.toHaveProperty('name');
  });

  it('asks a CEL expression about the claims of a trusted issuer', async () => {
    const actorMatcher = 'claims.azp == "crm" && "admins" in claims.groups';
    await using made = await delegationRig({ issuer: () => ({ actorMatcher }) });
    const { rig, other, exchange } = made;
    const token = (groups: string[]) => other.sign({ sub: 'ada', aud: rig.audience, azp: 'crm', groups });
    expect((await exchange({ subject_token: token(['admins']) })).status).toBe(200);
    expect((await exchange({ subject_token: token(['staff']) })).body.error).toBe('invalid_grant');
  });

  it('follows may_act of a trusted issuer that may say so', async () => {
    await using made = await delegationRig({ issuer: () => ({ allowMayAct: true }) });
    const { rig, other, exchange } = made;
    const token = (sub: string) => other.sign({ sub: 'ada', aud: rig.audience, may_act: { sub } });
    expect((await exchange({ subject_token: token('agent') })).status).toBe(200);
    expect((await exchange({ subject_token: token('second') })).body.error).toBe('invalid_grant');
  });

  it('takes an expected audience that is no resource for the whole server', async () => {
    const changes = { expectedAudience: 'api://gateway', allowedActors: ['crm'] };
    await using made = await delegationRig({ issuer: () => changes });
    const { rig, other, exchange } = made;
    const { body } = await exchange({ subject_token: other.sign({ sub: 'ada', aud: 'api://gateway', azp: 'crm' }) });
    expect(claimsOf(body.access_token ?? '').aud).toBe(rig.audience);
  });

  proves(
    'choice.delegation.own-tokens',
    'lets a client that registered with a secret exchange its own tokens only',
    async () => {
      await using made = await delegationRig({ config: { confidentialClients: true } });
      const { rig } = made;
      const redirect = 'https://app.example/cb';
      const answer = await fetch(`${rig.http.origin}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          redirect_uris: [redirect],
          token_endpoint_auth_method: 'client_secret_post',
          grant_types: ['authorization_code', 'refresh_token', EXCHANGE],
        }),
      });
      const { client_id: id = '', client_secret: secret = '' } = (await answer.json()) as Record<string, string>;
      const attempt = rig.begin(id, { redirect_uri: redirect });
      const code = (await attempt.finish()).get('code') ?? '';
      const own = await attempt.exchange(code, { redirect_uri: redirect, client_secret: secret });
      const exchange = (token: string) =>
        rig.token({
          grant_type: EXCHANGE,
          client_id: id,
          client_secret: secret,
          subject_token: token,
          subject_token_type: ACCESS_TOKEN,
        });
      const { body } = await exchange(own.body.access_token ?? '');
      expect(claimsOf(body.access_token ?? '').act).toEqual({ iss: rig.issuer, sub: id });
      const foreign = await rig.tokens();
      expect((await exchange(foreign.access)).body.error).toBe('invalid_grant');
    },
  );

  it('is announced in the metadata', async () => {
    await using made = await delegationRig({
      issuer: ({ audience }) => ({ jwtBearer: { subjectBindings: [{ subject: 'robot', resources: [audience] }] } }),
    });
    const metadata = await (await fetch(`${made.rig.issuer}/.well-known/oauth-authorization-server`)).json();
    expect(metadata).toMatchObject({
      grant_types_supported: ['authorization_code', 'refresh_token', EXCHANGE, JWT_BEARER],
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    });
  });
});
