import { readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { loadRegistry, loadRegistryFor, sourceFromText } from '../../../plugins/registry/sources.ts';
import { type LoopbackServer, loopbackServer } from '../../support/loopback-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const DOCUMENT = JSON.stringify({ servers: { one: { image: 'example/one:1', transport: 'stdio' } } });
const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 0, 2);

let cacheDir: string;
let options: { cacheDir: string; allowPrivateAddresses: true; nowMs: number };

beforeEach(() => {
  cacheDir = temporaryFolder('registry');
  options = { cacheDir, allowPrivateAddresses: true, nowMs: START_MS };
});

const namesOf = (loaded: Awaited<ReturnType<typeof loadRegistry>>) =>
  'problem' in loaded ? loaded.problem : loaded.registry.entries.map(({ name }) => name);

describe('a registry source', () => {
  it.each([
    ['default', { type: 'default' }],
    ['official', { type: 'api', url: 'https://registry.modelcontextprotocol.io' }],
    ['/etc/registry.json', { type: 'file', path: '/etc/registry.json' }],
    ['https://example.com/r.json?x=1', { type: 'url', url: 'https://example.com/r.json?x=1' }],
    ['https://example.com/base/', { type: 'api', url: 'https://example.com/base' }],
  ])('is read from %s', (text, source) => {
    expect(sourceFromText(text)).toEqual(source);
  });

  it.each([
    'http://example.com/r.json',
    'https://127.0.0.1/r.json',
    'https://10.0.0.1',
    'ftp://example.com',
    'relative.json',
    '',
  ])('is refused: %j', (text) => {
    expect(sourceFromText(text)).toHaveProperty('reason');
  });

  it('accepts a private address when the user allows it', () => {
    expect(sourceFromText('http://127.0.0.1:1/r.json', { allowPrivateAddresses: true })).toMatchObject({ type: 'url' });
  });
});

describe('a registry in a file', () => {
  it('is read, and a file that is missing, too large or no registry is named', async () => {
    const path = join(cacheDir, 'r.json');
    await writeFile(path, DOCUMENT);
    expect(namesOf(await loadRegistry({ type: 'file', path }))).toEqual(['one']);
    await writeFile(path, '[');
    expect(await loadRegistry({ type: 'file', path })).toMatchObject({ problem: `the registry ${path} is not JSON` });
    await writeFile(path, ' '.repeat(10 * 1024 * 1024 + 1));
    expect(namesOf(await loadRegistry({ type: 'file', path }))).toContain('larger than');
    expect(namesOf(await loadRegistry({ type: 'file', path: `${path}.absent` }))).toContain('cannot be read');
    await symlink('/dev/zero', `${path}.endless`);
    expect(namesOf(await loadRegistry({ type: 'file', path: `${path}.endless` }))).toContain('is not a regular file');
  });
});

describe('a registry at a URL', () => {
  it('is asked again with its ETag, and its copy is used with a note when it does not answer', async () => {
    const asked: (string | undefined)[] = [];
    let status = 200;
    await using server = await loopbackServer((request, response) => {
      asked.push(request.headers['if-none-match']);
      if (status !== 200) response.writeHead(status).end();
      else if (request.headers['if-none-match'] === '"v1"') response.writeHead(304).end();
      else response.writeHead(200, { etag: '"v1"' }).end(DOCUMENT);
    });
    const source = { type: 'url', url: `${server.url}/r.json` } as const;
    expect(namesOf(await loadRegistry(source, options))).toEqual(['one']);
    expect(namesOf(await loadRegistry(source, options))).toEqual(['one']);
    expect(asked).toEqual([undefined, '"v1"']);
    expect(await readdir(cacheDir)).toEqual([expect.stringMatching(/^registry-[0-9a-f]{8}\.json$/)]);
    status = 500;
    const stale = await loadRegistry(source, options);
    expect(stale).toMatchObject({ notes: [expect.stringContaining('the copy of 2026-01-02 is used')] });
    status = 401;
    expect(namesOf(await loadRegistry(source, options))).toContain('status 401');
    status = 500;
    const later = { ...options, nowMs: START_MS + 8 * 24 * HOUR_MS };
    expect(namesOf(await loadRegistry(source, later))).toContain('status 500');
  });

  it('is refused at a private address, behind a redirect and when it is too large', async () => {
    await using server = await loopbackServer((request, response) => {
      if (request.url === '/redirect.json') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
      else response.writeHead(200).end(' '.repeat(10 * 1024 * 1024 + 1));
    });
    const { allowPrivateAddresses: _, ...strict } = options;
    expect(namesOf(await loadRegistry({ type: 'url', url: `${server.url}/r.json` }, strict))).toContain('https');
    expect(server.seen).toEqual([]);
    expect(namesOf(await loadRegistry({ type: 'url', url: `${server.url}/redirect.json` }, options))).toContain(
      'redirect',
    );
    expect(namesOf(await loadRegistry({ type: 'url', url: `${server.url}/large.json` }, options))).toContain(
      'more than',
    );
  });
});

