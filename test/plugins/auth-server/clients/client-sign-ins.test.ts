import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import { type AuthServerRig, authServerRig, claimsOf } from '../../../support/auth-server-rig.ts';
import { type LoopbackServer, loopbackServer } from '../../../support/loopback-server.ts';
import { proves } from '../../../support/proves.ts';
import { until } from '../../../support/until.ts';
import { claudeCodeDocument, REGISTRATIONS, vsCodeDocument } from './client-requests.ts';

const DOCUMENTS: Readonly<Record<string, (id: string) => object>> = {
  '/vscode.json': vsCodeDocument,
  '/claude-code.json': claudeCodeDocument,
};
let rig: AuthServerRig;
let plain: AuthServerRig;
let web: LoopbackServer;
const fetched: string[] = [];

beforeAll(async () => {
  rig = await authServerRig({
    config: { cimd: { enabled: true }, scopesSupported: ['tools'], baselineClientScopes: ['tools'] },
  });
  plain = await authServerRig();
  web = await loopbackServer((request, response) => {
    fetched.push(request.url ?? '');
    const document = DOCUMENTS[request.url ?? '']?.(`${web.url}${request.url}`);
    if (document === undefined) response.writeHead(request.url === '/away.json' ? 500 : 404).end();
    else response.end(JSON.stringify(document));
  });
});
afterAll(async () => {
  for (const each of [rig, plain, web]) await each[Symbol.asyncDispose]();
});

proves('choice.clients.one-fetch', 'a refused metadata document is fetched once for one request', async () => {
  for (const path of ['/gone.json', '/away.json']) {
    const answer = await fetch(rig.begin(`${web.url}${path}`).url, { redirect: 'manual' });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(fetched.filter((each) => each === path)).toEqual([path]);
  }
});

/** Registers a client as it does it, each body once because of the limit, and returns the whole response. */
function registered(body: object): Promise<Readonly<Record<string, string>>> {
  const text = JSON.stringify(body);
  const response = responses.get(text) ?? registerNow(text);
  responses.set(text, response);
  return response;
}

const responses = new Map<string, Promise<Readonly<Record<string, string>>>>();

async function registerNow(body: string): Promise<Readonly<Record<string, string>>> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' };
  const answer = await fetch(`${rig.issuer}/oauth/register`, { method: 'POST', headers, body });
  expect(answer.status).toBe(201);
  return (await answer.json()) as Record<string, string>;
}

/** Signs in from the authorization request to the token, and refreshes it. */
async function tokenFor(clientId: string, redirect: string, scope?: string) {
  const attempt = rig.begin(clientId, { redirect_uri: redirect, scope });
  const code = (await attempt.finish()).get('code') ?? '';
  const { status, body } = await attempt.exchange(code, { redirect_uri: redirect });
  expect({ status, error: body.error_description }).toEqual({ status: 200, error: undefined });
  const { refresh_token = '', access_token = '' } = body;
  const refreshed = await rig.token({ grant_type: 'refresh_token', client_id: clientId, refresh_token });
  expect(refreshed.status).toBe(200);
  return claimsOf(access_token);
}

/** Status of an authorization request that must not redirect anywhere but to the sign-in. */
async function refusal(clientId: string, redirect: string): Promise<number> {
  const { browser, url } = rig.begin(clientId, { redirect_uri: redirect });
  const answer = await browser.get(url);
  expect(answer.headers.get('location')).toBeNull();
  return answer.status;
}

