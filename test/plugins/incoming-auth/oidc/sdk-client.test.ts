import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { CLIENTS, identityProvider } from '../../../support/identity-provider.ts';
import { AUDIENCE, oidcGateway } from '../../../support/oidc-gateway.ts';
import { proves } from '../../../support/proves.ts';

const INFO = { name: 'sdk-client', version: '1' };

/** Walks a browser's way: follows redirects with cookies until the app's own URL comes, and gives its parameters. */
async function browse(start: URL): Promise<URLSearchParams> {
  const cookies = new Map<string, string>();
  let at = start;
  for (let hop = 0; hop < 20; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = answer.headers.get('location');
    if (location === null) throw new Error(`no redirect: ${answer.status} ${await answer.text()}`);
    at = new URL(location, at);
    if (at.href.startsWith(CLIENTS.app.redirectUri)) return at.searchParams;
  }
  throw new Error('redirected too often');
}

/** An app that remembers what the SDK hands it. */
function app(): OAuthClientProvider & { wentTo: URL | undefined; kept: { access_token: string } | undefined } {
  let verifier = '';
  const self: ReturnType<typeof app> = {
    wentTo: undefined,
    kept: undefined,
    redirectUrl: CLIENTS.app.redirectUri,
    clientMetadata: { redirect_uris: [CLIENTS.app.redirectUri], token_endpoint_auth_method: 'none' },
    clientInformation: () => ({ client_id: CLIENTS.app.id }),
    tokens: () => self.kept as ReturnType<OAuthClientProvider['tokens']>,
    saveTokens: (tokens) => {
      self.kept = tokens;
    },
    redirectToAuthorization: (url) => {
      self.wentTo = url;
    },
    saveCodeVerifier: (made) => {
      verifier = made;
    },
    codeVerifier: () => verifier,
  };
  return self;
}

describe('an SDK client of the second generation', () => {
  for (const mode of ['auto', 'legacy'] as const) {
    proves('vmcp.config-incoming.type-oidc', `lists and calls with a bearer token in ${mode} mode`, async () => {
      await using idp = await identityProvider();
      await using gateway = await oidcGateway(idp);
      const token = await idp.userToken('ada', AUDIENCE);
      const client = new Client(INFO, { versionNegotiation: { mode } });
      const requestInit = { headers: { authorization: `Bearer ${token}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { requestInit }));
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['echo']);
      expect(await client.callTool({ name: 'echo' })).toMatchObject({ content: [{ text: 'here' }] });
      expect(gateway.calls.at(-1)?.caller.subject).toBe('ada');
      await client.close();
    });
  }

  proves(
    ['choice.oidc.metadata', 'choice.oidc.challenge'],
    'finds the provider by the challenge, logs its user in, and gets in with the token it is given',
    async () => {
      await using idp = await identityProvider();
      // the resource that clients name is the URL they connect to, so the provider makes it the audience
      await using gateway = await oidcGateway(idp, (url) => ({ audience: url, scopes: ['tools'] }));
      idp.loginAs = 'bob';
      const authProvider = app();
      const first = new StreamableHTTPClientTransport(new URL(gateway.url), { authProvider });
      await expect(new Client(INFO).connect(first)).rejects.toBeInstanceOf(UnauthorizedError);
      expect(authProvider.wentTo?.origin).toBe(idp.issuer);
      expect(authProvider.wentTo?.searchParams.get('resource')).toBe(gateway.url);
      await first.finishAuth(await browse(authProvider.wentTo as URL));
      const client = new Client(INFO);
      await client.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { authProvider }));
      expect(await client.callTool({ name: 'echo' })).toMatchObject({ content: [{ text: 'here' }] });
      expect(gateway.calls.at(-1)?.caller).toMatchObject({ subject: 'bob', claims: { groups: ['staff'] } });
      await client.close();
    },
  );

  it('is refused without a token', async () => {
    await using idp = await identityProvider();
    await using gateway = await oidcGateway(idp);
    const transport = new StreamableHTTPClientTransport(new URL(gateway.url));
    await expect(new Client(INFO).connect(transport)).rejects.toThrow(/401|unauthorized|authentication/i);
    expect(gateway.calls).toEqual([]);
  });
});
