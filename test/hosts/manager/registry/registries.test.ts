import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { FULL_DOCUMENT, FULL_IMAGE, FULL_REMOTE } from './full-registry.ts';

const REGISTRY = '/api/v1beta/registry';

/** Writes `config.yaml` of a manager. */
async function configure({ home }: StartedManager, config: object): Promise<void> {
  await mkdir(join(home, 'config', 'toolmgr'), { recursive: true });
  await writeFile(join(home, 'config', 'toolmgr', 'config.yaml'), JSON.stringify(config));
}

const configText = ({ home }: StartedManager) =>
  readFile(join(home, 'config', 'toolmgr', 'config.yaml'), 'utf8').catch(() => '');

/** A manager whose only registry is this document in a file. */
async function withDocument(document: object): Promise<StartedManager & { readonly file: string }> {
  const manager = await startManager();
  const file = join(manager.home, 'registry.json');
  await writeFile(file, JSON.stringify(document));
  await configure(manager, { local_registry_path: file });
  return { ...manager, file };
}

describe('the registries', () => {
  proves(
    [
      'manager.registries.list-200',
      'manager.registry-summary.fields',
      'manager.registry-summary.no-content',
      'manager.registry.name',
      'manager.registry.type',
      'manager.registry.source',
      'manager.registry.version',
      'manager.registry.last-updated',
      'manager.registry.server-count',
      'manager.registry.auth-type',
      'manager.registry.auth-status',
    ],
    'are listed without their content, and all servers are counted',
    async () => {
      await using manager = await withDocument(FULL_DOCUMENT);
      const { status, body } = await manager.request('GET', REGISTRY);
      expect(status).toBe(200);
      const summary = {
        name: 'default',
        type: 'file',
        source: manager.file,
        version: '2.0.0',
        last_updated: '2026-11-02T00:00:00Z',
        server_count: 5,
        auth_type: '',
        auth_status: 'none',
      };
      expect(body).toEqual({ registries: [summary], sources: [{ ...summary, priority: 1 }] });
    },
  );

  proves(
    [
      'manager.registries.get-200',
      'manager.registry.registry',
      'manager.registry-data.groups',
      'manager.registry-data.last-updated-and-version',
      'manager.registry-data.servers',
      'manager.registry-data.remote-servers',
      'manager.registry-group.name-and-description',
      'manager.registry-group.servers',
      'manager.registry-group.remote-servers',
    ],
    'are read with their servers and groups',
    async () => {
      await using manager = await withDocument(FULL_DOCUMENT);
      const { status, body } = await manager.request('GET', `${REGISTRY}/default`);
      expect(status).toBe(200);
      expect(body).toMatchObject({ name: 'default', type: 'file', server_count: 5 });
      const { registry } = body;
      expect(registry).toMatchObject({ version: '2.0.0', last_updated: '2026-11-02T00:00:00Z' });
      expect(Object.keys(registry.servers)).toEqual(['mail', 'notes', 'package']);
      expect(Object.keys(registry.remote_servers)).toEqual(['calendar', 'phone']);
      expect(registry.servers.notes).toEqual({ name: 'notes', ...FULL_IMAGE });
      expect(registry.groups).toEqual([
        {
          name: 'office',
          description: 'Servers of the office',
          servers: { mail: registry.servers.mail },
          remote_servers: { phone: registry.remote_servers.phone },
        },
      ]);
      expect(body.left_out).toEqual([{ name: 'unsafe', reason: expect.stringContaining('image') }]);
    },
  );

  proves(
    [
      'manager.registries.server-200',
      'manager.registries.server-path',
      'manager.conventions.exact-field-names',
      'manager.conventions.times-are-strings',
      'manager.env-var.default',
      'manager.env-var.description',
      'manager.env-var.name',
      'manager.env-var.required',
      'manager.env-var.secret',
      'manager.permissions.name',
      'manager.permissions.network-inbound',
      'manager.permissions.network-mode',
      'manager.permissions.network-outbound-hosts',
      'manager.permissions.network-outbound-ports',
      'manager.permissions.network-outbound-allow-all',
      'manager.permissions.privileged',
      'manager.permissions.read',
      'manager.permissions.write',
      'manager.provenance.attestation',
      'manager.provenance.cert-issuer',
      'manager.provenance.repository-ref',
      'manager.provenance.repository-uri',
      'manager.provenance.runner-environment',
      'manager.provenance.signer-identity',
      'manager.provenance.sigstore-url',
      'manager.server-metadata.kubernetes',
      'manager.server-metadata.last-updated',
      'manager.server-metadata.stars',
      'manager.image-server.strings',
      'manager.image-server.lists',
      'manager.image-server.numbers',
      'manager.image-server.stateless',
      'manager.image-server.custom-metadata',
      'manager.image-server.env-vars',
      'manager.image-server.metadata',
      'manager.image-server.permissions',
      'manager.image-server.provenance',
    ],
    'give an image server with every member of the document',
    async () => {
      await using manager = await withDocument(FULL_DOCUMENT);
      const { status, body } = await manager.request('GET', `${REGISTRY}/default/servers/notes`);
      expect(status).toBe(200);
      expect(body).toEqual({ is_remote: false, server: { name: 'notes', ...FULL_IMAGE } });
      const pack = await manager.request('GET', `${REGISTRY}/default/servers/package`);
      expect(pack.body.server).toMatchObject({ image: 'npx://@org/package@1.0.0', transport: 'stdio' });
    },
  );

  proves(
    [
      'manager.header-def.choices',
      'manager.header-def.default',
      'manager.header-def.description',
      'manager.header-def.name',
      'manager.header-def.required',
      'manager.header-def.secret',
      'manager.remote-oauth-config.authorize-url',
      'manager.remote-oauth-config.client-id',
      'manager.remote-oauth-config.issuer',
      'manager.remote-oauth-config.resource',
      'manager.remote-oauth-config.token-url',
      'manager.remote-oauth-config.callback-port',
      'manager.remote-oauth-config.oauth-params',
      'manager.remote-oauth-config.scopes',
      'manager.remote-oauth-config.use-pkce',
      'manager.remote-server.strings',
      'manager.remote-server.lists',
      'manager.remote-server.proxy-port',
      'manager.remote-server.stateless',
      'manager.remote-server.custom-metadata',
      'manager.remote-server.env-vars',
      'manager.remote-server.headers',
      'manager.remote-server.metadata',
      'manager.remote-server.oauth-config',
    ],
    'give a remote server with every member of the document',
    async () => {
      await using manager = await withDocument(FULL_DOCUMENT);
      const { body } = await manager.request('GET', `${REGISTRY}/default/servers/calendar`);
      expect(body).toEqual({ is_remote: true, remote_server: { name: 'calendar', ...FULL_REMOTE } });
    },
  );

  proves(
    'manager.registries.servers-200',
    'list images and packages, and remote servers, also those of a search',
    async () => {
      await using manager = await withDocument(FULL_DOCUMENT);
      const all = await manager.request('GET', `${REGISTRY}/default/servers`);
      expect(all.status).toBe(200);
      expect(all.body.servers.map(({ name }: { name: string }) => name)).toEqual(['mail', 'notes', 'package']);
      expect(all.body.remote_servers.map(({ name }: { name: string }) => name)).toEqual(['calendar', 'phone']);
      const found = await manager.request('GET', `${REGISTRY}/default/servers?q=KEEPS&limit=1`);
      expect(found.body).toMatchObject({ servers: [], remote_servers: [{ name: 'calendar' }], total: 2 });
    },
  );

  proves(
    ['manager.registries.get-404', 'manager.registries.server-404', 'manager.registries.servers-404'],
    'answer 404 for what does not exist, and say what is near',
    async () => {
      await using manager = await withDocument(FULL_DOCUMENT);
      for (const path of ['/other', '/other/servers', '/other/servers/notes', '/default/servers/notse']) {
        const { status, body } = await manager.request('GET', `${REGISTRY}${path}`);
        expect([status, body.code], path).toEqual([404, 'not_found']);
      }
      const near = await manager.request('GET', `${REGISTRY}/default/servers/note`);
      expect(near.body.detail).toContain('did you mean notes?');
      const unsafe = await manager.request('GET', `${REGISTRY}/default/servers/unsafe`);
      expect(unsafe.body.detail).toContain('cannot be used');
    },
  );
});

