import type { JsonObject } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { createMemoryStorage } from '../../../../plugins/auth-server/storage/memory-storage.ts';
import type { AuthStorage } from '../../../../plugins/auth-server/storage/storage.ts';
import { issuerOf } from '../../../../plugins/auth-server/upstreams/oauth2/oauth2-endpoints.ts';
import type { Upstream } from '../../../../plugins/auth-server/upstreams/upstream.ts';
import { loginProvider } from '../../../support/login-provider.ts';
import { proves } from '../../../support/proves.ts';
import { CALLBACK, type Got, newLeg, scriptedProvider, signIn, soon, upstreamOf } from './support.ts';

const WELL_KNOWN = '/.well-known/oauth-authorization-server';

interface Registering {
  readonly metadata?: JsonObject;
  readonly client?: (got: Got, count: number) => unknown;
  readonly token?: (got: Got) => unknown;
  readonly dcr?: JsonObject;
  readonly fields?: JsonObject;
  readonly storage?: AuthStorage;
  readonly now?: () => number;
}

/** A provider that registers clients `client-1`, `client-2`, …, and a function that makes gateways for it. */
async function registering(options: Registering = {}) {
  let count = 0;
  let url = '';
  const server = await scriptedProvider({
    [WELL_KNOWN]: () => ({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      registration_endpoint: `${url}/clients`,
      scopes_supported: ['repo', 'gist'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      ...options.metadata,
    }),
    '/clients': (got) => {
      count += 1;
      const { client = () => ({ client_id: `client-${count}`, client_secret: `secret-${count}` }) } = options;
      return client(got, count);
    },
    '/register': () => ({ client_id: 'from-fallback' }),
    '/token': options.token ?? (() => ({ access_token: 'token', token_type: 'bearer', refresh_token: 'r1' })),
  });
  url = server.url;
  const storage = options.storage ?? createMemoryStorage(options.now ?? Date.now);
  const gateway = (dcr: JsonObject = options.dcr ?? {}, fields: JsonObject = options.fields ?? {}): Promise<Upstream> =>
    upstreamOf(
      {
        name: 'notes',
        type: 'oauth2',
        oauth2Config: { dcrConfig: { discoveryUrl: `${url}${WELL_KNOWN}`, ...dcr }, ...fields },
      },
      {
        storage,
        environment: { INITIAL: 'initial-access-token' },
        ...(options.now === undefined ? {} : { now: options.now }),
      },
    );
  const registrations = () =>
    server.got.filter(({ path }) => path === '/clients').map(({ body }) => JSON.parse(body) as JsonObject);
  return { ...server, storage, gateway, registrations };
}

async function clientOf(upstream: Upstream): Promise<string | null> {
  return new URL(await upstream.authorizationUrl(newLeg(), soon())).searchParams.get('client_id');
}

const exchanged = (upstream: Upstream, leg = newLeg()) =>
  upstream.exchange(new URLSearchParams({ code: 'c', state: leg.state }), leg, soon());

describe('dcrConfig', () => {
  proves(
    'vmcp.upstream.dcr.discovery-url-one-get',
    'reads endpoints, methods and scopes with one GET of discoveryUrl',
    async () => {
      const { gateway, got, url, registrations } = await registering();
      const upstream = await gateway();
      const asked = new URL(await upstream.authorizationUrl(newLeg(), soon()));
      expect(asked.origin + asked.pathname).toBe(`${url}/authorize`);
      expect(asked.searchParams.get('scope')).toBe('repo gist');
      expect((await exchanged(upstream)).tokens.scope).toBe('repo gist');
      expect(got.map(({ method, path }) => `${method} ${path}`)).toEqual([
        `GET ${WELL_KNOWN}`,
        'POST /clients',
        'POST /token',
      ]);
      expect(registrations()).toEqual([
        {
          client_name: 'toolmgr',
          application_type: 'web',
          redirect_uris: [CALLBACK],
          grant_types: ['authorization_code', 'refresh_token'],
          response_types: ['code'],
          token_endpoint_auth_method: 'client_secret_basic',
          scope: 'repo gist',
        },
      ]);
      const basic = Buffer.from('client-1:secret-1').toString('base64');
      expect(got.at(-1)?.headers.authorization).toBe(`Basic ${basic}`);
    },
  );

  proves(
    'vmcp.upstream.dcr.initial-access-token',
    'sends the initial access token, softwareId and softwareStatement with the registration only',
    async () => {
      const { gateway, got, registrations } = await registering();
      await clientOf(
        await gateway({
          initialAccessTokenRef: { env: 'INITIAL' },
          softwareId: 'toolmgr-1',
          softwareStatement: 'a.b.c',
        }),
      );
      expect(got.map(({ path, headers }) => [path, headers.authorization])).toEqual([
        [WELL_KNOWN, undefined],
        ['/clients', 'Bearer initial-access-token'],
      ]);
      expect(registrations()[0]).toMatchObject({ software_id: 'toolmgr-1', software_statement: 'a.b.c' });
    },
  );

  it('takes endpoints and scopes of the configuration with registrationEndpoint, without a GET', async () => {
    const { gateway, got, url, registrations } = await registering();
    const fields = { authorizationEndpoint: `${url}/a`, tokenEndpoint: `${url}/token`, scopes: ['own'] };
    const upstream = await gateway(
      { discoveryUrl: undefined as never, registrationEndpoint: `${url}/clients` },
      fields,
    );
    expect(await upstream.authorizationUrl(newLeg(), soon())).toContain(`${url}/a?`);
    expect(got.map(({ path }) => path)).toEqual(['/clients']);
    expect(registrations()[0]).toMatchObject({ scope: 'own', token_endpoint_auth_method: 'client_secret_basic' });
  });

  it('tries ISSUER/register when the document has no registration endpoint', async () => {
    const { gateway } = await registering({ metadata: { registration_endpoint: null } });
    expect(await clientOf(await gateway())).toBe('from-fallback');
  });

  it('registers a public client only where PKCE is listed', async () => {
    const metadata = { token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'] };
    const pkce = await registering({ metadata, client: () => ({ client_id: 'public' }) });
    expect(await clientOf(await pkce.gateway())).toBe('public');
    expect(pkce.registrations()[0]).toMatchObject({ token_endpoint_auth_method: 'none' });
    const without = await registering({ metadata: { ...metadata, code_challenge_methods_supported: ['plain'] } });
    await expect(clientOf(await without.gateway())).rejects.toThrow(
      'upstream notes: supports no method of client authentication that the gateway has',
    );
    expect(without.registrations()).toEqual([]);
  });

  it('knows the issuer of a document by the three forms of its URL', () => {
    for (const [url, issuer] of [
      ['https://a.example/.well-known/openid-configuration', 'https://a.example'],
      ['https://a.example/tenant/.well-known/openid-configuration', 'https://a.example/tenant'],
      ['https://a.example/.well-known/oauth-authorization-server/tenant', 'https://a.example/tenant'],
      ['https://a.example/meta.json', 'https://a.example'],
    ] as const) {
      expect(issuerOf(url)).toBe(issuer);
    }
  });

  it('signs in at oidc-provider with a registered client, and refreshes', async () => {
    await using idp = await loginProvider({
      configure: (given) => ({ ...given, scopes: ['openid', 'offline_access', 'tools'] }),
    });
    const upstream = await upstreamOf({
      name: 'notes',
      type: 'oauth2',
      oauth2Config: {
        scopes: ['openid', 'offline_access'],
        additionalAuthorizationParams: { prompt: 'consent' },
        dcrConfig: { discoveryUrl: `${idp.issuer}/.well-known/openid-configuration` },
        identityFromToken: { subjectPath: 'id_token|@upstreamjwt|sub' },
      },
    });
    const { identity, tokens } = await signIn(upstream);
    expect(identity.subject).toBe('ada');
    const refreshed = await upstream.refresh(tokens, soon());
    expect(refreshed.tokens.clientId).toBe(tokens.clientId);
    expect(idp.seen.filter((request) => request === 'POST /reg')).toHaveLength(1);
  });
});

describe('a registered client', () => {
  it('is kept in the storage: restarts and replicas use it', async () => {
    const { gateway, registrations } = await registering();
    expect(await clientOf(await gateway())).toBe('client-1');
    expect(await clientOf(await gateway())).toBe('client-1');
    expect(registrations()).toHaveLength(1);
  });

  it('is registered without openid at a provider that allows this scope to all, but in no registration (Keycloak)', async () => {
    const { gateway, registrations } = await registering({
      client: ({ body, response }, count) => {
        const { scope = '' } = JSON.parse(body) as { readonly scope?: string };
        if (!scope.split(' ').includes('openid')) return { client_id: `client-${count}`, client_secret: 's' };
        return void response.writeHead(403).end('{"error":"insufficient_scope","error_description":"canary"}');
      },
    });
    const upstream = await gateway({}, { scopes: ['openid', 'email'] });
    const asked = new URL(await upstream.authorizationUrl(newLeg(), soon()));
    expect(asked.searchParams.get('scope')).toBe('openid email');
    expect(registrations().map(({ scope }) => scope)).toEqual(['openid email', 'email']);
  });

  it.each([
    ['insufficient_scope', 'status 403: insufficient_scope); check scopes', ['email']],
    ['invalid_token', 'status 403: invalid_token); check initialAccessTokenRef', ['openid']],
    ['canary', 'status 403); check initialAccessTokenRef', ['openid']],
  ])('that is refused with 403 %s names the setting to check, after one request', async (error, message, scopes) => {
    const { gateway, registrations } = await registering({
      client: ({ response }) => void response.writeHead(403).end(JSON.stringify({ error })),
    });
    await expect(clientOf(await gateway({}, { scopes }))).rejects.toThrow(
      `upstream notes: registers no client for the gateway (${message}`,
    );
    expect(registrations()).toHaveLength(1);
  });

  proves('choice.upstream.registered-once', 'is registered once by replicas that start together', async () => {
    const { gateway, registrations } = await registering({
      client: async () => {
        await new Promise((resolve) => setTimeout(resolve, 300));
        return { client_id: 'slow' };
      },
    });
    const replicas = await Promise.all([gateway(), gateway(), gateway()]);
    const all = await Promise.all(replicas.flatMap((replica) => [clientOf(replica), clientOf(replica)]));
    expect(all).toEqual(Array(6).fill('slow'));
    expect(registrations()).toHaveLength(1);
  });

  proves(
    'choice.upstream.client-of-row',
    'of other scopes is another client; tokens of the old one are refreshed with its credentials',
    async () => {
      const { gateway, got } = await registering();
      const first = await gateway({}, { scopes: ['repo'] });
      await clientOf(first);
      const { tokens } = await exchanged(first);
      expect(tokens.clientId).toBe('client-1');

      const changed = await gateway({}, { scopes: ['repo', 'gist'] });
      expect(await clientOf(changed)).toBe('client-2');
      const { tokens: fresh } = await changed.refresh(tokens, soon());
      expect(fresh.clientId).toBe('client-1');
      expect(got.at(-1)?.headers.authorization).toBe(`Basic ${Buffer.from('client-1:secret-1').toString('base64')}`);
      await expect(changed.refresh({ ...tokens, clientId: 'unknown' }, soon())).rejects.toThrow(
        'the tokens were issued to a client that is not kept any more (invalid_grant)',
      );
    },
  );

  it('is registered anew before its secret ends', async () => {
    let nowMs = Date.now();
    const endsS = Math.floor(nowMs / 1000) + 3600;
    const { gateway } = await registering({
      now: () => nowMs,
      client: (_got, count) => ({
        client_id: `client-${count}`,
        client_secret: 's',
        client_secret_expires_at: count === 1 ? endsS : 0,
      }),
    });
    const upstream = await gateway();
    expect(await clientOf(upstream)).toBe('client-1');
    nowMs += 40 * 60_000;
    expect(await clientOf(upstream)).toBe('client-1');
    nowMs += 6 * 60_000;
    expect(await clientOf(upstream)).toBe('client-2');
    nowMs += 365 * 24 * 3_600_000;
    expect(await clientOf(upstream)).toBe('client-2');
  });

  it('that the provider does not know any more is replaced', async () => {
    let isForgotten = false;
    const { gateway } = await registering({
      token: ({ response }) => {
        if (!isForgotten) return { access_token: 'token', token_type: 'bearer', refresh_token: 'r1' };
        response.writeHead(401).end('{"error":"invalid_client"}');
        return undefined;
      },
    });
    const upstream = await gateway();
    expect(await clientOf(upstream)).toBe('client-1');
    const { tokens } = await exchanged(upstream);
    isForgotten = true;
    await expect(upstream.refresh(tokens, soon())).rejects.toMatchObject({
      name: 'UpstreamRefusal',
      code: 'invalid_client',
    });
    expect(await clientOf(upstream)).toBe('client-2');
  });

  proves('choice.upstream.registered-once', 'is not asked for again at once when the provider refused', async () => {
    let nowMs = Date.now();
    const { gateway, registrations } = await registering({
      now: () => nowMs,
      client: ({ response }) =>
        void response.writeHead(400).end('{"error":"invalid_redirect_uri","error_description":"canary"}'),
    });
    const upstream = await gateway();
    for (let tries = 0; tries < 3; tries++) {
      await expect(clientOf(upstream)).rejects.toMatchObject({
        code: 'REMOTE_UNAVAILABLE',
        message: 'upstream notes: registers no client for the gateway (status 400: invalid_redirect_uri)',
      });
    }
    expect(registrations()).toHaveLength(1);
    nowMs += 31_000;
    await expect(clientOf(upstream)).rejects.toThrow('registers no client');
    expect(registrations()).toHaveLength(2);
  });
});
