import { expect, it } from 'vitest';
import { upstreamOf } from './support.ts';

it('subjects are unique for the issuer, or for the host of a provider without one', async () => {
  const oidcConfig = { issuerUrl: 'https://id.example.com/team', clientId: 'gateway' };
  expect((await upstreamOf({ type: 'oidc', oidcConfig })).authority).toBe('https://id.example.com/team');
  const oauth2Config = {
    authorizationEndpoint: 'https://github.com/login/oauth/authorize',
    tokenEndpoint: 'https://github.com/login/oauth/access_token',
    clientId: 'gateway',
  };
  expect((await upstreamOf({ type: 'oauth2', oauth2Config })).authority).toBe('github.com');
  const discoveryUrl = 'https://wiki.example.com/.well-known/oauth-authorization-server';
  const registered = await upstreamOf({ type: 'oauth2', oauth2Config: { dcrConfig: { discoveryUrl } } });
  expect(registered.authority).toBe('wiki.example.com');
});
