import { describe, expect } from 'vitest';
import { httpBrowser } from '../../support/http-browser.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { signInGateway, signInWith } from '../../support/sign-in-gateway.ts';

describe('disableUpstreamTokenInjection', () => {
  proves(
    'vmcp.auth-server.disable-upstream-token-injection-strips',
    'removes Authorization, Cookie and Proxy-Authorization of a caller whose token was accepted',
    async () => {
      await using backend = await recordingServer();
      await using gateway = await signInGateway({
        authServer: { disableUpstreamTokenInjection: true },
        more: {
          outgoingAuth: { source: 'inline' },
          passthroughHeaders: ['X-Team'],
          backends: [{ name: 'seen', url: backend.url, transport: 'streamable-http' }],
        },
      });
      const { access_token: token } = await signInWith(gateway, httpBrowser());
      const headers = {
        authorization: `Bearer ${token}`,
        cookie: 'canary-cookie=1',
        'proxy-authorization': 'Basic canary',
        'x-team': 'blue',
      };
      const call = (given: object) =>
        postModern(
          gateway.url,
          'tools/call',
          { name: 'seen_echo', arguments: { message: 'a' } },
          { headers: given as never },
        );
      expect((await call({ ...headers, authorization: 'Bearer canary' })).status).toBe(401);
      expect(backend.calls).toEqual([]);
      expect((await call(headers)).status).toBe(200);
      expect(backend.calls).toHaveLength(1);
      expect(backend.calls[0]).toMatchObject({ 'x-team': 'blue' });
      for (const name of ['authorization', 'cookie', 'proxy-authorization']) {
        expect(backend.calls[0], name).not.toHaveProperty(name);
      }
    },
  );
});
