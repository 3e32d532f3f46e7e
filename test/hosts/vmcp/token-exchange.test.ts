import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { errors, type Provider } from 'oidc-provider';
import { describe, expect, onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import { answer, type Got, httpServer, json, legacyAnswers } from '../../core/backend/support.ts';
import { startCli } from '../../support/cli.ts';
import { CLIENTS, type IdentityProvider, identityProvider } from '../../support/identity-provider.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const GATEWAY = 'https://gateway.example/mcp';
const FAR = 'https://far.example/mcp';
const LONG = 120_000;

/** An identity provider that also exchanges its own tokens (RFC 8693). */
async function exchangingProvider(): Promise<IdentityProvider> {
  let idp: IdentityProvider | undefined;
  const extend = (provider: Provider): void => {
    const grant = async (ctx: Parameters<Parameters<Provider['registerGrantType']>[1]>[0]): Promise<void> => {
      const { client } = ctx.oidc;
      const params: Readonly<Record<string, unknown>> = ctx.oidc.params ?? {};
      const subject = await verified(idp, String(params.subject_token), GATEWAY).catch(() => undefined);
      if (client === undefined || subject?.sub === undefined)
        throw new errors.InvalidGrant('the subject token is not valid');
      const given = new provider.Grant({ accountId: subject.sub, clientId: client.clientId });
      const audience = String(params.audience);
      given.addResourceScope(audience, 'tools');
      const token = new provider.AccessToken({
        client,
        accountId: subject.sub,
        grantId: await given.save(),
        gty: 'token_exchange',
        scope: 'tools',
      });
      token.resourceServer = new provider.ResourceServer(audience, {
        scope: 'tools',
        audience,
        accessTokenTTL: 3600,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: 'ES256' } },
      });
      ctx.body = {
        access_token: await token.save(),
        issued_token_type: params.requested_token_type,
        token_type: 'Bearer',
        expires_in: 3600,
      };
    };
    const names = ['subject_token', 'subject_token_type', 'requested_token_type', 'audience', 'scope'];
    provider.registerGrantType(EXCHANGE, grant, names);
  };
  idp = await identityProvider({ gatewayGrants: [EXCHANGE], extend });
  onTestFinished(() => idp?.[Symbol.asyncDispose]());
  return idp;
}

/** Verifies a token of the provider for an audience and returns its claims. */
async function verified(idp: IdentityProvider | undefined, token: string, audience: string): Promise<JWTPayload> {
  const keys = (await (await fetch(`${idp?.issuer}/jwks`)).json()) as JSONWebKeySet;
  return (await jwtVerify(token, createLocalJWKSet(keys), { issuer: idp?.issuer ?? '', audience })).payload;
}

/** A backend that accepts only JWTs for its audience; its tool returns the subject. */
async function farServer(idp: IdentityProvider) {
  const usual = legacyAnswers({ tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] });
  const tokens: string[] = [];
  const server = await httpServer(async (got: Got) => {
    const token = got.headers.authorization?.replace(/^Bearer /, '') ?? '';
    tokens.push(token);
    const claims = await verified(idp, token, FAR).catch(() => undefined);
    if (claims === undefined) return json(got.response, { error: 'invalid_token' }, 401);
    if (got.message?.method !== 'tools/call') return usual(got);
    answer(got, { content: [{ type: 'text', text: `${claims.sub} through ${claims.client_id}` }] });
  });
  return { url: server.url, tokens };
}

describe('toolmgr vmcp serve with oidc and token_exchange', () => {
  proves(
    [
      'vmcp.config-outgoing.type-token-exchange',
      'vmcp.token-exchange.token-url',
      'choice.outgoing.never-the-incoming-token',
      'choice.token-exchange.caller-lists',
    ],
    'calls a backend that checks audience and signature with tokens of two users of a real identity provider',
    async () => {
      const idp = await exchangingProvider();
      const far = await farServer(idp);
      const folder = temporaryFolder('exchange');
      const file = join(folder, 'vmcp.yaml');
      const oidc = {
        issuer: idp.issuer,
        clientId: 'gateway',
        audience: GATEWAY,
        insecureAllowHttp: true,
        jwksAllowPrivateIp: true,
      };
      const tokenExchange = {
        tokenUrl: `${idp.issuer}/token`,
        audience: FAR,
        clientId: CLIENTS.gateway.id,
        clientSecretEnv: 'IDP_SECRET',
      };
      await writeFile(
        file,
        stringify({
          name: 'gateway',
          groupRef: 'dev',
          aggregation: { conflictResolution: 'prefix' },
          incomingAuth: { type: 'oidc', oidc },
          outgoingAuth: { source: 'inline', backends: { far: { type: 'token_exchange', tokenExchange } } },
          backends: [{ name: 'far', url: far.url, transport: 'streamable-http' }],
        }),
      );
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0'], {
        env: { IDP_SECRET: CLIENTS.gateway.secret },
      });
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      await until(async () =>
        (await (await fetch(new URL('/status', url))).text()).includes('"auth_type":"token_exchange"'),
      );
      const incoming: string[] = [];
      const clientOf = async (user: string, mode: 'legacy' | 'auto'): Promise<Client> => {
        const token = await idp.userToken(user, GATEWAY);
        incoming.push(token);
        const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
        const requestInit = { headers: { authorization: `Bearer ${token}` } };
        await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
        onTestFinished(() => client.close());
        return client;
      };
      const people = await Promise.all([clientOf('ada', 'auto'), clientOf('bob', 'legacy')]);
      for (const client of people) {
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['far_whoami']);
      }
      const texts = await Promise.all(people.map((client) => client.callTool({ name: 'far_whoami', arguments: {} })));
      expect(texts).toMatchObject([
        { content: [{ text: 'ada through gateway' }] },
        { content: [{ text: 'bob through gateway' }] },
      ]);
      for (const token of incoming) expect(far.tokens).not.toContain(token);
      const said = serving.out() + serving.err();
      expect(said).not.toContain(CLIENTS.gateway.secret);
      for (const token of [...incoming, ...far.tokens.filter((each) => each !== '')]) expect(said).not.toContain(token);
    },
    LONG,
  );
});
