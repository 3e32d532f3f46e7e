import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect } from 'vitest';
import { stringify } from 'yaml';
import { startCli } from '../../support/cli.ts';
import { CLIENTS, identityProvider } from '../../support/identity-provider.ts';
import { AUDIENCE } from '../../support/oidc-gateway.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { proves } from '../../support/proves.ts';
import { recordingServer } from '../../support/recording-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

const LONG = 120_000;

describe('toolmgr vmcp serve with oidc and cedar', () => {
  proves(
    ['vmcp.config-incoming.authz-policies', 'choice.order.list-and-call-agree', 'choice.authorization.refusal-words'],
    'shows and serves two callers of a real identity provider only what their groups may use',
    async () => {
      const folder = temporaryFolder('cedar');
      await using idp = await identityProvider();
      await using far = await recordingServer();
      const oidc = { issuer: idp.issuer, clientId: CLIENTS.gateway.id, audience: AUDIENCE };
      const policies = [
        '@id("admins") permit(principal in THVGroup::"admins", action == Action::"call_tool", resource in MCP::"guarded");',
        '@id("quiet") forbid(principal, action, resource) when { context has arg_text && context.arg_text like "*loud*" };',
      ];
      const config = {
        name: 'guarded',
        groupRef: 'dev',
        incomingAuth: {
          type: 'oidc',
          oidc: { ...oidc, insecureAllowHttp: true, jwksAllowPrivateIp: true },
          authz: { type: 'cedar', policies },
        },
        outgoingAuth: { source: 'inline' },
        aggregation: {},
        operational: { logLevel: 'debug' },
        backends: [{ name: 'far', url: far.url, transport: 'streamable-http' }],
      };
      const file = join(folder, 'vmcp.yaml');
      await writeFile(file, stringify(config));
      await using running = await startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      const status = async () => (await (await fetch(`${new URL(url).origin}/status`)).json()) as { healthy: boolean };
      await until(async () => (await status()).healthy);

      const asking = async (user: string) => {
        const authorization = `Bearer ${await idp.userToken(user, AUDIENCE)}`;
        const client = new Client({ name: 'sdk', version: '1' });
        await client.connect(
          new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization } } }),
        );
        const tools = (await client.listTools()).tools.map(({ name }) => name);
        await client.close();
        const call = async (name: string, text: string) => {
          const answer = await postModern(
            url,
            'tools/call',
            { name, arguments: { text } },
            { headers: { authorization } },
          );
          return [answer.status, answer.json.error?.message];
        };
        return {
          tools,
          quiet: await call('far_echo', 'hush'),
          loud: await call('far_echo', 'loud'),
          absent: await call('far_x', 'hush'),
        };
      };
      const denied = [403, 'call denied by authorization policy'];
      const ada = await asking('ada');
      expect(ada.tools).toContain('far_echo');
      expect(ada).toMatchObject({ quiet: [200, undefined], loud: denied });
      expect(await asking('bob')).toEqual({ tools: [], quiet: denied, loud: denied, absent: denied });
      expect(far.calls.length).toBe(1);
      // caller, target and policy of the denied call
      await until(() => /"denied by policy".*"caller":"ada".*"policies":\["quiet"\]/.test(running.err()));
      expect(running.err()).not.toContain('loud');
    },
    LONG,
  );
});
