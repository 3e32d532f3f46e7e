import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { FULL_DOCUMENT, FULL_RECORD, FULL_SKILL, manyRecords, manySkills } from './full-registry.ts';

const LISTING = '/registry/any/v0.1';
const SKILLS = `${LISTING}/x/dev.toolmgr/skills`;
const OFFICIAL = 'io.modelcontextprotocol.registry/official';

/** A manager whose only registry is this document in a file, or this setting. */
async function withRegistry(document: object | string, config: object = {}): Promise<StartedManager> {
  const manager = await startManager();
  const file = join(manager.home, 'registry.json');
  await writeFile(file, typeof document === 'string' ? document : JSON.stringify(document));
  await mkdir(join(manager.home, 'config', 'toolmgr'), { recursive: true });
  const settings = Object.keys(config).length > 0 ? config : { local_registry_path: file };
  await writeFile(join(manager.home, 'config', 'toolmgr', 'config.yaml'), JSON.stringify(settings));
  return manager;
}

const namesOf = (body: { readonly servers: readonly { readonly name: string }[] }) =>
  body.servers.map(({ name }) => name);

describe('the server listing', () => {
  proves(
    [
      'manager.conventions.json-bodies',
      'manager.listing.server-200',
      'manager.listing.server-name-encoded',
      'manager.server-record.meta',
      'manager.server-record.name-form',
      'manager.server-record.strings',
      'manager.server-record.icons',
      'manager.server-record.packages',
      'manager.server-record.remotes',
      'manager.server-record.repository',
      'manager.icon.fields',
      'manager.repository.fields',
      'manager.input.strings',
      'manager.input.choices',
      'manager.input.flags',
      'manager.input.variables',
      'manager.input-variable.strings',
      'manager.input-variable.choices',
      'manager.input-variable.flags',
      'manager.argument.all-input-fields',
      'manager.argument.is-repeated',
      'manager.argument.type',
      'manager.argument.value-hint',
      'manager.package.environment-variables',
      'manager.package.file-sha256',
      'manager.package.arguments',
      'manager.package.identifier-and-version',
      'manager.package.registry-type',
      'manager.package.runtime-hint',
      'manager.package.transport',
      'manager.remote.fields',
    ],
    'gives a record with every member that its publisher wrote',
    async () => {
      await using manager = await withRegistry({ data: { servers: [FULL_RECORD] } });
      const answer = await manager.request('GET', `${LISTING}/servers/io.github.org%2Ffiles/versions/latest`);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toContain('application/json');
      const meta = { ...FULL_RECORD._meta, [OFFICIAL]: { status: 'active', isLatest: true } };
      expect(answer.body).toEqual({ ...FULL_RECORD, _meta: meta, server: FULL_RECORD });
    },
  );

  proves(
    ['manager.listing.server-400', 'manager.listing.server-404'],
    'answers 400 to a malformed name and 404 to an unknown server or version',
    async () => {
      await using manager = await withRegistry({ data: { servers: [FULL_RECORD] } });
      const get = (name: string, version = 'latest') =>
        manager.request('GET', `${LISTING}/servers/${name}/versions/${version}`);
      for (const name of ['%zz', 'fi<les', 'a%2Fb%2Fc', '..%2Ffiles', 'io.github.org%2F%00', '%2F', 'a%2F%3Cb%3E']) {
        const { status, body } = await get(name);
        expect([status, body.code], name).toEqual([400, 'bad_request']);
      }
      expect((await get('io.github.org%2Fother')).status).toBe(404);
      expect((await get('other')).status).toBe(404);
      expect((await get('io.github.org%2Ffiles', '9.9.9')).status).toBe(404);
      expect((await get('io.github.org%2Ffiles', '1.10.0')).status).toBe(200);
    },
  );

  proves(
    [
      'manager.listing.servers-200',
      'manager.listing.servers-page',
      'manager.listing.servers-limit',
      'manager.pagination.fields',
    ],
    'gives pages in the order of names, with a limit of 50 and at most 200',
    async () => {
      await using manager = await withRegistry({ servers: [...manyRecords(450)].reverse() });
      const list = async (query = '') => (await manager.request('GET', `${LISTING}/servers${query}`)).body;
      const first = await list();
      expect(first.servers).toHaveLength(50);
      expect(first.metadata).toMatchObject({ limit: 50, page: 1, total: 450, count: 50 });
      expect(namesOf(first)).toEqual([...namesOf(first)].sort());
      for (const odd of ['?limit=0', '?limit=-1', '?limit=x', '?page=0', '?page=-2', '?page=x', '?limit=1.5']) {
        expect(namesOf(await list(odd)), odd).toEqual(namesOf(first));
      }
      const pages = await Promise.all([1, 2, 3].map((page) => list(`?limit=1000&page=${page}`)));
      expect(pages.map(({ servers, metadata }) => [servers.length, metadata.limit])).toEqual([
        [200, 200],
        [200, 200],
        [50, 200],
      ]);
      expect(new Set(pages.flatMap(namesOf)).size).toBe(450);
      const past = await list('?page=99');
      expect(past).toMatchObject({ servers: [], metadata: { page: 99, total: 450, count: 0 } });
    },
  );

  proves('manager.listing.servers-q', 'matches names and descriptions in any case', async () => {
    await using manager = await withRegistry({ servers: manyRecords(20) });
    const total = async (query: string) =>
      (await manager.request('GET', `${LISTING}/servers?${query}`)).body.metadata.total;
    expect(await total('q=AN%20ODD')).toBe(10);
    expect(await total('q=server-0019')).toBe(1);
    expect(await total('q=absent')).toBe(0);
    // `search` of the official registry is about names only
    expect(await total('search=odd')).toBe(0);
    expect(await total('search=SERVER-0019')).toBe(1);
  });

  proves('manager.listing.registry-name-ignored', 'is the same for every registry name', async () => {
    await using manager = await withRegistry({ servers: manyRecords(3) });
    for (const name of ['default', 'other', 'io.example%2Fx']) {
      const { status, body } = await manager.request('GET', `/registry/${name}/v0.1/servers`);
      expect([status, body.metadata.total], name).toEqual([200, 3]);
    }
  });

  it('has versions, cursors and the latest version as the official registry has them', async () => {
    const of = (name: string, version: string) => ({ ...manyRecords(1)[0], name, version });
    const servers = [
      ...['1.0.0', '1.9.0', '1.10.0', '1.10.0-beta'].map((version) => of('io.example/a', version)),
      of('io.example/b', '0.1.0'),
    ];
    await using manager = await withRegistry({ servers });
    const list = async (query: string) => (await manager.request('GET', `${LISTING}/servers?${query}`)).body;
    const versions = (body: { servers: { name: string; version: string }[] }) =>
      body.servers.map(({ name, version }) => `${name.slice(-1)}@${version}`);
    expect(versions(await list(''))).toEqual(['a@1.0.0', 'a@1.9.0', 'a@1.10.0-beta', 'a@1.10.0', 'b@0.1.0']);
    expect(versions(await list('version=latest'))).toEqual(['a@1.10.0', 'b@0.1.0']);
    expect(versions(await list('version=1.9.0'))).toEqual(['a@1.9.0']);
    const seen: string[] = [];
    let cursor = '';
    do {
      const body = await list(`limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`);
      seen.push(...versions(body));
      cursor = body.metadata.nextCursor ?? '';
    } while (cursor !== '');
    expect(seen).toEqual(versions(await list('')));
    const all = await manager.request('GET', `${LISTING}/servers/io.example%2Fa/versions`);
    expect(versions(all.body)).toEqual(['a@1.10.0', 'a@1.10.0-beta', 'a@1.9.0', 'a@1.0.0']);
    expect(all.body.servers[0]._meta[OFFICIAL].isLatest).toBe(true);
    expect((await manager.request('GET', `${LISTING}/servers/io.example%2Fz/versions`)).status).toBe(404);
  });

  it('has the servers of a document in the form of the contract too', async () => {
    await using manager = await withRegistry(FULL_DOCUMENT);
    const { body } = await manager.request('GET', `${LISTING}/servers`);
    expect(namesOf(body)).toEqual(
      ['calendar', 'mail', 'notes', 'package', 'phone'].map((name) => `dev.toolmgr/${name}`),
    );
    const { body: one } = await manager.request('GET', `${LISTING}/servers/dev.toolmgr%2Fpackage/versions/latest`);
    expect(one.packages[0]).toMatchObject({ registryType: 'npm', identifier: '@org/package', version: '1.0.0' });
  });

  it('finds a server by its published name and by its short name, in both forms of the registry', async () => {
    await using manager = await withRegistry(FULL_DOCUMENT);
    for (const name of ['notes', 'dev.toolmgr%2Fnotes']) {
      const listed = await manager.request('GET', `${LISTING}/servers/${name}/versions/latest`);
      expect([name, listed.status, listed.body.name]).toEqual([name, 200, 'dev.toolmgr/notes']);
      const versions = await manager.request('GET', `${LISTING}/servers/${name}/versions`);
      expect([name, versions.status, versions.body.servers?.length]).toEqual([name, 200, 1]);
      const { status, body } = await manager.request('GET', `/api/v1beta/registry/default/servers/${name}`);
      expect([name, status, (body.server ?? body.remote_server)?.name]).toEqual([name, 200, 'notes']);
    }
  });

  it('needs a token, unless it was opened; other operations need one then too', async () => {
    const statusOf = async ({ url }: StartedManager, path: string, headers: Record<string, string> = {}) =>
      (await fetch(`${url}${path}`, { headers })).status;
    await using closed = await startManager();
    expect(await statusOf(closed, `${LISTING}/servers`)).toBe(401);
    await using open = await startManager({ opensRegistry: true });
    expect(await statusOf(open, `${LISTING}/servers`)).toBe(200);
    expect(await statusOf(open, `${SKILLS}`)).toBe(200);
    expect(await statusOf(open, '/api/v1beta/registry')).toBe(401);
    expect(await statusOf(open, `${LISTING}/servers`, { origin: 'https://evil.example' })).toBe(403);
  });

  proves(
    [
      'manager.listing.server-503',
      'manager.listing.servers-503',
      'manager.listing.skill-503',
      'manager.listing.skills-503',
    ],
    'answers 503 when the registry is away or needs a sign-in',
    async () => {
      const paths = [
        `${LISTING}/servers/io.example%2Fa/versions/latest`,
        `${LISTING}/servers`,
        `${SKILLS}/io.example/a`,
        SKILLS,
      ];
      const away = { registry_api_url: 'http://127.0.0.1:1', allow_private_registry_ip: true };
      const oauth = { issuer: 'https://login.example.com', client_id: 'c' };
      for (const [config, code] of [
        [away, 'registry_unavailable'],
        [{ ...away, registry_auth: { type: 'oauth', oauth } }, 'registry_auth_required'],
      ] as const) {
        await using manager = await withRegistry('', config);
        for (const path of paths) {
          const { status, body, headers } = await manager.request('GET', path);
          expect([status, body.code], path).toEqual([503, code]);
          expect(headers.get('content-type')).toContain('application/problem+json');
        }
      }
    },
  );

  proves(
    [
      'manager.listing.server-500',
      'manager.listing.servers-500',
      'manager.listing.skill-500',
      'manager.listing.skills-500',
    ],
    'answers 500 when the registry gives something that is no registry',
    async () => {
      await using manager = await withRegistry('no JSON');
      const paths = [
        `${LISTING}/servers/io.example%2Fa/versions/latest`,
        `${LISTING}/servers`,
        `${SKILLS}/io.example/a`,
        SKILLS,
      ];
      for (const path of paths) {
        const { status, body } = await manager.request('GET', path);
        expect([status, body.code], path).toEqual([500, 'internal_error']);
      }
    },
  );
});

