import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import getPort from 'get-port';
import { jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';
import type { IdentityProvider } from '../../../support/identity-provider.ts';
import { LOGIN_CLIENTS, loginProvider } from '../../../support/login-provider.ts';
import { type LoopbackServer, loopbackServer } from '../../../support/loopback-server.ts';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { followLogin } from '../../../support/oauth-remote.ts';
import { proves } from '../../../support/proves.ts';
import { until } from '../../../support/until.ts';
import { manyRecords } from './full-registry.ts';

const REGISTRY = '/api/v1beta/registry';
const LISTING = '/registry/default/v0.1/servers';

/** A registry server that takes only tokens for itself. `tokens` are those that it got. */
async function privateRegistry(
  idp: IdentityProvider,
): Promise<LoopbackServer & { readonly tokens: (string | undefined)[]; away: boolean }> {
  const tokens: (string | undefined)[] = [];
  const registry = { away: false };
  const server = await loopbackServer(async (request, response) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    tokens.push(token);
    const key = idp.publicKeys().find(({ alg }) => alg === 'ES256')?.key;
    const isAccepted =
      token !== undefined &&
      key !== undefined &&
      (await jwtVerify(token, key, { issuer: idp.issuer, audience: server.url }).then(
        () => true,
        () => false,
      ));
    if (registry.away) response.writeHead(503).end();
    else if (!isAccepted) response.writeHead(401).end();
    else if (request.url?.startsWith('/v0.1/x/')) response.writeHead(404).end();
    else response.end(JSON.stringify({ servers: manyRecords(3).map((record) => ({ server: record })), metadata: {} }));
  });
  return Object.assign(registry, server, { tokens });
}

const entryOf = async (manager: StartedManager) => {
  const { body } = await manager.request('GET', REGISTRY);
  return body.registries[0];
};