describe('MCP clients', () => {
  for (const [name, { body, redirect }] of Object.entries(REGISTRATIONS)) {
    proves(
      ['vmcp.authentication.registration', 'vmcp.surface.oauth-register'],
      `${name} registers, signs in and gets a token`,
      async () => {
        const { client_id: id = '' } = await registered(body);
        expect(await tokenFor(id, redirect)).toMatchObject({ client_id: id, aud: rig.audience });
      },
    );
  }

  it.each([
    ['VS Code on the desktop', '/vscode.json', 'http://127.0.0.1:33418/'],
    ['VS Code on another port', '/vscode.json', 'http://127.0.0.1:50123/'],
    ['VS Code for the Web', '/vscode.json', 'https://vscode.dev/redirect'],
    ['Claude Code', '/claude-code.json', 'http://localhost:52044/callback'],
  ])('%s signs in with its metadata document', async (_name, path, redirect) => {
    const id = `${web.url}${path}`;
    expect(await tokenFor(id, redirect)).toMatchObject({ client_id: id });
  });

  it('request baseline scopes that they did not register', async () => {
    const { client_id: id = '' } = await registered(REGISTRATIONS.Codex.body);
    expect((await tokenFor(id, REGISTRATIONS.Codex.redirect, 'openid tools')).scope).toBe('openid tools');
    const document = `${web.url}/claude-code.json`;
    expect((await tokenFor(document, 'http://localhost:1/callback', 'tools')).scope).toBe('tools');
  });

  it('request no scope that they did not register', async () => {
    const { client_id: id = '' } = await registered(REGISTRATIONS.Codex.body);
    const callback = await rig
      .begin(id, { redirect_uri: REGISTRATIONS.Codex.redirect, scope: 'openid email' })
      .finish();
    expect(callback.get('error')).toBe('invalid_scope');
  });

  it('are told in the metadata whether documents are accepted', async () => {
    const supported = async ({ issuer }: AuthServerRig) =>
      ((await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as Record<string, unknown>)
        .client_id_metadata_document_supported;
    expect([await supported(rig), await supported(plain)]).toEqual([true, false]);
  });

  it('register from a page of another origin', async () => {
    const headers = { 'content-type': 'application/json', origin: 'https://inspector.example' };
    const body = JSON.stringify(REGISTRATIONS['MCP Inspector'].body);
    const answer = await fetch(`${rig.issuer}/oauth/register`, { method: 'POST', headers, body });
    expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([201, '*']);
  });

  it('authenticate with the secret that they registered', async () => {
    await using secret = await authServerRig({ config: { confidentialClients: true } });
    const redirect = 'https://app.example/cb';
    const headers = { 'content-type': 'application/json' };
    const request = { redirect_uris: [redirect], token_endpoint_auth_method: 'client_secret_basic' };
    const init = { method: 'POST', headers, body: JSON.stringify(request) };
    const client = (await (await fetch(`${secret.issuer}/oauth/register`, init)).json()) as Record<string, string>;
    const { client_id: id = '', client_secret: key = '' } = client;
    const attempt = secret.begin(id, { redirect_uri: redirect });
    const code = (await attempt.finish()).get('code') ?? '';
    const exchange = (text: string) =>
      secret.token(
        { grant_type: 'authorization_code', code, redirect_uri: redirect, code_verifier: attempt.verifier },
        { authorization: `Basic ${Buffer.from(`${id}:${text}`).toString('base64')}` },
      );
    const without = await attempt.exchange(code, { redirect_uri: redirect });
    expect([without.status, without.body.error]).toEqual([401, 'invalid_client']);
    expect((await exchange('wrong')).status).toBe(401);
    expect((await exchange(key)).status).toBe(200);
  });
});

describe('registrations', () => {
  it('are known to all replicas', async () => {
    const storage = createMemoryStorage(Date.now);
    await using first = await authServerRig({ storage, issuer: 'https://gateway.example' });
    await using second = await authServerRig({ storage, issuer: 'https://gateway.example' });
    const attempt = second.begin(await first.register());
    const answer = await attempt.browser.get(attempt.url);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, expect.stringContaining('/oauth/sign-in/')]);
  });

  it('are marked as used by a token', async () => {
    const kept = createMemoryStorage(Date.now);
    await using one = await authServerRig({ storage: kept });
    const { clientId } = await one.tokens();
    await until(async () => (await kept.get(`client:${clientId}`))?.value.usedMs !== undefined);
  });
});

