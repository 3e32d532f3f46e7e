import { createServer, get, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type CachedClient,
  type LoginOutcome,
  type LoginSettings,
  logIn,
} from '@toolmgr/plugins/outgoing-auth/oauth-client/login';
import type { Provider } from 'oidc-provider';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openCallbackServer } from '../../../../plugins/outgoing-auth/oauth-client/login/callback-server.ts';
import type { IdentityProvider } from '../../../support/identity-provider.ts';
import { LOGIN_CLIENTS, loginProvider } from '../../../support/login-provider.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { type BrowserPage, followLogin, type OauthRemoteOptions, oauthRemote } from '../../../support/oauth-remote.ts';

let idp: IdentityProvider;

beforeEach(async () => {
  idp = await loginProvider();
});

afterEach(() => idp[Symbol.asyncDispose]());

/** A login, the URLs that it showed and the last page of the browser. */
interface Tried {
  readonly outcome: LoginOutcome;
  readonly shown: readonly URL[];
  readonly page: BrowserPage | undefined;
}

interface Trial {
  readonly settings?: Partial<LoginSettings>;
  readonly cached?: CachedClient;
  readonly timeoutMs?: number;
  /** Default: follows the URL and logs in. */
  readonly browser?: (url: string) => Promise<BrowserPage | undefined>;
}

async function tryLogin(url: string, trial: Trial = {}): Promise<Tried> {
  const shown: URL[] = [];
  let page: Promise<BrowserPage | undefined> | undefined;
  const { browser = followLogin } = trial;
  const outcome = await logIn({
    remote: { url, transport: 'streamable-http', headers: {} },
    settings: { isRequired: false, ...trial.settings },
    cached: trial.cached,
    timeoutMs: trial.timeoutMs ?? 5_000,
    show(login) {
      shown.push(new URL(login.url));
      page = browser(login.url).catch(() => undefined);
    },
    now: Date.now,
    signal: AbortSignal.timeout(20_000),
  });
  return { outcome, shown, page: await page };
}

async function remoteWith(options: Partial<OauthRemoteOptions> = {}): Promise<string> {
  const remote = await oauthRemote(idp, { era: '2026-07-28', ...options });
  onTestFinished(() => remote[Symbol.asyncDispose]());
  return remote.url;
}

const reasonOf = ({ outcome }: Tried): string => (outcome.kind === 'failed' ? outcome.reason : outcome.kind);
const loginOf = ({ outcome }: Tried) => (outcome.kind === 'done' ? outcome.login : undefined);

describe('the authorization server is found', () => {
  it.each<[string, Partial<OauthRemoteOptions>]>([
    ['by the address in the challenge', {}],
    ['at the well-known address of the path', { challenge: () => 'Bearer' }],
    ['at the well-known address of the origin', { challenge: () => 'Bearer', metadata: 'root' }],
    ['without a challenge', { challenge: () => undefined }],
    ['although the server serves requests without a token', { isOpen: true }],
    ['by the metadata of a folder above', { about: (origin) => ({ resource: origin }), challenge: () => 'Bearer' }],
  ])('%s', async (_where, options) => {
    expect(loginOf(await tryLogin(await remoteWith(options)))?.issuer).toBe(idp.issuer);
  });

  it('at the origin of the remote server, for servers from before resource metadata', async () => {
    const old = await loopbackServer((request, response) => {
      if (request.url !== '/.well-known/oauth-authorization-server') {
        response.writeHead(401, { 'www-authenticate': 'Bearer realm="x"' }).end();
        return;
      }
      const metadata = `${idp.issuer}/.well-known/openid-configuration`;
      void fetch(metadata).then(async (answer) => response.end(await answer.text()));
    });
    onTestFinished(() => old[Symbol.asyncDispose]());
    expect(loginOf(await tryLogin(`${old.url}/mcp`))?.tokenUrl).toBe(`${idp.issuer}/token`);
  });

  it('with a path before and after the well-known part, and after it for OIDC', async () => {
    const asked: string[] = [];
    const issuer = await loopbackServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(404).end();
    });
    onTestFinished(() => issuer[Symbol.asyncDispose]());
    const tried = await tryLogin(await remoteWith(), { settings: { issuer: `${issuer.url}/tenant` } });
    expect(reasonOf(tried)).toMatch(/has no metadata at a well-known address/);
    expect(asked).toEqual([
      '/.well-known/oauth-authorization-server/tenant',
      '/.well-known/openid-configuration/tenant',
      '/tenant/.well-known/openid-configuration',
    ]);
  });

  it('not, when the server asks for nothing', async () => {
    expect(reasonOf(await tryLogin(await remoteWith({ isOpen: true, metadata: 'none' })))).toBe('not-needed');
    expect(reasonOf(await tryLogin('http://127.0.0.1:1/mcp'))).toBe('not-needed');
  });
});

