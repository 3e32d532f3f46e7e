import { createLog } from '@toolmgr/core';
import { expect, it } from 'vitest';
import { metadataRoutes } from '../../../../hosts/manager/http/metadata-routes.ts';
import { oidcAccess, openOidcCallers } from '../../../../hosts/manager/oidc-access.ts';
import { identityProvider } from '../../../support/identity-provider.ts';
import { send, startManager } from '../../../support/manager.ts';

const AUDIENCE = 'https://manager.example';

it('accepts tokens of an identity provider beside the local token, and says how to get one', async () => {
  await using idp = await identityProvider();
  const flags = {
    oidcIssuer: idp.issuer,
    oidcAudience: AUDIENCE,
    oidcInsecureAllowHttp: true,
    jwksAllowPrivateIp: true,
  };
  await using oidc = await openOidcCallers(
    flags,
    {},
    createLog('error', () => {}),
  );
  if (oidc === undefined) throw new Error('the flags ask for OpenID Connect');
  await using manager = await startManager({
    operations: [],
    otherCallers: oidcAccess(oidc),
    openRoutes: [metadataRoutes(oidc.metadata('/mcp/manager'))],
  });
  const statusOf = async (token: string) => (await send(manager.url, token, 'GET', '/api/v1beta/operations')).status;
  expect(await statusOf(await idp.userToken('ada', AUDIENCE))).toBe(200);
  expect(await statusOf(manager.token)).toBe(200);
  expect(await statusOf(await idp.userToken('ada', 'https://other.example'))).toBe(401);
  const refused = await send(manager.url, 'nothing', 'GET', '/api/v1beta/operations');
  expect(refused.body).toMatchObject({ status: 401, code: 'unauthorized' });
  const challenge = refused.headers.get('www-authenticate') ?? '';
  const [, metadataUrl = ''] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
  const path = new URL(metadataUrl).pathname;
  const metadata = await (await fetch(`${manager.url}${path}`)).json();
  expect(metadata).toMatchObject({ resource: AUDIENCE, authorization_servers: [idp.issuer] });
  const headers = { origin: 'https://app.example', 'access-control-request-method': 'GET' };
  for (const [method, status] of [
    ['GET', 200],
    ['OPTIONS', 204],
  ] as const) {
    const answer = await fetch(`${manager.url}${path}`, { method, headers });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([status, '*']);
  }
});

it('names the flag that is missing or wrong', async () => {
  const log = createLog('error', () => {});
  expect(await openOidcCallers({}, {}, log)).toBeUndefined();
  await expect(openOidcCallers({ oidcIssuer: 'https://id.example' }, {}, log)).rejects.toThrow('--oidc-audience: ');
  await expect(openOidcCallers({ oidcJwksUrl: 'file:///keys', oidcAudience: 'a' }, {}, log)).rejects.toThrow(
    '--oidc-issuer: ',
  );
  await expect(openOidcCallers({ oidcClientSecretFile: '/nonexistent' }, {}, log)).rejects.toThrow(
    '--oidc-client-secret-file: ',
  );
});