describe('a registry server', () => {
  const record = (name: string) => ({
    server: {
      name,
      description: name,
      version: '1',
      packages: [{ registryType: 'oci', identifier: `a/${name.split('/')[1]}:1` }],
    },
    _meta: {},
  });
  const api = (pages: Readonly<Record<string, object>>): Promise<LoopbackServer> =>
    loopbackServer((request, response) => {
      const page = pages[request.url ?? ''];
      response.writeHead(page === undefined ? 404 : 200).end(JSON.stringify(page ?? {}));
    });

  it('is listed page by page, and its listing is fresh for an hour', async () => {
    await using server = await api({
      '/v0.1/servers?limit=100&version=latest': { servers: [record('io.a/one')], metadata: { nextCursor: 'c 1' } },
      '/v0.1/servers?limit=100&version=latest&cursor=c+1': { servers: [record('io.a/two')], metadata: { count: 1 } },
    });
    const source = { type: 'api', url: server.url } as const;
    expect(namesOf(await loadRegistry(source, options))).toEqual(['io.a/one', 'io.a/two']);
    expect(namesOf(await loadRegistry(source, { ...options, nowMs: START_MS + HOUR_MS - 1 }))).toHaveLength(2);
    expect(server.seen).toHaveLength(3); // two pages, and the skills
    expect(namesOf(await loadRegistry(source, { ...options, refresh: true }))).toHaveLength(2);
    expect(server.seen).toHaveLength(6);
  });

  it('is listed when it has more than ten thousand servers', async () => {
    const count = 10_150;
    await using server = await loopbackServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://registry');
      const start = Number(searchParams.get('cursor') ?? 0);
      const end = Math.min(start + 100, count);
      const servers = Array.from({ length: end - start }, (_, at) => record(`io.a/s${start + at}`));
      const isListing = pathname === '/v0.1/servers';
      const body = isListing ? { servers, metadata: end < count ? { nextCursor: String(end) } : {} } : {};
      response.writeHead(isListing ? 200 : 404).end(JSON.stringify(body));
    });
    expect(namesOf(await loadRegistry({ type: 'api', url: server.url }, options))).toHaveLength(count);
    expect(server.seen).toHaveLength(103);
  });

  it('is asked for one name only', async () => {
    await using server = await api({
      '/v0.1/servers/io.a%2Fone/versions/latest': record('io.a/one'),
      '/v0.1/servers?limit=100&version=latest&search=one': {
        servers: [record('io.a/one'), record('io.b/one-more')],
        metadata: {},
      },
    });
    const source = { type: 'api', url: server.url } as const;
    expect(namesOf(await loadRegistryFor(source, 'io.a/one', options))).toEqual(['io.a/one']);
    expect(namesOf(await loadRegistryFor(source, 'one', options))).toEqual(['io.a/one', 'io.b/one-more']);
    expect(server.seen).toHaveLength(2);
  });

  it('is refused when it repeats a page for ever', async () => {
    await using server = await loopbackServer((_request, response) => {
      response.end(JSON.stringify({ servers: [], metadata: { nextCursor: 'same' } }));
    });
    expect(namesOf(await loadRegistry({ type: 'api', url: server.url }, options))).toContain('repeats a page');
    expect(server.seen).toHaveLength(2);
  });

  it('is refused when one page has more entries than a registry may have', async () => {
    const many = Array.from({ length: 1_000_000 }, () => 0);
    for (const given of [{ servers: many }, { skills: many }]) {
      await using server = await loopbackServer((_request, response) => {
        response.end(JSON.stringify({ servers: [], skills: [], metadata: {}, ...given }));
      });
      expect(namesOf(await loadRegistry({ type: 'api', url: server.url }, options))).toContain('lists too many s');
    }
  });
});
