import type { JsonObject } from '@toolmgr/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jwtPayload } from '../../plugins/auth-server/upstreams/jwt-payload.ts';
import type { Upstream, UpstreamGrant } from '../../plugins/auth-server/upstreams/upstream.ts';
import { tokenExchangeOptions } from '../../plugins/outgoing-auth/token-exchange/config.ts';
import { createTokenRequests } from '../../plugins/outgoing-auth/token-exchange/token-request.ts';
import { CALLBACK, newLeg, soon, upstreamOf } from '../plugins/auth-server/upstreams/support.ts';
import { type Keycloak, startKeycloak } from '../support/keycloak.ts';
import { rig } from '../support/rig.ts';

const START_MS = 240_000;
const SECRET = 'secret-of-toolmgr';
const PASSWORD = 'password-of-ada';

const REALM = {
  realm: 'corp',
  enabled: true,
  sslRequired: 'none',
  users: [
    {
      username: 'ada',
      enabled: true,
      email: 'ada@example.com',
      emailVerified: true,
      realmRoles: ['offline_access'],
      firstName: 'Ada',
      lastName: 'Lovelace',
      credentials: [{ type: 'password', value: PASSWORD, temporary: false }],
    },
  ],
  clients: [
    {
      clientId: 'toolmgr',
      secret: SECRET,
      redirectUris: [CALLBACK],
      attributes: { 'pkce.code.challenge.method': 'S256', 'standard.token.exchange.enabled': 'true' },
      protocolMappers: [audienceOf('toolmgr'), audienceOf('backend')],
    },
    { clientId: 'backend', secret: 'secret-of-backend', redirectUris: [] },
  ],
};

function audienceOf(client: string) {
  return {
    name: `audience-${client}`,
    protocol: 'openid-connect',
    protocolMapper: 'oidc-audience-mapper',
    config: { 'included.client.audience': client, 'access.token.claim': 'true' },
  };
}

const found = rig('keycloak');

describe.skipIf('missing' in found)(`Keycloak${'missing' in found ? ` (skipped: ${found.missing})` : ''}`, () => {
  let keycloak: Keycloak;

  beforeAll(async () => {
    if ('folder' in found) keycloak = await startKeycloak(found.folder, REALM);
  }, START_MS);
  afterAll(() => keycloak?.[Symbol.asyncDispose]());

  const upstream = (fields: JsonObject = {}, secret = SECRET): Promise<Upstream> =>
    upstreamOf(
      {
        type: 'oidc',
        oidcConfig: {
          issuerUrl: keycloak.issuer,
          clientId: 'toolmgr',
          clientSecretRef: { env: 'KEYCLOAK_SECRET' },
          scopes: ['openid', 'offline_access', 'profile', 'email'],
          ...fields,
        },
      },
      { environment: { KEYCLOAK_SECRET: secret } },
    );

  it('signs a person in, refreshes and revokes', async () => {
    const made = await upstream();
    const { identity, tokens } = await signInByForm(made);
    expect(identity).toMatchObject({ name: 'Ada Lovelace', email: 'ada@example.com', isSynthetic: false });
    expect(identity.subject).toBe(tokens.idTokenSubject);
    expect(identity.claims).toMatchObject({ azp: 'toolmgr', preferred_username: 'ada' });

    const refreshed = await made.refresh(tokens, soon());
    await refreshed.check();
    expect(refreshed.tokens.accessToken.reveal()).not.toBe(tokens.accessToken.reveal());
    expect(refreshed.claims).toMatchObject({ sub: identity.subject });

    await made.revoke(refreshed.tokens, soon());
    await expect(made.refresh(refreshed.tokens, soon())).rejects.toMatchObject({
      name: 'UpstreamRefusal',
      code: 'invalid_grant',
    });
  });

  it('identifies people by another claim', async () => {
    const { identity } = await signInByForm(await upstream({ subjectClaim: 'preferred_username' }));
    expect(identity.subject).toBe('ada');
  });

  it('does not accept a client with a wrong secret; that is no refusal of the person', async () => {
    const made = await upstream({}, 'wrong');
    await expect(signInByForm(made)).rejects.toMatchObject({
      name: 'GatewayFault',
      message: expect.stringContaining("does not accept the gateway's client id and secret"),
    });
  });

  it('exchanges its access token for one of a backend (RFC 8693)', async () => {
    const { tokens, identity } = await signInByForm(await upstream());
    const exchange = (audience: string) =>
      createTokenRequests(
        tokenExchangeOptions.parse({
          tokenUrl: `${keycloak.issuer}/protocol/openid-connect/token`,
          clientId: 'toolmgr',
          audience,
        }),
        SECRET,
      );
    const { value } = await exchange('backend').exchange(tokens.accessToken.reveal(), 'backend');
    const claims = jwtPayload(String(value).replace('Bearer ', ''));
    expect(claims).toMatchObject({ sub: identity.subject, azp: 'toolmgr' });
    expect([claims?.aud].flat()).toContain('backend');
    await expect(exchange('unknown').exchange(tokens.accessToken.reveal(), 'backend')).rejects.toMatchObject({
      name: 'GatewayFault',
    });
  });
});

/** Fills in Keycloak's form as a browser without scripts does. */
async function signInByForm(upstream: Upstream): Promise<UpstreamGrant> {
  const leg = newLeg();
  const page = await fetch(await upstream.authorizationUrl(leg, soon()), { redirect: 'manual' });
  const cookie = page.headers
    .getSetCookie()
    .map((each) => each.split(';')[0])
    .join('; ');
  const [, action = ''] = /<form[^>]*action="([^"]+)"/.exec(await page.text()) ?? [];
  const answer = await fetch(action.replaceAll('&amp;', '&'), {
    method: 'POST',
    redirect: 'manual',
    headers: { cookie },
    body: new URLSearchParams({ username: 'ada', password: PASSWORD, credentialId: '' }),
  });
  const location = answer.headers.get('location') ?? '';
  if (!location.startsWith(CALLBACK)) throw new Error(`Keycloak answered ${answer.status}: ${await answer.text()}`);
  return upstream.exchange(new URL(location).searchParams, leg, soon());
}
