import { writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { cli, type RunningCli, startCli } from '../../support/cli.ts';
import { CLIENTS, type IdentityProvider, identityProvider } from '../../support/identity-provider.ts';
import { AUDIENCE } from '../../support/oidc-gateway.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const LONG = 120_000;
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('oidc');
});

/** A vmcp file that trusts the provider, with one backend. */
const configOf = ({ issuer }: Pick<IdentityProvider, 'issuer'>, backend: string, oidc: object = {}) => ({
  name: 'guarded',
  groupRef: 'dev',
  incomingAuth: {
    type: 'oidc',
    oidc: {
      issuer,
      clientId: CLIENTS.gateway.id,
      audience: AUDIENCE,
      insecureAllowHttp: true,
      jwksAllowPrivateIp: true,
      ...oidc,
    },
  },
  outgoingAuth: { source: 'inline' },
  aggregation: { conflictResolution: 'prefix' },
  backends: [{ name: 'far', url: backend, transport: 'streamable-http' }],
});

const serve = async (config: object, ...more: string[]): Promise<RunningCli> => {
  const file = join(folder, 'vmcp.yaml');
  await writeFile(file, stringify(config));
  return startCli(['vmcp', 'serve', '-c', file, '--port', '0', ...more], {
    env: { OIDC_CLIENT_SECRET: CLIENTS.gateway.secret },
  });
};

const endpointOf = async (running: RunningCli): Promise<string> => {
  const [, url = ''] = await running.printed(/serves (http:\S+)/);
  const { origin } = new URL(url);
  await until(async () => ((await (await fetch(`${origin}/status`)).json()) as { healthy: boolean }).healthy);
  return url;
};

const list = (url: string, token?: string) =>
  postModern(url, 'tools/list', {}, { headers: token === undefined ? {} : { authorization: `Bearer ${token}` } });