describe('the source of the default registry', () => {
  proves(
    ['manager.registries.update-200', 'manager.registries.update-target'],
    'is set to a file, a document at a URL and a registry server as the field says, and reset',
    async () => {
      await using server = await loopbackServer((request, response) => {
        const isApi = request.url?.startsWith('/v0.1/servers') === true;
        if (request.url?.startsWith('/v0.1/x/')) response.writeHead(404).end();
        else response.end(JSON.stringify(isApi ? { ...RECORDS, metadata: {} } : FULL_DOCUMENT));
      });
      await using manager = await startManager();
      const file = join(manager.home, 'registry.json');
      await writeFile(file, JSON.stringify(FULL_DOCUMENT));
      const sources = [
        [{ local_path: file }, 'file', file],
        // the field decides, not the form of the URL
        [{ url: `${server.url}/document`, allow_private_ip: true }, 'url', `${server.url}/document`],
        [{ api_url: server.url, allow_private_ip: true }, 'api', server.url],
        [{}, 'default', ''],
      ] as const;
      for (const [settings, type, source] of sources) {
        const { status, body } = await manager.request('PUT', `${REGISTRY}/default`, settings);
        expect([status, body], type).toEqual([200, { type }]);
        const listed = await manager.request('GET', REGISTRY);
        expect(listed.body.registries).toMatchObject([{ name: 'default', type, source }]);
      }
    },
  );

  proves(
    ['manager.registries.update-400', 'manager.registries.update-only-default', 'manager.registries.update-404'],
    'is refused with the faulty field, and nothing is saved',
    async () => {
      await using manager = await startManager();
      const put = (body: unknown, name = 'default') => manager.request('PUT', `${REGISTRY}/${name}`, body);
      const both = await put({ url: 'https://a.example.com/r.json', local_path: '/r.json' });
      expect([both.status, both.body.errors[0].path]).toEqual([400, 'local_path']);
      const auth = { issuer: 'https://login.example.com', client_id: 'c' };
      const wrong = [
        { url: 'http://a.example.com/r.json' },
        { local_path: join(manager.home, 'absent.json') },
        { local_path: 'relative.json' },
        { local_path: '/etc/passwd' },
        { url: 'file:///etc/passwd' },
        { auth },
        { local_path: '/r.json', auth },
        { api_url: 'https://a.example.com', auth: { issuer: 'https://login.example.com' } },
        { api_url: 'https://a.example.com', auth: { ...auth, issuer: 'http://login.example.com' } },
        { api: 'https://a.example.com' },
        'text',
      ];
      for (const body of wrong) expect((await put(body)).status, JSON.stringify(body)).toBe(400);
      expect((await put({}, 'work')).status).toBe(404);
      expect(await configText(manager)).toBe('');
    },
  );

  proves('manager.registries.update-403', 'cannot be changed where the settings lock it', async () => {
    await using manager = await startManager();
    await configure(manager, { registry_locked: true });
    const { status, body } = await manager.request('PUT', `${REGISTRY}/default`, {});
    expect([status, body.code]).toEqual([403, 'forbidden']);
    const added = await manager.request('POST', REGISTRY, { name: 'work', url: 'https://a.example.com/r.json' });
    expect(added.status).toBe(403);
  });

  proves(
    ['manager.registries.update-502', 'manager.registries.update-504'],
    'must give a registry: 502 when the answer is none, 504 when nothing answers or the address is private',
    async () => {
      await using server = await loopbackServer((request, response) => {
        if (request.url === '/empty.json') response.end('{"servers":{}}');
        else if (request.url === '/private.json') response.writeHead(401).end();
        else response.end('no JSON');
      });
      await using manager = await startManager();
      const put = (body: object) => manager.request('PUT', `${REGISTRY}/default`, body);
      for (const path of ['/text.json', '/empty.json', '/private.json']) {
        const { status, body } = await put({ url: `${server.url}${path}`, allow_private_ip: true });
        expect([status, body.code], path).toEqual([502, 'upstream_failed']);
      }
      const closed = await put({ api_url: 'http://127.0.0.1:1', allow_private_ip: true });
      expect([closed.status, closed.body.code]).toEqual([504, 'upstream_timeout']);
      const { status } = await put({ url: 'https://127.0.0.1/registry.json' });
      expect(status).toBe(504);
      expect(await configText(manager)).toBe('');
    },
  );
});

