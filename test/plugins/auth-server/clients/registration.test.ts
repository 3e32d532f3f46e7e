import { describe, expect, it } from 'vitest';
import { proves } from '../../../support/proves.ts';
import { REGISTRATIONS } from './client-requests.ts';
import { clientsOnMemory, register } from './registering.ts';

const GOOD = { redirect_uris: ['https://app.example/cb'] };

describe('dynamic registration', () => {
  it.each(Object.entries(REGISTRATIONS))('registers %s', async (name, { body, redirect }) => {
    const { clients } = clientsOnMemory();
    const answered = await register(clients, body);
    expect([answered.status, answered.headers['cache-control']]).toEqual([201, 'no-store']);
    expect(answered.json).toMatchObject({
      client_name: body.client_name,
      redirect_uris: body.redirect_uris,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      application_type: name === 'Claude' ? 'web' : 'native',
      scope: 'scope' in body && body.scope !== '' ? body.scope : 'openid profile email offline_access',
    });
    expect(answered.json).not.toHaveProperty('client_secret');
    expect(redirect).toBeTruthy();
    expect(await clients.find(String(answered.json.client_id), undefined)).toMatchObject({
      client_name: body.client_name,
    });
  });

  proves('choice.clients.own-id', 'gives an id of its own, whatever the request says', async () => {
    const { clients } = clientsOnMemory({ cimd: { enabled: true, cacheFallbackTtl: 1, cacheMaxSize: 1 } });
    const id = 'https://vscode.dev/oauth/client-metadata.json';
    const { status, json } = await register(clients, {
      ...GOOD,
      client_id: id,
      client_secret: 'mine',
      client_id_issued_at: 1,
    });
    expect(status).toBe(201);
    expect(json.client_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(json).not.toHaveProperty('client_secret');
    expect(json.client_id_issued_at).toBe(1_800_000_000);
  });

  it('ignores members with null', async () => {
    const { clients } = clientsOnMemory();
    const nothing = {
      scope: null,
      grant_types: null,
      response_types: null,
      client_name: null,
      token_endpoint_auth_method: null,
    };
    expect((await register(clients, { ...GOOD, ...nothing })).status).toBe(201);
  });

  it('leaves out pages that are not https', async () => {
    const { clients } = clientsOnMemory();
    const { json } = await register(clients, {
      ...GOOD,
      client_uri: 'javascript:alert(1)',
      logo_uri: 'http://x.example',
    });
    expect(json).not.toHaveProperty('client_uri');
    expect(json).not.toHaveProperty('logo_uri');
  });

  it.each([
    ['no redirect', {}, 'invalid_redirect_uri', 'redirect_uris: expected 1 to 10 URIs'],
    ['an empty list', { redirect_uris: [] }, 'invalid_redirect_uri', 'redirect_uris: expected 1 to 10 URIs'],
    [
      'a text',
      { redirect_uris: 'https://a.example/cb' },
      'invalid_redirect_uri',
      'redirect_uris: expected 1 to 10 URIs',
    ],
    ['eleven', { redirect_uris: Array(11).fill('https://a.example/cb') }, 'invalid_redirect_uri', '1 to 10 URIs'],
    ['a number', { redirect_uris: [7] }, 'invalid_redirect_uri', 'redirect_uris[0]: expected a text'],
    [
      'a bad second one',
      { redirect_uris: ['https://a.example', 'ftp://b'] },
      'invalid_redirect_uri',
      'redirect_uris[1]: the scheme ftp',
    ],
    [
      'another grant',
      { ...GOOD, grant_types: ['authorization_code', 'password'] },
      'invalid_client_metadata',
      'grant_types',
    ],
    ['only refresh', { ...GOOD, grant_types: ['refresh_token'] }, 'invalid_client_metadata', 'grant_types'],
    [
      'token exchange without a secret',
      { ...GOOD, grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:token-exchange'] },
      'invalid_client_metadata',
      'grant_types',
    ],
    ['the implicit flow', { ...GOOD, response_types: ['code', 'token'] }, 'invalid_client_metadata', 'response_types'],
    [
      'an unsupported scope',
      { ...GOOD, scope: 'openid admin' },
      'invalid_client_metadata',
      'scope: expected some of openid',
    ],
    ['a scope as a number', { ...GOOD, scope: 3 }, 'invalid_client_metadata', 'scope'],
    ['a key', { ...GOOD, token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata', 'expected none'],
    ['a long name', { ...GOOD, client_name: 'x'.repeat(257) }, 'invalid_client_metadata', 'client_name'],
    [
      'a name that changes its direction',
      { ...GOOD, client_name: 'Claude\u202e' },
      'invalid_client_metadata',
      'client_name',
    ],
    ['a name with a line end', { ...GOOD, client_name: 'a\nb' }, 'invalid_client_metadata', 'client_name'],
    ['a software id outside ASCII', { ...GOOD, software_id: 'é' }, 'invalid_client_metadata', 'software_id'],
  ])('refuses %s', async (_what, body, error, words) => {
    const { clients } = clientsOnMemory();
    const { status, json } = await register(clients, body);
    expect([status, json.error]).toEqual([400, error]);
    expect(json.error_description).toContain(words);
  });

  it.each([
    ['no JSON', '{', 'application/json', 400],
    ['a list', '[]', 'application/json', 400],
    [
      'repeated members',
      '{"redirect_uris":["https://a.example"],"redirect_uris":["https://b.example"]}',
      'application/json',
      400,
    ],
    ['another content type', JSON.stringify(GOOD), 'text/plain', 400],
    ['a form', JSON.stringify(GOOD), 'application/x-www-form-urlencoded', 400],
    ['a large body', JSON.stringify({ ...GOOD, x: 'y'.repeat(65_536) }), 'application/json', 413],
    ['deep nesting', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`, 'application/json', 400],
  ])('refuses %s as a body', async (_what, body, type, status) => {
    const { clients } = clientsOnMemory();
    const answered = await register(clients, body, { type });
    expect([answered.status, answered.json.error]).toEqual([status, 'invalid_client_metadata']);
  });

  proves('vmcp.auth-server.baseline-client-scopes', 'adds the baseline scopes to every registration', async () => {
    const { clients } = clientsOnMemory({ baselineClientScopes: ['tools'] });
    expect((await register(clients, { ...GOOD, scope: 'openid' })).json.scope).toBe('openid tools');
    expect((await register(clients, GOOD)).json.scope).toBe('openid profile email offline_access tools');
    expect((await register(clients, { ...GOOD, scope: ['tools', 'openid'] })).json.scope).toBe('tools openid');
  });

  proves(
    'vmcp.auth-server.baseline-client-scopes-supported',
    'does not start with a baseline scope that the server does not support',
    () => {
      expect(() => clientsOnMemory({ baselineClientScopes: ['tools', 'admin'] })).toThrow(
        'authServerConfig.baselineClientScopes: admin not supported; expected some of openid, profile',
      );
    },
  );

  it('registers clients that send no scope with a server that supports openid only', async () => {
    const { clients } = clientsOnMemory({ supportedScopes: ['openid'] });
    expect((await register(clients, GOOD)).json.scope).toBe('openid');
  });

  proves(
    'choice.clients.secret',
    'gives a secret once and keeps only its SHA-256, when clients may have secrets',
    async () => {
      const { clients, storage } = clientsOnMemory({ confidentialClients: true });
      const { json } = await register(clients, { ...GOOD, token_endpoint_auth_method: 'client_secret_basic' });
      const secret = String(json.client_secret);
      expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
      expect(json).toMatchObject({ client_secret_expires_at: 0, token_endpoint_auth_method: 'client_secret_basic' });
      const stored = JSON.stringify(await storage.get(`client:${json.client_id}`));
      expect(stored).not.toContain(secret);
      expect(await clients.find(String(json.client_id), undefined)).toMatchObject({
        client_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
    },
  );

  it('refuses local redirects of clients with a secret', async () => {
    const { clients } = clientsOnMemory({ confidentialClients: true });
    for (const uri of ['http://localhost/cb', 'cursor://x/cb', 'https://localhost/cb']) {
      const body = { redirect_uris: ['https://a.example/cb', uri], token_endpoint_auth_method: 'client_secret_post' };
      expect((await register(clients, body)).json).toMatchObject({ error: 'invalid_redirect_uri' });
    }
  });
});
