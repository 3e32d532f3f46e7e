import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { httpBrowser } from '../../support/http-browser.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { freePort, providerFor, signInWith, tokenServer } from '../../support/sign-in-gateway.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { startToolmgr, toolmgr } from './toolmgr.ts';

const MS = 120_000;

describe('toolmgr run --from-config with an authorization server', () => {
  it(
    'signs a person in and sends the server their token of the provider',
    async () => {
      await using closing = new AsyncDisposableStack();
      const state = temporaryFolder('embedded-auth');
      const port = await freePort();
      const issuer = `http://127.0.0.1:${port}`;
      const url = `${issuer}/mcp`;
      const provider = closing.use(await providerFor(url));
      const server = await tokenServer(closing, provider, false);
      const config = {
        schema_version: 'v0.1.0',
        ...{ name: 'tools', transport: 'streamable-http', remote_url: server.url, port },
        oidc_config: { issuer, audience: url },
        embedded_auth_server_config: {
          issuer,
          upstreams: [
            {
              name: 'corp',
              type: 'oidc',
              oidc_config: {
                ...{ issuer_url: provider.issuer, client_id: 'toolmgr', allow_private_ips: true },
                client_secret_env_var: 'TOOLMGR_TEST_UPSTREAM_SECRET',
              },
            },
          ],
        },
        upstream_swap_config: { provider_name: 'corp' },
      };
      const file = join(state, 'config.json');
      await writeFile(file, JSON.stringify(config));
      const env = { TOOLMGR_TEST_UPSTREAM_SECRET: process.env.TOOLMGR_TEST_UPSTREAM_SECRET ?? '' };
      const started = await startToolmgr(state, ['run', '--from-config', file], '/', env).ended;
      closing.defer(async () => expect(await toolmgr(state, 'rm', '--force', 'tools')).toMatchObject({ code: 0 }));
      expect(started.err).not.toContain(env.TOOLMGR_TEST_UPSTREAM_SECRET);
      expect(started.code, started.err).toBe(0);
      const call = (token: string) =>
        postModern(
          url,
          'tools/call',
          { name: 'whoami', arguments: {} },
          { headers: { authorization: `Bearer ${token}` } },
        );
      expect((await call('no-token')).status).toBe(401);
      const { access_token: token } = await signInWith({ issuer, url }, httpBrowser());
      const { status, json } = await call(token);
      expect(status, JSON.stringify(json)).toBe(200);
      expect(json.result).toMatchObject({ content: [{ type: 'text', text: 'ada' }] });
    },
    MS,
  );
});