describe('a registry with a sign-in', () => {
  proves(
    [
      'manager.registry.auth-config',
      'manager.registry.auth-status',
      'manager.registry.auth-type',
      'manager.authentication.registry-data',
    ],
    'is used after the person signed in; tokens are refreshed, sent to it only, and forgotten by a logout',
    async () => {
      await using idp = await loginProvider({ accessTokenSeconds: 20 }); // each use refreshes it
      await using registry = await privateRegistry(idp);
      await using open = await loopbackServer((request, response) => {
        seenByOpen.push(request.headers.authorization);
        response.end(JSON.stringify({ servers: { one: { image: 'example/one:1', transport: 'stdio' } } }));
      });
      const seenByOpen: (string | undefined)[] = [];
      await using manager = await startManager();
      const auth = {
        ...{ issuer: idp.issuer, client_id: LOGIN_CLIENTS.app.id, audience: registry.url },
        ...{ scopes: ['openid', 'offline_access'], callback_port: await getPort() },
      };
      const settings = { api_url: registry.url, allow_private_ip: true, auth };
      expect((await manager.request('PUT', `${REGISTRY}/default`, settings)).body).toEqual({ type: 'api' });
      const other = { name: 'open', url: `${open.url}/r.json`, allow_private_ip: true };
      expect((await manager.request('POST', REGISTRY, other)).status).toBe(201);

      expect(await entryOf(manager)).toMatchObject({
        auth_type: 'oauth',
        auth_status: 'configured',
        auth_config: auth,
      });
      const before = await manager.request('GET', `${REGISTRY}/default/servers`);
      expect(before.body.notes).toEqual([expect.stringContaining('toolmgr registry login default')]);
      expect(registry.tokens).toEqual([]); // it is not asked without a token

      const login = await manager.request('POST', `${REGISTRY}/auth/login`, { skip_browser: true });
      expect([login.status, login.body.status]).toEqual([202, 'pending']);
      const url = new URL(login.body.url);
      expect(url.searchParams.get('code_challenge_method')).toBe('S256');
      expect((await followLogin(login.body.url))?.status).toBe(200);
      await until(async () => (await entryOf(manager)).auth_status === 'authenticated');

      await manager.request('POST', `${REGISTRY}/default/refresh`);
      const after = await manager.request('GET', LISTING);
      expect([after.status, after.body.metadata.total]).toEqual([200, 4]);
      const first = registry.tokens.at(-1);
      await manager.request('POST', `${REGISTRY}/default/refresh`);
      expect(registry.tokens.at(-1)).not.toBe(first);
      expect(seenByOpen.every((header) => header === undefined)).toBe(true);

      const file = join(manager.state, '.registry-logins.json');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const secrets = Object.values(JSON.parse(await readFile(file, 'utf8'))).map((text) => JSON.parse(text as string));
      const everything = JSON.stringify([await entryOf(manager), after.body, manager.logged]);
      expect(secrets).toHaveLength(1);
      for (const { refreshToken, accessToken } of secrets) {
        expect(refreshToken).toEqual(expect.any(String));
        expect(everything).not.toContain(refreshToken);
        expect(everything).not.toContain(accessToken);
      }

      expect((await manager.request('POST', `${REGISTRY}/auth/logout`)).body).toEqual({ status: 'logged_out' });
      expect((await entryOf(manager)).auth_status).toBe('configured');
      expect(await readFile(file, 'utf8')).not.toContain('refreshToken');
    },
  );

  it('is served from its copy when it is away, and not when the sign-in was refused', async () => {
    await using idp = await loginProvider({ accessTokenSeconds: 20 });
    await using registry = await privateRegistry(idp);
    await using manager = await startManager();
    const auth = { issuer: idp.issuer, client_id: LOGIN_CLIENTS.app.id, audience: registry.url };
    await manager.request('PUT', `${REGISTRY}/default`, { api_url: registry.url, allow_private_ip: true, auth });
    const { body } = await manager.request('POST', `${REGISTRY}/auth/login`, { name: 'default', skip_browser: true });
    await followLogin(body.url);
    await until(async () => (await entryOf(manager)).auth_status === 'authenticated');
    const refresh = () => manager.request('POST', `${REGISTRY}/default/refresh`);
    expect((await refresh()).body).toMatchObject({ server_count: 3, notes: [] });

    registry.away = true;
    expect((await refresh()).body).toMatchObject({ server_count: 3, notes: [expect.stringContaining('the copy of')] });
    registry.away = false;
    idp.revokeAll();
    const refused = await refresh();
    expect([refused.status, refused.body.code]).toEqual([503, 'registry_auth_required']);
    expect((await entryOf(manager)).auth_status).toBe('configured');
  });

  it('ends the sign-in that waits when another one begins, when the manager stops, and its tokens with another source', async () => {
    await using idp = await loginProvider();
    await using registry = await privateRegistry(idp);
    await using manager = await startManager();
    const auth = {
      ...{ issuer: idp.issuer, client_id: LOGIN_CLIENTS.app.id, audience: registry.url },
      callback_port: await getPort(),
    };
    await manager.request('PUT', `${REGISTRY}/default`, { api_url: registry.url, allow_private_ip: true, auth });
    const login = async () =>
      (await manager.request('POST', `${REGISTRY}/auth/login`, { skip_browser: true })).body.url;
    const first = await login();
    const second = await login();
    expect(second).toEqual(expect.any(String));
    expect(second).not.toBe(first);
    expect((await followLogin(first))?.status).toBe(400);
    expect((await followLogin(second))?.status).toBe(200);
    await until(async () => (await entryOf(manager)).auth_status === 'authenticated');
    await manager.request('PUT', `${REGISTRY}/default`, {});
    expect(await readFile(join(manager.state, '.registry-logins.json'), 'utf8')).toBe('{}\n');

    await manager.request('PUT', `${REGISTRY}/default`, { api_url: registry.url, allow_private_ip: true, auth });
    expect(await login()).toEqual(expect.any(String));
    await manager.stop();
    await until(() =>
      fetch(`http://127.0.0.1:${auth.callback_port}/callback`).then(
        () => false,
        () => true,
      ),
    );
  });

  it('is signed in to by name, and a login without a sign-in is refused', async () => {
    await using manager = await startManager();
    const login = (body?: object) => manager.request('POST', `${REGISTRY}/auth/login`, body);
    expect((await login()).status).toBe(400);
    expect((await login({ name: 'other' })).status).toBe(404);
    expect((await login({ name: 'built-in' })).status).toBe(400);
    expect((await login({ naem: 'default' })).status).toBe(400);
    const unreachable = { issuer: 'http://127.0.0.1:1', client_id: 'c' };
    const settings = { api_url: 'http://127.0.0.1:1', allow_private_ip: true, auth: unreachable };
    expect((await manager.request('PUT', `${REGISTRY}/default`, settings)).status).toBe(200);
    const failed = await login({ skip_browser: true });
    expect([failed.status, failed.body.code]).toEqual([502, 'upstream_failed']);
  });
});