describe('redirects that were not registered', () => {
  it.each([
    ['another host', 'https://evil.example/cb'],
    ['another path', 'http://localhost:3118/other'],
    ['an encoded path', 'http://localhost:3118/%63allback'],
    ['an encoded slash', 'http://localhost:3118/callback%2f'],
    ['dot segments', 'http://localhost:3118/x/../callback'],
    ['a query', 'http://localhost:3118/callback?x=1'],
    ['an empty query', 'http://localhost:3118/callback?'],
    ['a fragment', 'http://localhost:3118/callback#x'],
    ['user information', 'http://x@localhost:3118/callback'],
    ['a loopback name as user information', 'http://localhost:3118@evil.example/callback'],
    ['a backslash', 'http://localhost:3118\\@evil.example/callback'],
    ['https', 'https://localhost:3118/callback'],
    ['another loopback name', 'http://127.0.0.1:3118/callback'],
    ['a name below localhost', 'http://localhost.evil.example:3118/callback'],
    ['a port with letters', 'http://localhost:3118x/callback'],
    ['a negative port', 'http://localhost:-1/callback'],
    ['capitals', 'HTTP://LOCALHOST:3118/callback'],
    ['a script', 'javascript:alert(1)'],
    ['data', 'data:text/html,x'],
  ])('are refused with %s', async (_what, redirect) => {
    const { client_id: id = '' } = await registered(REGISTRATIONS['Claude Code'].body);
    expect(await refusal(id, redirect)).toBe(400);
  });

  it('are refused with another port of a public host', async () => {
    const { client_id: id = '' } = await registered(REGISTRATIONS.Claude.body);
    expect(await refusal(id, 'https://claude.ai:8443/api/mcp/auth_callback')).toBe(400);
    expect(await refusal(id, 'https://claude.ai/api/mcp/auth_callback/')).toBe(400);
    expect(await refusal(id, 'https://claude.ai/api/mcp/auth_callback?x=1')).toBe(400);
  });

  it('are refused for an own scheme with another path', async () => {
    const { client_id: id = '' } = await registered(REGISTRATIONS.Cursor.body);
    expect(await refusal(id, 'cursor://anysphere.cursor-mcp/oauth/callback/x')).toBe(400);
    expect(await refusal(id, 'cursor://evil/oauth/callback')).toBe(400);
  });

  it('are refused for a client that is known by a document', async () => {
    const id = `${web.url}/vscode.json`;
    expect(await refusal(id, 'https://evil.example/redirect')).toBe(400);
    expect(await refusal(id, 'http://localhost:33418/')).toBe(400);
  });
});

describe('ids that are no clients', () => {
  it('of documents are refused where documents are not enabled', async () => {
    const { browser, url } = plain.begin(`${web.url}/vscode.json`, { redirect_uri: 'http://127.0.0.1:33418/' });
    const before = web.seen.length;
    const answer = await browser.get(url);
    expect([answer.status, answer.headers.get('location'), web.seen.length]).toEqual([400, null, before]);
  });

  it('of missing documents are refused with a page', async () => {
    const { browser, url } = rig.begin(`${web.url}/none.json`, { redirect_uri: 'http://127.0.0.1:33418/' });
    const answer = await browser.get(url);
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null]);
  });

  it('of documents whose server is away keep their tokens: 503, and no error in the log', async () => {
    const id = `${web.url}/away.json`;
    const { browser, url } = rig.begin(id, { redirect_uri: 'http://127.0.0.1:33418/' });
    expect((await browser.get(url)).status).toBe(503);
    const answer = await rig.token({ grant_type: 'refresh_token', client_id: id, refresh_token: 'x' });
    expect([answer.status, answer.body.error]).toEqual([503, 'temporarily_unavailable']);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(rig.http.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('cannot be taken over: a registration gets an id of its own', async () => {
    const id = `${web.url}/vscode.json`;
    const { client_id: own } = await registered({ client_id: id, redirect_uris: ['https://evil.example/cb'] });
    expect(own).not.toBe(id);
    expect(await refusal(id, 'https://evil.example/cb')).toBe(400);
  });
});
