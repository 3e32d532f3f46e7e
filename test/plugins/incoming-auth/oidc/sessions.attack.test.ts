import { describe, expect, it } from 'vitest';
import { identityProvider } from '../../../support/identity-provider.ts';
import { AUDIENCE, oidcGateway } from '../../../support/oidc-gateway.ts';
import { openSession, post } from '../../../support/open-endpoint.ts';
import { proves } from '../../../support/proves.ts';

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

describe('a session', () => {
  proves(
    ['choice.oidc.sessions', 'choice.session.owner-bound'],
    'of one subject is refused to another, with POST, GET and DELETE',
    async () => {
      await using idp = await identityProvider();
      await using gateway = await oidcGateway(idp);
      const [ada, bob] = [await idp.userToken('ada', AUDIENCE), await idp.userToken('bob', AUDIENCE)];
      for (const method of ['POST', 'GET', 'DELETE']) {
        const mine = await openSession(gateway.url, { headers: bearer(ada) });
        expect((await mine.request('tools/list')).status).toBe(200);
        const headers = {
          ...mine.headers,
          ...bearer(bob),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        };
        const theft = await fetch(gateway.url, {
          method,
          headers,
          body: method === 'POST' ? JSON.stringify(LIST) : null,
        });
        expect([method, theft.status]).toEqual([method, 404]);
        expect(await theft.text()).not.toContain('echo');
      }
    },
  );

  proves('choice.oidc.sessions', 'outlives the token that opened it, for the same issuer and subject', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const mine = await openSession(gateway.url, { headers: bearer(await idp.userToken('ada', AUDIENCE)) });
    const renewed = { ...mine.headers, ...bearer(await idp.userToken('ada', AUDIENCE)) };
    expect((await post(gateway.url, LIST, renewed)).status).toBe(200);
  });

  it('is not a token: its id alone, or with an invalid token, gives no access and ends no session', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const mine = await openSession(gateway.url, { headers: bearer(await idp.userToken('ada', AUDIENCE)) });
    const { authorization: _mine, ...bare } = { ...mine.headers, authorization: '' };
    expect((await post(gateway.url, LIST, bare)).status).toBe(401);
    const expired = idp.sign({ sub: 'ada', aud: AUDIENCE, exp: 1 });
    expect((await post(gateway.url, LIST, { ...bare, ...bearer(expired) })).status).toBe(401);
    expect((await mine.request('tools/list')).status).toBe(200);
  });

  it('cannot be fixated: the gateway chooses the id, never the client', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const chosen = 'chosen-by-an-attacker';
    const [ada, bob] = [await idp.userToken('ada', AUDIENCE), await idp.userToken('bob', AUDIENCE)];
    const fixed = { ...bearer(bob), 'mcp-session-id': chosen };
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
    const planted = await post(gateway.url, { jsonrpc: '2.0', id: 0, method: 'initialize', params }, fixed);
    expect(planted.headers.get('mcp-session-id')).not.toBe(chosen);
    const victim = await post(gateway.url, LIST, {
      ...bearer(ada),
      'mcp-session-id': chosen,
      'mcp-protocol-version': '2025-11-25',
    });
    expect(victim.status).toBe(404);
  });
});
