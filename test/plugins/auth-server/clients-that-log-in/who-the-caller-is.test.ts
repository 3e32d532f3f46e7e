import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { httpBrowser } from '../../../support/http-browser.ts';
import { postModern } from '../../../support/open-endpoint.ts';
import { type SignInGateway, signInGateway, signInWith } from '../../../support/sign-in-gateway.ts';

const MS = 180_000;

describe('a caller of the own authorization server', () => {
  let gateway: SignInGateway;
  let other: SignInGateway;
  beforeAll(async () => {
    const policies = [
      'permit(principal in THVGroup::"admins", action, resource);',
      'permit(principal == Client::"bob", action, resource == Tool::"notes_whoami");',
    ];
    gateway = await signInGateway({ authz: { type: 'cedar', policies } });
    other = await signInGateway();
  }, MS);
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
  });

  const call = async (token: string, name: string, at = gateway) => {
    const headers = { authorization: `Bearer ${token}` };
    const { status, json } = await postModern(at.url, 'tools/call', { name, arguments: {} }, { headers });
    const [block] = (json.result?.content ?? []) as { text?: string }[];
    return [status, block?.text ?? json.error?.message];
  };
  const signedIn = (name: string, at = gateway) => {
    at.corp.loginAs = name;
    return signInWith(at, httpBrowser());
  };
  const denied = [403, 'call denied by authorization policy'];

  it(
    'is judged by groups and subject of the upstream provider',
    async () => {
      const { access_token: ada } = await signedIn('ada');
      const { access_token: bob } = await signedIn('bob');
      expect([await call(ada, 'notes_whoami'), await call(ada, 'files_whoami')]).toEqual([
        [200, 'ada'],
        [200, 'ada'],
      ]);
      expect([await call(bob, 'notes_whoami'), await call(bob, 'files_whoami')]).toEqual([[200, 'bob'], denied]);
    },
    MS,
  );

  it(
    'is refused at once after the client revoked its refresh token',
    async () => {
      const { access_token: token, refresh_token, client_id } = await signedIn('ada');
      expect(await call(token, 'notes_whoami')).toEqual([200, 'ada']);
      const body = new URLSearchParams({ token: refresh_token, client_id });
      expect((await fetch(`${gateway.issuer}/oauth/revoke`, { method: 'POST', body })).status).toBe(200);
      expect(await call(token, 'notes_whoami')).toEqual([401, 'the token was withdrawn']);
    },
    MS,
  );

  it(
    'is refused with a token of another gateway',
    async () => {
      const { access_token: token } = await signedIn('ada', other);
      expect(await call(token, 'notes_whoami', other)).toEqual([200, 'ada']);
      expect((await call(token, 'notes_whoami'))[0]).toBe(401);
    },
    MS,
  );
});