describe('the skill listing', () => {
  proves(
    [
      'manager.listing.skill-200',
      'manager.listing.skill-path',
      'manager.skill-record.meta',
      'manager.skill-record.strings',
      'manager.skill-record.allowed-tools',
      'manager.skill-record.icons',
      'manager.skill-record.packages',
      'manager.skill-record.repository',
    ],
    'gives a skill with every member that its author wrote',
    async () => {
      const other = { ...FULL_SKILL, namespace: 'io.github.other', version: '99.0.0' };
      await using manager = await withRegistry({ data: { servers: [], skills: [other, FULL_SKILL] } });
      const { status, body } = await manager.request('GET', `${SKILLS}/io.github.org/review`);
      expect([status, body]).toEqual([200, FULL_SKILL]);
    },
  );

  proves('manager.listing.skill-404', 'answers 404 to an unknown skill', async () => {
    await using manager = await withRegistry({ data: { servers: [], skills: [FULL_SKILL] } });
    for (const path of ['io.github.org/other', 'io.other/review']) {
      const { status, body } = await manager.request('GET', `${SKILLS}/${path}`);
      expect([status, body.code], path).toEqual([404, 'not_found']);
    }
  });

  proves(
    [
      'manager.listing.skills-200',
      'manager.listing.skills-q',
      'manager.listing.skills-page',
      'manager.listing.skills-limit',
    ],
    'gives pages, and matches name, namespace and description',
    async () => {
      await using manager = await withRegistry({ data: { servers: [], skills: manySkills(210) } });
      const list = async (query = '') => (await manager.request('GET', `${SKILLS}${query}`)).body;
      const first = await list();
      expect(first.skills).toHaveLength(50);
      expect(first.metadata).toMatchObject({ limit: 50, page: 1, total: 210 });
      expect((await list('?limit=500')).skills).toHaveLength(200);
      expect((await list('?limit=200&page=2')).skills).toHaveLength(10);
      const total = async (query: string) => (await list(query)).metadata.total;
      expect([await total('?q=SKILL-0001'), await total('?q=IO.ODD'), await total('?q=the%20first')]).toEqual([
        1, 105, 1,
      ]);
    },
  );
});
