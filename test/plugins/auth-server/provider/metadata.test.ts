import { generateKeyPairSync } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readServerSecrets } from '../../../../plugins/auth-server/provider/server-secrets.ts';
import { authServerRig, claimsOf, headerOf } from '../../../support/auth-server-rig.ts';
import { pluginCore } from '../../../support/plugin-core.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

describe('the public documents', () => {
  it('say what the server does, and nothing more', async () => {
    await using rig = await authServerRig();
    const { issuer } = rig;
    const answer = await fetch(`${issuer}/.well-known/oauth-authorization-server`, {
      headers: { origin: 'https://app.example' },
    });
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    const oauth = await answer.json();
    expect(oauth).toEqual({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      registration_endpoint: `${issuer}/oauth/register`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      revocation_endpoint_auth_methods_supported: ['none'],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      scopes_supported: ['openid', 'profile', 'email', 'offline_access'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:token-exchange'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: false,
    });
    const openid = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
    expect(openid).toEqual({
      ...(oauth as object),
      subject_types_supported: ['public'],
      claims_supported: ['sub', 'name', 'email'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    const keys = await fetch(`${issuer}/.well-known/jwks.json`, { headers: { origin: 'https://app.example' } });
    expect(keys.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(keys.headers.get('access-control-allow-origin')).toBe('*');
    expect(await keys.text()).not.toContain('"d"');
  });

  proves(
    [
      'vmcp.auth-server.authorization-endpoint-advertised',
      'vmcp.auth-server.other-endpoints-issuer',
      'vmcp.surface.oauth-authorize',
    ],
    'name another base URL for the authorization endpoint only, where the browser then stays',
    async () => {
      await using rig = await authServerRig({ config: { authorizationEndpointBaseUrl: 'https://login.example/base' } });
      const document = (await (await fetch(`${rig.issuer}/.well-known/oauth-authorization-server`)).json()) as Record<
        string,
        string
      >;
      expect(document.authorization_endpoint).toBe('https://login.example/base/oauth/authorize');
      expect(document.token_endpoint).toBe(`${rig.issuer}/oauth/token`);
      for (const path of ['', '/base']) {
        const { url } = rig.begin(await rig.register());
        const begun = new URL(url);
        const answer = await fetch(`${begun.origin}${path}${begun.pathname}${begun.search}`, { redirect: 'manual' });
        expect(answer.headers.get('location')).toMatch(/^https:\/\/login\.example\/base\/oauth\/sign-in\//);
        const cookies = answer.headers.getSetCookie();
        expect(cookies.some((line) => / path=\/base\/oauth\/authorize\//i.test(line))).toBe(true);
        for (const line of cookies)
          expect(line).toMatch(/; secure; httponly; samesite=lax|; samesite=lax; secure; httponly/i);
      }
    },
  );

  it('takes no URL from headers of the request', async () => {
    await using rig = await authServerRig();
    const { url } = rig.begin(await rig.register());
    const headers = {
      'x-forwarded-host': 'evil.example',
      'x-forwarded-proto': 'https',
      forwarded: 'host=evil.example',
    };
    const answer = await fetch(url, { redirect: 'manual', headers });
    expect(answer.headers.get('location')).toMatch(new RegExp(`^${rig.issuer}/oauth/sign-in/`));
    expect(JSON.stringify([...answer.headers])).not.toContain('evil');
  });

  it('allows browser applications of every origin at token, registration and revocation, without cookies', async () => {
    await using rig = await authServerRig();
    for (const path of ['/oauth/token', '/oauth/register', '/oauth/revoke']) {
      const answer = await fetch(`${rig.http.origin}${path}`, {
        method: 'POST',
        headers: { origin: 'https://app.example' },
      });
      expect(answer.headers.get('access-control-allow-origin'), path).toBe('*');
      expect(answer.headers.get('access-control-allow-credentials'), path).toBeNull();
    }
    const page = await fetch(`${rig.http.origin}/oauth/authorize`, { headers: { origin: 'https://app.example' } });
    expect(page.status).toBe(403);
  });
});

describe('signing keys', () => {
  proves(
    'vmcp.auth-server.signing-key-secret-refs',
    'of every kind sign tokens, and older ones stay published',
    async () => {
      onTestFinished(() => void vi.unstubAllEnvs());
      const folder = temporaryFolder('keys');
      const pem = { type: 'pkcs8', format: 'pem' } as const;
      const kinds = {
        RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export(pem),
        ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'sec1', format: 'pem' }),
        ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey.export(pem),
        ES512: generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey.export(pem),
        EdDSA: generateKeyPairSync('ed25519').privateKey.export(pem),
      };
      vi.stubEnv('TOOLMGR_SECRETS_DIR', folder);
      await mkdir(join(folder, 'signing'));
      for (const [alg, text] of Object.entries(kinds)) await writeFile(join(folder, 'signing', alg), text);
      for (const alg of Object.keys(kinds)) {
        const older = alg === 'ES256' ? [] : [{ name: 'signing', key: 'ES256' }];
        await using rig = await authServerRig({
          config: { signingKeySecretRefs: [{ name: 'signing', key: alg }, ...older] },
        });
        const { access } = await rig.tokens();
        const header = headerOf(access);
        expect(header.alg).toBe(alg);
        const { keys } = (await (await fetch(`${rig.issuer}/.well-known/jwks.json`)).json()) as {
          keys: { kid: string }[];
        };
        expect(keys[0]?.kid).toBe(header.kid);
        expect(keys).toHaveLength(alg === 'ES256' ? 1 : 2);
      }
    },
  );

  proves(
    'vmcp.auth-server.hmac-secret-length',
    'that are too weak or of another kind are refused with their setting, without the key',
    async () => {
      const folder = temporaryFolder('keys');
      const file = join(folder, 'key.pem');
      const pem = { type: 'pkcs8', format: 'pem' } as const;
      for (const text of [
        generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export(pem),
        generateKeyPairSync('x25519').privateKey.export(pem),
        generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey.export(pem),
        'CANARY-not-a-key',
      ]) {
        await writeFile(file, text);
        const failure = await authServerRig({ config: { signingKeySecretRefs: [{ file }] } }).catch(
          (cause: Error) => cause,
        );
        expect(String(failure)).toMatch(/authServerConfig\.signingKeySecretRefs\[0\]: expected an? (RSA|PEM)/);
        expect(String(failure)).not.toContain('CANARY');
      }
      await writeFile(file, 'x'.repeat(31));
      await expect(authServerRig({ config: { hmacSecretRefs: [{ file }] } })).rejects.toThrow(
        'authServerConfig.hmacSecretRefs[0]: expected at least 32 bytes, found 31',
      );
    },
  );

  proves(
    ['vmcp.auth-server.hmac-secret-ephemeral', 'vmcp.auth-server.signing-key-ephemeral'],
    'that are not configured are made with one warning, stay the same after a reload, and end with the process',
    async () => {
      await using rig = await authServerRig();
      expect(rig.http.logged.filter(({ level }) => level === 'warn')).toEqual([
        expect.objectContaining({ fields: { issuer: rig.issuer, missing: 'signingKeySecretRefs and hmacSecretRefs' } }),
      ]);
      const { access } = await rig.tokens();
      await using replica = await authServerRig({ issuer: rig.issuer });
      expect((await replica.server.issuer.keys())[0]?.kid).toBe(headerOf(access).kid);
      expect(claimsOf(access).iss).toBe(rig.issuer);

      vi.resetModules(); // the memory of another process
      const { readServerSecrets: restarted } = await import(
        '../../../../plugins/auth-server/provider/server-secrets.ts'
      );
      const settings = { issuer: rig.issuer, signingKeySecretRefs: [], hmacSecretRefs: [] };
      const [one, other] = [await readServerSecrets(pluginCore(), settings), await restarted(pluginCore(), settings)];
      expect(one.signingKeys[0].kid).toBe(headerOf(access).kid);
      expect(other.signingKeys[0].kid).not.toBe(one.signingKeys[0].kid);
      expect(other.hmacSecrets[0].equals(one.hmacSecrets[0])).toBe(false);
    },
  );
});
