import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { startCli } from '../../support/cli.ts';
import { CLIENTS, identityProvider } from '../../support/identity-provider.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { redisMissing, startRedis } from '../../support/redis.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { readText } from '../../support/vmcp-text.ts';

const LONG = 120_000;
const PAGE = await readFile(join(import.meta.dirname, '../../../docs/guides/policy.md'), 'utf8');

interface Guide {
  incomingAuth: { oidc: Record<string, unknown> & { audience: string } };
  sessionStorage: { address: string };
  audit: { logFile: string };
}

const all = [...PAGE.matchAll(/^```yaml[^\n]*\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
/** Variants of a step: the file at the end does not have them. */
const VARIANTS = /@approval|toolScopes|signingKey|syslog/;
const blocks = all.filter((text) => !VARIANTS.test(text));
const sections = blocks.slice(0, -1).map((text) => parse(text) as object);
/** The file after each step. */
const grown = sections.map((_, step): object => Object.assign({}, ...sections.slice(0, step + 1)));

describe('the guide to policies', () => {
  it('extends one file block by block; each step is valid without warnings', async () => {
    expect(grown.length).toBe(7);
    const varied = all.filter((text) => VARIANTS.test(text)).map((text) => ({ ...grown.at(-1), ...parse(text) }));
    expect(varied.length).toBe(4);
    for (const file of [...grown, ...varied]) {
      expect((await readText(stringify(file))).warnings).toEqual([]);
    }
  });

  it('ends with the file of its steps', () => {
    expect(parse(blocks.at(-1) ?? '')).toEqual(grown.at(-1));
  });

  it.skipIf(redisMissing !== undefined)(
    'describes a gateway that serves the last block to callers of a real provider',
    async () => {
      const folder = temporaryFolder('guide');
      await using idp = await identityProvider();
      await using redis = await startRedis();
      const config = parse(blocks.at(-1) ?? '') as Guide;
      const { oidc } = config.incomingAuth;
      // settings of the reader: the provider, Redis, and the audit file
      Object.assign(oidc, { issuer: idp.issuer, clientId: CLIENTS.gateway.id });
      Object.assign(oidc, { insecureAllowHttp: true, jwksAllowPrivateIp: true });
      config.sessionStorage.address = redis.address;
      config.audit.logFile = join(folder, 'audit.log');
      const file = join(folder, 'vmcp.yaml');
      await writeFile(file, stringify(config));
      await using running = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await running.printed(/serves (http:\S+)/);
      await running.printed(/backend ready","backend":"memory/);

      const asking = async (user: string) => {
        const headers = { authorization: `Bearer ${await idp.userToken(user, oidc.audience)}` };
        const list = await postModern(url, 'tools/list', {}, { headers });
        return {
          tools: (list.json.result as { tools: { name: string }[] }).tools.map(({ name }) => name),
          call: async (name: string, args: Record<string, string | number> = {}) => {
            const { status, json } = await postModern(url, 'tools/call', { name, arguments: args }, { headers });
            return json.error === undefined ? status : [status, json.error.message];
          },
        };
      };
      const denied = [403, 'call denied by authorization policy'];
      const ada = await asking('ada');
      expect(ada.tools).toContain('memory_delete_entities');
      expect(ada.tools).not.toContain('everything_get-env');
      expect(await ada.call('everything_echo', { message: 'hello' })).toBe(200);
      expect(await ada.call('everything_echo', { message: 'a draft' })).toEqual(denied);
      const bob = await asking('bob');
      expect(bob.tools).toContain('memory_read_graph');
      expect(bob.tools).not.toContain('memory_delete_entities');
      expect(await bob.call('memory_read_graph')).toBe(200);
      expect(await bob.call('memory_delete_entities')).toEqual(denied);

      const many = await Promise.all(
        Array.from({ length: 6 }, () =>
          ada.call('everything_trigger-long-running-operation', { duration: 0.1, steps: 1 }),
        ),
      );
      expect(
        many.filter((answer) => Array.isArray(answer) && /rate limit exceeded/i.test(String(answer[1]))),
      ).not.toEqual([]);

      const metrics = await (await fetch(new URL('/metrics', url))).text();
      expect(metrics).toMatch(/^toolmgr_mcp_calls_refused_total\{.*status_code="429"/m);
      running.signal('SIGTERM');
      expect((await running.finished).code).toBe(0);
      const trail = await readFile(config.audit.logFile, 'utf8');
      expect(trail).toMatch(/"outcome":"denied".*"user":"Bob".*"name":"memory_delete_entities"/);
    },
    LONG,
  );
});