const RECORDS = {
  servers: [
    {
      server: {
        name: 'io.example/one',
        description: 'One',
        version: '1.0.0',
        packages: [{ registryType: 'npm', identifier: 'one', version: '1.0.0', transport: { type: 'stdio' } }],
      },
      _meta: {},
    },
  ],
};

describe('several registries', () => {
  it('are one view: the first one that has a name serves it, and the others are said', async () => {
    await using manager = await startManager();
    const file = join(manager.home, 'work.json');
    const time = { image: 'example/time:9', transport: 'stdio', description: 'Our own clock' };
    await writeFile(file, JSON.stringify({ version: '1.0.0', servers: { time, ours: time } }));
    const added = await manager.request('POST', REGISTRY, { name: 'work', local_path: file });
    expect([added.status, added.body.name, added.body.server_count]).toEqual([201, 'work', 2]);
    const again = await manager.request('POST', REGISTRY, { name: 'work', local_path: file });
    expect([again.status, again.body.code]).toEqual([409, 'conflict']);

    const listed = await manager.request('GET', REGISTRY);
    expect(listed.body.registries).toMatchObject([
      { name: 'default', type: 'default', source: '' },
      { name: 'work', type: 'file', source: file, priority: 1 },
      { name: 'built-in', type: 'default', priority: 2 },
    ]);
    const server = await manager.request('GET', `${REGISTRY}/default/servers/time`);
    expect(server.body.server.image).toBe('example/time:9');
    const { body } = await manager.request('GET', `${REGISTRY}/default/servers?q=clock`);
    expect(body.servers.map(({ name }: { name: string }) => name)).toEqual(['ours', 'time']);
    expect(body.shadowed).toEqual([{ name: 'time', served_by: 'work', also_in: ['built-in'] }]);
    const own = await manager.request('GET', `${REGISTRY}/built-in/servers/time`);
    expect(own.body.server.image).toContain('uvx://mcp-server-time');

    expect((await manager.request('DELETE', `${REGISTRY}/work`)).status).toBe(204);
    expect((await manager.request('DELETE', `${REGISTRY}/work`)).status).toBe(404);
    expect((await manager.request('DELETE', `${REGISTRY}/default`)).status).toBe(400);
    const after = await manager.request('GET', `${REGISTRY}/default/servers/time`);
    expect(after.body.server.image).toContain('uvx://mcp-server-time');
  });

  it('go on without one that is away, and say so', async () => {
    await using hanging = await loopbackServer(() => {});
    await using manager = await startManager();
    await configure(manager, {
      registries: [
        { name: 'closed', api_url: 'http://127.0.0.1:1', allow_private_ip: true },
        { name: 'hanging', url: `${hanging.url}/r.json`, allow_private_ip: true },
      ],
    });
    const { status, body } = await manager.request('GET', `${REGISTRY}/default/servers?q=time`);
    expect(status).toBe(200);
    expect(body.servers).toContainEqual(expect.objectContaining({ name: 'time' }));
    expect(body.notes).toHaveLength(2);
    // it is not asked again for each request
    await manager.request('GET', `${REGISTRY}/default/servers?q=time`);
    expect(hanging.seen).toHaveLength(1);
    const closed = await manager.request('GET', `${REGISTRY}/closed`);
    expect([closed.status, closed.body.code]).toEqual([503, 'registry_unavailable']);
    const listed = await manager.request('GET', REGISTRY);
    expect(listed.body.registries[1]).toMatchObject({ name: 'closed', problem: expect.any(String) });
  });

  it('are asked again by refresh', async () => {
    let version = 1;
    await using server = await loopbackServer((_, response) =>
      response.end(JSON.stringify({ servers: { one: { image: `example/one:${version}`, transport: 'stdio' } } })),
    );
    await using manager = await startManager();
    const image = async () => {
      const { body } = await manager.request('GET', `${REGISTRY}/default/servers/one`);
      return body.server.image;
    };
    await manager.request('PUT', `${REGISTRY}/default`, { url: `${server.url}/r.json`, allow_private_ip: true });
    expect(await image()).toBe('example/one:1');
    version = 2;
    expect(await image()).toBe('example/one:1');
    const { status, body } = await manager.request('POST', `${REGISTRY}/default/refresh`);
    expect([status, body.status]).toEqual([200, 'refreshed']);
    expect(await image()).toBe('example/one:2');
    expect((await manager.request('POST', `${REGISTRY}/other/refresh`)).status).toBe(404);
  });
});