describe('a login is refused', () => {
  it.each<[string, Partial<OauthRemoteOptions>, RegExp]>([
    ['for another scheme', { challenge: () => 'Basic realm="x"', metadata: 'none' }, /by basic, and only Bearer/],
    ['without any metadata', { challenge: () => 'Bearer', metadata: 'none' }, /give --remote-auth-bearer-token-file/],
    [
      'with metadata about another resource',
      { about: () => ({ resource: 'https://other.example/mcp' }) },
      /is about another resource than this server/,
    ],
    [
      'with metadata about a resource beside it',
      { about: (origin) => ({ resource: `${origin}/mc` }) },
      /is about another resource/,
    ],
    [
      'without an authorization server',
      { about: () => ({ authorization_servers: [] }) },
      /names no authorization server/,
    ],
  ])('%s', async (_why, options, sentence) => {
    expect(reasonOf(await tryLogin(await remoteWith(options)))).toMatch(sentence);
  });

  it.each<[string, object, RegExp]>([
    ['is about another issuer', { issuer: 'https://evil.example' }, /is about another issuer than/],
    ['has no PKCE', { code_challenge_methods_supported: undefined }, /does not say that it supports PKCE with S256/],
    ['has plain PKCE only', { code_challenge_methods_supported: ['plain'] }, /PKCE with S256/],
    ['has an endpoint with http', { token_endpoint: 'http://id.example/token' }, /no "token_endpoint" with https/],
    [
      'has an endpoint that is no web page',
      { authorization_endpoint: 'javascript:alert(1)' },
      /no "authorization_endpoint"/,
    ],
    ['registers no clients', { registration_endpoint: undefined }, /give --remote-auth-client-id/],
  ])('when the metadata of the authorization server %s', async (_why, replaced, sentence) => {
    const issuer = await loopbackServer((request, response) => {
      if (request.url !== '/.well-known/oauth-authorization-server') return response.writeHead(404).end();
      const body = {
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/auth`,
        token_endpoint: `${issuer.url}/token`,
        registration_endpoint: `${issuer.url}/reg`,
        code_challenge_methods_supported: ['S256'],
        ...replaced,
      };
      return response.end(JSON.stringify(body));
    });
    onTestFinished(() => issuer[Symbol.asyncDispose]());
    const url = await remoteWith({ about: () => ({ authorization_servers: [issuer.url] }) });
    expect(reasonOf(await tryLogin(url))).toMatch(sentence);
  });
});

describe('the answer of an authorization server', () => {
  const changed = (name: string, value: string | undefined) => (url: string) =>
    followLogin(url, (callback) => {
      if (value === undefined) callback.searchParams.delete(name);
      else callback.searchParams.set(name, value);
      return callback;
    });

  it('is refused with another issuer, or without one that the server promised', async () => {
    const url = await remoteWith();
    for (const value of ['https://evil.example', `${idp.issuer}/`, undefined]) {
      const tried = await tryLogin(url, { browser: changed('iss', value) });
      expect(reasonOf(tried)).toMatch(/is not valid: .*"iss"/);
      expect(tried.page).toMatchObject({ status: 400 });
    }
    expect(idp.seen.filter((line) => line === 'POST /token')).toEqual([]);
  });

  it('is ignored with another state, and the login continues', async () => {
    let first: BrowserPage | undefined;
    const tried = await tryLogin(await remoteWith(), {
      async browser(url) {
        let wrong = new URL(url);
        const page = await followLogin(url, (callback) => {
          wrong = new URL(callback);
          wrong.searchParams.set('state', 'another');
          return undefined;
        });
        expect(page).toBeUndefined();
        first = await followLogin(wrong.href);
        wrong.searchParams.set('state', new URL(url).searchParams.get('state') ?? '');
        return followLogin(wrong.href);
      },
    });
    expect(first?.status).toBe(400);
    expect(loginOf(tried)).toBeDefined();
    expect(tried.page?.text).toContain('You are logged in');
  });

  it('with an error ends the login; a text of the server is not shown', async () => {
    const url = await remoteWith();
    const refused = await tryLogin(url, {
      browser: (shown) =>
        followLogin(shown, (callback) => {
          callback.searchParams.delete('code');
          callback.searchParams.set('error', 'access_denied');
          callback.searchParams.set('error_description', '\u001b[2Jevil');
          return callback;
        }),
    });
    expect(reasonOf(refused)).toBe('the authorization server refuses the login: access_denied');
    const odd = await tryLogin(url, { browser: changed('error', 'e\u001b[2J') });
    expect(reasonOf(odd)).toBe('the authorization server refuses the login: an unknown error');
  });

  it('with a code of another login is refused by the server, because of PKCE', async () => {
    const url = await remoteWith();
    let stolen = '';
    await tryLogin(url, {
      timeoutMs: 500,
      browser: (shown) =>
        followLogin(shown, (callback) => {
          stolen = callback.searchParams.get('code') ?? '';
          return undefined;
        }),
    });
    const injected = await tryLogin(url, { browser: changed('code', stolen) });
    expect(reasonOf(injected)).toMatch(/invalid_grant/);
  });

  it('must come in time', async () => {
    const tried = await tryLogin(await remoteWith(), { timeoutMs: 200, browser: async () => undefined });
    expect(reasonOf(tried)).toMatch(/was not finished within 0\.2 s/);
  });
});

describe('the client of a login', () => {
  const cachedFrom = (tried: Tried): CachedClient | undefined => {
    const login = loginOf(tried);
    return login && { ...login.client, issuer: login.issuer ?? '', port: login.callbackPort };
  };
  const registrations = () => idp.seen.filter((line) => line === 'POST /reg').length;

  it('is registered once, and used again at the same issuer only', async () => {
    const url = await remoteWith();
    const cached = cachedFrom(await tryLogin(url));
    expect(registrations()).toBe(1);
    const again = await tryLogin(url, cached === undefined ? {} : { cached });
    expect(loginOf(again)?.client).toMatchObject({ id: cached?.id, from: 'cache' });
    expect(registrations()).toBe(1);
    const foreign = { ...(cached as CachedClient), issuer: 'https://other.example' };
    expect(loginOf(await tryLogin(url, { cached: foreign }))?.client.from).toBe('registration');
  });

  it('is registered for another port when the usual one is taken, and not when one is configured', async () => {
    const url = await remoteWith();
    const taken = await openCallbackServer(0);
    if (taken === undefined) throw new Error('no port is free');
    onTestFinished(() => taken[Symbol.asyncDispose]());
    const cached: CachedClient = { id: 'old', method: 'none', issuer: idp.issuer, port: taken.port };
    const moved = await tryLogin(url, { cached });
    expect(loginOf(moved)?.client.from).toBe('registration');
    expect(loginOf(moved)?.callbackPort).not.toBe(taken.port);
    for (const settings of [
      { callbackPort: taken.port },
      { callbackPort: taken.port, clientId: LOGIN_CLIENTS.app.id },
    ]) {
      expect(reasonOf(await tryLogin(url, { settings }))).toMatch(/is taken: end the program/);
    }
  });

  it('is a client metadata document where the server takes one; a refused one is replaced by a registration', async () => {
    const document = 'https://client.example/toolmgr.json';
    await using taking = await loginProvider({
      configure: (given) => ({
        ...given,
        fetch: async () =>
          Response.json({
            client_id: document,
            client_name: 'toolmgr',
            application_type: 'native',
            redirect_uris: ['http://localhost/callback'],
            token_endpoint_auth_method: 'none',
            grant_types: ['authorization_code', 'refresh_token'],
            response_types: ['code'],
          }),
        features: {
          ...given.features,
          clientIdMetadataDocument: { enabled: true, ack: 'draft-02', allowFetch: () => true, allowClient: () => true },
        },
      }),
    });
    await using remote = await oauthRemote(taking, { era: '2026-07-28' });
    const tried = await tryLogin(remote.url, { settings: { metadataUrl: document } });
    expect(loginOf(tried)?.client).toMatchObject({ id: document, from: 'metadata' });
    expect(taking.seen).not.toContain('POST /reg');
    let isFirst = true;
    const refused = await tryLogin(remote.url, {
      settings: { metadataUrl: document },
      browser: (url) =>
        followLogin(url, (callback) => {
          if (isFirst) callback.searchParams.set('error', 'unauthorized_client');
          isFirst = false;
          return callback;
        }),
    });
    expect(loginOf(refused)?.client.from).toBe('registration');
    expect(refused.shown).toHaveLength(2);
    // a server that takes none gets a registration at once
    const other = await tryLogin(await remoteWith(), { settings: { metadataUrl: document } });
    expect(loginOf(other)?.client.from).toBe('registration');
  });

  it('sends its secret as the server says', async () => {
    const forms: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
    const extend = (provider: Provider): void => {
      provider.use(async (context, next) => {
        if (context.path === '/token') forms.push({ headers: context.headers, body: '' });
        await next();
      });
    };
    await using basic = await loginProvider({ extend });
    await using remote = await oauthRemote(basic, { era: '2026-07-28' });
    const { id, secret } = LOGIN_CLIENTS.team;
    const tried = await tryLogin(remote.url, { settings: { clientId: id, clientSecret: secret } });
    expect(loginOf(tried)?.client).toMatchObject({ id, method: 'client_secret_basic' });
    const credentials = Buffer.from(`${id}:${secret}`).toString('base64');
    expect(forms.map(({ headers }) => headers.authorization)).toEqual([`Basic ${credentials}`]);
  });
});

/** The status of a GET with another `Host` header, as after DNS rebinding. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => resolve(response.resume().statusCode)).once('error', reject);
  });
}

describe('the callback server', () => {
  const open = async (port = 0) => {
    const server = await openCallbackServer(port);
    if (server === undefined) throw new Error('the port is taken');
    onTestFinished(() => server[Symbol.asyncDispose]());
    return server;
  };

  it('answers with plain pages that repeat nothing of the request', async () => {
    const server = await open();
    const next = server.next('good', AbortSignal.timeout(5_000));
    const evil = '<script>alert(1)</script>';
    const base = `http://127.0.0.1:${server.port}`;
    const pages = await Promise.all(
      [`/callback?state=${evil}&error=${evil}`, `/${evil}`, `/callback?state=good&state=${evil}`].map((path) =>
        fetch(base + path),
      ),
    );
    expect(pages.map(({ status }) => status)).toEqual([400, 404, 400]);
    const answered = fetch(`${base}/callback?state=good&code=1&error_description=${evil}`);
    (await next).answer('failed');
    for (const page of [...pages, await answered]) {
      expect(await page.text()).not.toMatch(/script|alert/);
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(page.headers.get('x-content-type-options')).toBe('nosniff');
      expect(page.headers.get('x-frame-options')).toBe('DENY');
      expect(page.headers.get('cache-control')).toBe('no-store');
    }
  });

  it('takes a state once, GET only, and only under the names of this machine', async () => {
    const server = await open();
    const url = `http://127.0.0.1:${server.port}/callback?state=good&code=1`;
    const next = server.next('good', AbortSignal.timeout(5_000));
    expect((await fetch(url, { method: 'POST' })).status).toBe(405);
    expect(await statusFor(url, 'evil.example')).toBe(403);
    const first = fetch(url);
    (await next).answer('done');
    expect((await first).status).toBe(200);
    expect((await fetch(url)).status).toBe(400);
  });

  it('listens on loopback addresses only, and says when a port is taken', async () => {
    const server = await open();
    expect(await openCallbackServer(server.port)).toBeUndefined();
    const blocked = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => blocked.once('listening', resolve));
    onTestFinished(() => void blocked.close());
    expect(await openCallbackServer((blocked.address() as AddressInfo).port)).toBeUndefined();
    expect(server.redirectUri).toBe(`http://localhost:${server.port}/callback`);
  });
});