describe('toolmgr vmcp serve with type oidc', () => {
  proves(
    ['vmcp.config-incoming.type-oidc', 'choice.oidc.metadata', 'choice.oidc.rotation'],
    'serves SDK clients with a token, refers others to the provider, and follows a rotation of keys',
    async () => {
      await using idp = await identityProvider();
      await using far = await recordingServer();
      await using running = await serve(configOf(idp, far.url));
      const url = await endpointOf(running);
      const { origin } = new URL(url);
      expect((await list(url)).status).toBe(401);
      // this route does not authenticate callers, so it is not served here
      expect((await fetch(`${origin}/api/explain?tool=far_echo`)).status).toBe(404);
      expect((await list(url, idp.sign({ sub: 'ada', aud: 'other-audience' }))).status).toBe(401);
      for (const path of [WELL_KNOWN, `${WELL_KNOWN}/mcp`]) {
        expect(await (await fetch(origin + path)).json()).toMatchObject({ authorization_servers: [idp.issuer] });
      }
      const client = new Client({ name: 'sdk', version: '1' });
      const requestInit = { headers: { authorization: `Bearer ${await idp.userToken('ada', AUDIENCE)}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
      expect((await client.listTools()).tools.length).toBeGreaterThan(0);
      await client.callTool({ name: 'far_echo', arguments: { text: 'hello' } });
      await client.close();
      // the caller's token is for the gateway and is not forwarded to backends
      expect(far.calls.map(({ authorization }) => authorization)).toEqual([undefined]);
      idp.rotate();
      const fresh = await idp.userToken('bob', AUDIENCE);
      await until(async () => (await list(url, fresh)).status === 200); // keys are fetched at most once every 10 s
      expect(running.err()).not.toContain(fresh);
    },
    LONG,
  );

  proves(
    ['vmcp.config-incoming.oidc-introspection-url', 'vmcp.config-incoming.oidc-client-secret-env'],
    'introspects opaque tokens with the secret of its environment, also on public addresses',
    async () => {
      await using idp = await identityProvider({ opaqueAudiences: [AUDIENCE] });
      await using far = await recordingServer();
      const config = configOf(idp, far.url, {
        introspectionUrl: `${idp.issuer}/token/introspection`,
        clientSecretEnv: 'OIDC_CLIENT_SECRET',
      });
      await using running = await serve(config, '--host', '0.0.0.0');
      const url = await endpointOf(running);
      const outside = Object.values(networkInterfaces())
        .flat()
        .find((each) => each?.family === 'IPv4' && !each.internal);
      const reached = outside === undefined ? url : url.replace('127.0.0.1', outside.address);
      expect((await list(reached)).status).toBe(401);
      expect((await list(reached, await idp.userToken('ada', AUDIENCE))).status).toBe(200);
      expect((await fetch(new URL('/api/explain?tool=x', reached))).status).toBe(404);
    },
    LONG,
  );

  it(
    'starts while the provider is unavailable, and reports that',
    async () => {
      await using idp = await identityProvider();
      await using far = await recordingServer();
      await idp.pause();
      await using running = await serve(configOf(idp, far.url));
      const url = await endpointOf(running);
      await running.printed(/the keys of the identity provider are unavailable/);
      const token = idp.sign({ sub: 'ada', aud: AUDIENCE });
      expect((await list(url, token)).status).toBe(503);
      await idp.resume();
      await until(async () => (await list(url, token)).status === 200, 40_000);
      await running.printed(/the keys of the identity provider are available again/);
    },
    LONG,
  );

  it(
    'does not start without the variable of the secret',
    async () => {
      const config = configOf({ issuer: 'http://127.0.0.1:9' }, 'http://127.0.0.1:9/mcp', {
        introspectionUrl: 'http://127.0.0.1:9/introspect',
        clientSecretEnv: 'TOOLMGR_TEST_NOT_SET',
      });
      await using running = await serve(config);
      const { code, err } = await running.finished;
      expect(code).not.toBe(0);
      expect(err).toContain(
        'incomingAuth.oidc.clientSecretEnv: the environment variable TOOLMGR_TEST_NOT_SET is not set',
      );
    },
    LONG,
  );
});

describe('a token that is rejected', () => {
  proves(
    ['ask.token.rejected-logged', 'ask.token.client-told'],
    'is logged with the reason but not with the token, its client gets the reason, and many of them do not fill the log',
    async () => {
      await using idp = await identityProvider();
      await using server = await recordingServer();
      await using running = await serve(configOf(idp, server.url));
      const url = await endpointOf(running);
      const foreign = await idp.userToken('ada', 'https://other.example/mcp');
      const asked = await cli(['tools', '--url', url, '--header', `Authorization: Bearer ${foreign}`]);
      expect([asked.code, asked.err]).toEqual([
        1,
        expect.stringContaining('(HTTP 401: the token has another audience); pass credentials'),
      ]);
      const [line = ''] = await running.printed(/^.*a token was rejected.*$/m);
      expect(JSON.parse(line)).toMatchObject({
        status: 401,
        reason: 'the token has another audience',
        path: '/mcp',
        remoteAddress: expect.stringContaining('127.0.0.1'),
      });
      expect((await list(url)).status).toBe(401); // requests without a token are not logged
      for (let n = 0; n < 40; n++) expect((await list(url, `rubbish${n}`)).status).toBe(401);
      running.signal('SIGTERM');
      const { err } = await running.finished;
      const told = err.match(/a token was rejected/g)?.length ?? 0;
      const more = [...err.matchAll(/more tokens were rejected","count":(\d+)/g)].map(([, count]) => Number(count));
      expect(told).toBeLessThan(41); // at most ten lines in ten seconds, and all rejections are counted
      expect(told + more.reduce((sum, count) => sum + count, 0)).toBe(41);
      expect(err).not.toContain(foreign);
      expect(err).not.toContain('rubbish');
      expect(err).not.toContain('authentication is required');
    },
    LONG,
  );
});

describe('toolmgr vmcp serve with type local', () => {
  proves(
    'vmcp.config-incoming.type-local',
    'serves this machine only',
    async () => {
      await using far = await recordingServer();
      const config = { ...configOf({ issuer: '' }, far.url), incomingAuth: { type: 'local' } };
      await using running = await serve(config, '--host', '0.0.0.0');
      const url = await endpointOf(running);
      expect((await list(url)).status).toBe(200);
      const outside = Object.values(networkInterfaces())
        .flat()
        .find((each) => each?.family === 'IPv4' && !each.internal);
      if (outside !== undefined) expect((await list(url.replace('127.0.0.1', outside.address))).status).toBe(403);
    },
    LONG,
  );
});
