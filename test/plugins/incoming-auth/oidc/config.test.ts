import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { oidcConfig } from '@toolmgr/plugins/incoming-auth/oidc';
import { describe, expect, it } from 'vitest';
import { certificates } from '../../../support/certificates.ts';
import { identityProvider } from '../../../support/identity-provider.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { AUDIENCE, oidcGateway } from '../../../support/oidc-gateway.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const LEAST = { issuer: 'https://id.example', clientId: 'gw', audience: 'api' };

/** `path: message` of everything that is wrong. */
const problems = (given: object): string[] => {
  const read = oidcConfig.safeParse({ ...LEAST, ...given });
  return read.success ? [] : read.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
};

describe('the configuration of incoming-auth/oidc', () => {
  proves(
    [
      'vmcp.config-incoming.oidc-issuer',
      'vmcp.config-incoming.oidc-client-id',
      'vmcp.config-incoming.oidc-audience',
      'vmcp.config-incoming.oidc-scopes',
      'vmcp.config-incoming.oidc-insecure-allow-http',
      'vmcp.config-incoming.oidc-jwks-allow-private-ip',
      'vmcp.config-incoming.oidc-protected-resource-allow-private-ip',
    ],
    'has three required keys, and defaults that are safe',
    () => {
      expect(oidcConfig.parse(LEAST)).toEqual({
        ...LEAST,
        scopes: ['openid'],
        insecureAllowHttp: false,
        jwksAllowPrivateIp: false,
        protectedResourceAllowPrivateIp: false,
      });
      for (const key of ['issuer', 'clientId', 'audience'] as const) {
        expect(problems({ [key]: undefined })[0]).toContain(`${key}: `);
        expect(problems({ [key]: '' })[0]).toContain(`${key}: `);
      }
      expect(problems({ scopes: 'openid' })).toHaveLength(1);
      expect(problems({ scopes: ['a b'] })).toHaveLength(1);
    },
  );

  proves('vmcp.config-incoming.oidc-insecure-allow-http', 'takes plain http only when told so, for every URL', () => {
    const urls = {
      issuer: 'http://id.example',
      jwksUrl: 'http://id.example/j',
      introspectionUrl: 'http://id.example/i',
    };
    expect(problems(urls)).toEqual(
      ['issuer', 'jwksUrl', 'introspectionUrl'].map(
        (key) => `${key}: expected https; plain http is not allowed (insecureAllowHttp allows it, for development)`,
      ),
    );
    expect(problems({ ...urls, insecureAllowHttp: true })).toEqual([]);
    expect(problems({ issuer: 'ldap://id.example' })[0]).toContain('starts with http:// or https://');
  });

  it('names the setting that a private address needs', () => {
    const words = 'leads to a private address, which is not allowed (jwksAllowPrivateIp allows it)';
    expect(problems({ jwksUrl: 'https://10.1.2.3/jwks' })).toEqual([`jwksUrl: ${words}`]);
    expect(problems({ jwksUrl: 'https://10.1.2.3/jwks', jwksAllowPrivateIp: true })).toEqual([]);
  });

  it('refuses settings that have no effect or cannot work', () => {
    expect(problems({ clientSecretEnv: 'X' })[0]).toContain('clientSecretEnv: is only sent to introspectionUrl');
    expect(problems({ resource: 'my-api' })[0]).toContain('resource: expected an http or https URL');
    expect(problems({ resource: 'https://gw.example/mcp#x' })).toHaveLength(1);
    expect(problems({ issuer: 'https://id.example?tenant=a' })[0]).toContain('issuer: ');
    expect(problems({ issuer: 'https://ada:word@id.example' })[0]).toContain('without user name and password');
    expect(problems({ jwksURL: 'https://id.example/jwks' })).toHaveLength(1);
  });

  proves(
    'vmcp.config-incoming.oidc-ca-bundle-path',
    'has a CA bundle for a provider with a certificate of its own',
    async () => {
      const folder = temporaryFolder('oidc');
      const made = certificates();
      const caBundlePath = join(folder, 'ca.crt');
      await writeFile(caBundlePath, made.ca);
      await using idp = await identityProvider();
      await using secure = await loopbackServer(async (_request, response) => {
        response.end(Buffer.from(await (await fetch(`${idp.issuer}/jwks`)).arrayBuffer()));
      }, made);
      const config = { jwksUrl: secure.url };
      const token = idp.sign({ sub: 'ada', aud: AUDIENCE });
      await using trusting = await oidcGateway(idp, { ...config, caBundlePath });
      await using doubting = await oidcGateway(idp, config);
      expect([await trusting.status(token), await doubting.status(token)]).toEqual([200, 503]);
      await rm(folder, { recursive: true });
      await expect(oidcGateway(idp, { ...config, caBundlePath })).rejects.toMatchObject({
        code: 'PLAN_INVALID',
        message: expect.stringContaining('incomingAuth.oidc.caBundlePath: cannot use'),
      });
    },
  );
});
