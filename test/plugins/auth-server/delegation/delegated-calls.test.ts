import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fakeServer, testGateway } from '@toolmgr/core/testing';
import { catalogue } from '@toolmgr/plugins';
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../../support/audited.ts';
import { identityProvider } from '../../../support/identity-provider.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { postModern } from '../../../support/open-endpoint.ts';
import { proves } from '../../../support/proves.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { until } from '../../../support/until.ts';
import { ACCESS_TOKEN, EXCHANGE, JWT_BEARER, SECRET } from './delegating.ts';

const ISSUER = 'https://gateway.example';
const AUDIENCE = `${ISSUER}/mcp`;

/** A whole gateway whose callers have tokens of its own authorization server. */
async function gateway() {
  const folder = temporaryFolder('delegated');
  const [logFile, file] = [join(folder, 'audit.log'), join(folder, 'secret')];
  await writeFile(file, SECRET, { mode: 0o600 });
  const other = await identityProvider();
  const kit = await testGateway({
    catalogue,
    plan: {
      plugins: [
        {
          use: 'auth-server',
          with: {
            issuer: ISSUER,
            allowedAudiences: [AUDIENCE],
            scopesSupported: ['tools'],
            upstreamProviders: [
              { name: 'idp', type: 'oidc', oidcConfig: { issuerUrl: 'https://idp.example', clientId: 'gateway' } },
            ],
            delegateClients: ['agent', 'second'].map((clientId) => ({ clientId, clientSecretRef: { file } })),
            trustedIssuers: [
              {
                issuer: other.issuer,
                insecureAllowHTTP: true,
                jwksAllowPrivateIP: true,
                expectedAudience: AUDIENCE,
                allowedDelegateClients: ['agent'],
                allowedActors: ['crm'],
                jwtBearer: { subjectBindings: [{ subject: 'robot', resources: [AUDIENCE] }] },
              },
            ],
          },
        },
        { use: 'incoming-auth/oidc', with: { issuer: ISSUER, clientId: 'toolmgr', audience: AUDIENCE } },
        { use: 'audit', with: { logFile } },
      ],
    },
    backends: { far: fakeServer().tool('echo', () => ({ content: [{ type: 'text', text: 'here' }] })) },
  });
  const server = await loopbackServer((request, response) => kit.gateway.handle(request, response));
  const origin = server.url;
  return {
    other,
    async token(form: Readonly<Record<string, string>>, client?: string): Promise<string> {
      const credentials = Buffer.from(`${client}:${SECRET}`).toString('base64');
      const headers = new Headers(client === undefined ? [] : [['authorization', `Basic ${credentials}`]]);
      const answer = await fetch(`${origin}/oauth/token`, { method: 'POST', headers, body: new URLSearchParams(form) });
      const body = (await answer.json()) as { readonly access_token?: string };
      if (body.access_token === undefined) throw new Error(JSON.stringify(body));
      return body.access_token;
    },
    call: (token: string) =>
      postModern(
        `${origin}/mcp`,
        'tools/call',
        { name: 'echo', arguments: {} },
        { headers: { authorization: `Bearer ${token}` } },
      ),
    async line() {
      const calls = async () => linesOf(await readFile(logFile, 'utf8')).filter(({ type }) => type === 'mcp_tool_call');
      await until(async () => (await calls()).length > 0);
      return (await calls()).at(-1);
    },
    logText: () => readFile(logFile, 'utf8'),
    async [Symbol.asyncDispose]() {
      await kit[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

describe('calls with a delegated token', () => {
  proves(
    'choice.delegation.audited',
    'are accepted without a request to the own issuer, and audited with every actor',
    async () => {
      await using made = await gateway();
      const { other, token, call } = made;
      const subject_token = other.sign({ sub: 'ada', aud: AUDIENCE, client_id: 'crm' });
      const exchange = { grant_type: EXCHANGE, subject_token_type: ACCESS_TOKEN };
      const first = await token({ ...exchange, subject_token }, 'agent');
      const second = await token({ ...exchange, subject_token: first }, 'second');
      expect((await call(second)).status).toBe(200);
      expect((await made.line())?.delegation).toEqual({
        chain: [
          { iss: ISSUER, sub: 'second' },
          { iss: ISSUER, sub: 'agent' },
          { iss: other.issuer, sub: 'crm' },
        ],
      });
      expect((await made.line())?.subjects).toMatchObject({ user_id: `${other.issuer}#ada` });
      const text = await made.logText();
      for (const secret of [SECRET, first.slice(-30), second.slice(-30)]) expect(text).not.toContain(secret);
    },
  );

  it('of an assertion are accepted, and show no actor', async () => {
    await using made = await gateway();
    const { other, token, call } = made;
    const assertion = other.sign({
      sub: 'robot',
      aud: `${ISSUER}/oauth/token`,
      exp: Math.floor(Date.now() / 1000) + 60,
    });
    const issued = await token({ grant_type: JWT_BEARER, assertion, resource: AUDIENCE });
    expect((await call(issued)).status).toBe(200);
    expect(await made.line()).not.toHaveProperty('delegation');
  });

  it('are refused with the token of the other issuer itself', async () => {
    await using made = await gateway();
    expect((await made.call(made.other.sign({ sub: 'ada', aud: AUDIENCE, client_id: 'crm' }))).status).toBe(401);
  });
});
