import { readFile } from 'node:fs/promises';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { startManager } from '../../../support/manager.ts';
import { officialFile, officialRegistryMissing, startOfficialRegistry } from '../../../support/official-registry.ts';
import { manyRecords } from './full-registry.ts';

const missing = officialRegistryMissing();
const REGISTRY = '/api/v1beta/registry';
const LISTING = '/registry/default/v0.1/servers';

/** Compiles a schema of the official API description. */
async function officialSchema(name: string) {
  const document = parse(await readFile(officialFile('openapi.yaml'), 'utf8')) as { readonly $id: string };
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  ajv.addSchema(document);
  const validate = ajv.compile({ $ref: `${document.$id}#/components/schemas/${name}` });
  return (value: unknown) => (validate(value) ? [] : validate.errors);
}

describe.skipIf(missing !== undefined)(
  `the official registry${missing === undefined ? '' : ` (skipped: ${missing})`}`,
  () => {
    it('is read by us, and its own importer reads what we serve of it', async () => {
      await using official = await startOfficialRegistry(officialFile('seed.json'));
      for (const record of manyRecords(60)) {
        const { name, ...others } = record as { readonly name: string };
        await official.publish({
          $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
          name: name.replace('io.example', 'io.modelcontextprotocol.anonymous'),
          ...others,
        });
      }
      await using manager = await startManager();
      const set = await manager.request('PUT', `${REGISTRY}/default`, {
        api_url: official.url,
        allow_private_ip: true,
      });
      expect([set.status, set.body]).toEqual([200, { type: 'api' }]);

      // our listing has the same servers, latest versions and states as theirs
      const theirs: unknown[] = [];
      for (let cursor = ''; ; ) {
        const answer = await fetch(`${official.url}/v0.1/servers?version=latest&limit=100${cursor}`);
        const page = (await answer.json()) as { servers: unknown[]; metadata: { nextCursor?: string } };
        theirs.push(...page.servers);
        if (page.metadata.nextCursor === undefined) break;
        cursor = `&cursor=${encodeURIComponent(page.metadata.nextCursor)}`;
      }
      const ours = await manager.request('GET', `${LISTING}?limit=200`);
      expect(ours.body.metadata.total).toBe(63);
      const named = (list: unknown[]) =>
        list
          .map((each) => each as { server: { name: string; version: string } })
          .map(({ server }) => server)
          .sort((a, b) => (a.name < b.name ? -1 : 1));
      expect(named(ours.body.servers)).toEqual(named(theirs));
      const one = await manager.request('GET', `${REGISTRY}/default/servers/airtable-mcp-server`);
      expect(one.body.server).toMatchObject({ image: 'docker.io/domdomegg/airtable-mcp-server:1.7.3' });
      const { body } = await manager.request('GET', `${REGISTRY}/default/servers?q=nuget`);
      expect(body.left_out).toContainEqual({
        name: 'io.github.domdomegg/time-mcp-nuget',
        reason: expect.stringContaining('nuget'),
      });

      // their importer knows the path `/v0/servers` only, and sends no token
      await using proxy = await loopbackServer((request, response) => {
        const query = request.url?.replace(/^[^?]*/, '') ?? '';
        void manager.request('GET', `${LISTING}${query}`).then((answer) => {
          response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.text);
        });
      });
      await using copy = await startOfficialRegistry(`${proxy.url}/v0/servers`);
      expect(copy.printed()).toContain('all 63 servers created');
      expect(proxy.seen.length).toBeGreaterThan(1);
      const copied = await fetch(`${copy.url}/v0.1/servers?limit=100`);
      const { servers } = (await copied.json()) as { servers: unknown[] };
      expect(named(servers)).toEqual(named(theirs));
    });

    it('has an API description that our listing of the built-in servers fits', async () => {
      const list = await officialSchema('ServerList');
      const single = await officialSchema('ServerResponse');
      await using manager = await startManager();
      const { body } = await manager.request('GET', `${LISTING}?limit=200`);
      expect(body.servers.length).toBeGreaterThanOrEqual(40);
      expect(list(body)).toEqual([]);
      const { name } = body.servers[0];
      const one = await manager.request('GET', `${LISTING}/${encodeURIComponent(name)}/versions/latest`);
      expect(single(one.body)).toEqual([]);
      expect(list((await manager.request('GET', `${LISTING}/${encodeURIComponent(name)}/versions`)).body)).toEqual([]);
      // the description refuses what does not fit
      expect(list({ servers: [{ server: { ...one.body.server, name: 'no slash' } }] })).not.toEqual([]);
    });
  },
);
