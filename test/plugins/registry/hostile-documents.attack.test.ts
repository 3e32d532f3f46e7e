import { describe, expect, it } from 'vitest';
import { serversOf } from '../../../plugins/registry/contract-shapes.ts';
import { listServers, serverVersion } from '../../../plugins/registry/listing.ts';
import { mergeRegistries } from '../../../plugins/registry/merge-registries.ts';
import { readRegistryDocument } from '../../../plugins/registry/read-document.ts';
import { serverRecord, skillRecord } from '../../../plugins/registry/records/record-shapes.ts';
import type { Registry } from '../../../plugins/registry/registry-data.ts';

const SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(1)>';
const LINK = 'javascript:alert(document.cookie)';

function registryOf(document: unknown): Registry {
  const read = readRegistryDocument(typeof document === 'string' ? document : JSON.stringify(document));
  if ('problem' in read) throw new Error(read.problem);
  return read.registry;
}

const record = (more: object) => ({
  name: 'io.example/x',
  description: 'x',
  version: '1.0.0',
  packages: [{ registryType: 'npm', identifier: 'x', version: '1.0.0', transport: { type: 'stdio' } }],
  ...more,
});
const recordsOf = (...servers: object[]) => registryOf({ data: { servers } });

describe('a registry document with hostile content', () => {
  it('passes scripts on as text, and no URL that a page would run', () => {
    const { entries, records } = registryOf({
      servers: {
        x: {
          ...{ image: 'a/b:1', transport: 'stdio', title: SCRIPT, description: SCRIPT, overview: SCRIPT, tier: SCRIPT },
          ...{ repository_url: LINK, tags: [SCRIPT], tools: [SCRIPT], custom_metadata: { [SCRIPT]: SCRIPT } },
        },
      },
      remote_servers: { y: { url: LINK, transport: 'sse' } },
    });
    const { images, remotes } = serversOf(entries);
    expect(images[0]).toMatchObject({ title: SCRIPT, description: SCRIPT });
    expect(images[0]?.repository_url).toBeUndefined();
    expect(remotes).toEqual([]);
    expect(JSON.stringify(records)).not.toContain('javascript:');

    const read = recordsOf(
      record({
        ...{ title: SCRIPT, description: SCRIPT, websiteUrl: LINK, repository: { url: LINK, source: SCRIPT } },
        icons: [{ src: LINK }, { src: 'http://a.example/x.png' }, { src: 'https://a.example/x.png' }],
      }),
    );
    const [listed] = listServers(read, { page: 1, limit: 50 }).servers;
    expect(listed).toMatchObject({ title: SCRIPT, icons: [{ src: 'https://a.example/x.png' }] });
    expect(JSON.stringify(listed)).not.toContain('javascript:');
  });

  it('is bounded: long texts are cut, and what is too large is left out with its reason', () => {
    const long = 'x'.repeat(1024 * 1024);
    const { entries } = registryOf({ servers: { x: { image: 'a/b:1', transport: 'stdio', description: long } } });
    expect(entries[0]?.image?.description).toHaveLength(2_000);
    const cut = recordsOf(record({ description: long }));
    expect(cut.records[0]?.record.description).toHaveLength(2_000);
    const large = recordsOf(
      record({ _meta: { 'io.example': { long } } }),
      record({ name: 'io.example/y', title: long }),
    );
    expect(large.records).toEqual([]);
    expect(readRegistryDocument(' '.repeat(11 * 1024 * 1024))).toMatchObject({
      problem: expect.stringContaining('larger'),
    });
    const many = Array.from({ length: 50_001 }, () => ({}));
    expect(readRegistryDocument(JSON.stringify({ servers: many }))).toMatchObject({
      problem: expect.stringContaining('more than'),
    });
    const deep = `{"data":{"servers":[${'{"_meta":'.repeat(5_000)}1${'}'.repeat(5_000)}]}}`;
    expect(readRegistryDocument(deep)).toMatchObject({ problem: expect.stringContaining('nested') });
  });

  it('changes no prototype by its keys', () => {
    const text =
      '{"servers":{"__proto__":{"image":"a/b:1","transport":"stdio"},"constructor":{"image":"a/b:1","transport":"stdio",' +
      '"custom_metadata":{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}}}}';
    const registry = registryOf(text);
    expect(registry.entries.map(({ name }) => name)).toEqual(['constructor']);
    const servers = `{"data":{"servers":[${JSON.stringify(record({}))
      .slice(0, -1)
      .concat(
        ',"_meta":{"__proto__":{"polluted":true},"a":{"__proto__":{"polluted":true}}},"__proto__":{"polluted":true}}',
      )}]}}`;
    const { records } = registryOf(servers);
    expect(records).toHaveLength(1);
    const merged = mergeRegistries([
      { name: '__proto__', registry },
      { name: 'constructor', registry },
    ]);
    expect(merged.sourceOf('constructor')).toBe('__proto__');
    expect(merged.sourceOf('toString')).toBeUndefined();
    for (const value of [{}, [], records[0]?.record, merged]) {
      expect((value as { polluted?: unknown }).polluted).toBeUndefined();
    }
  });

  it.each([
    '../../etc/passwd',
    'io.example/..',
    'io.example/a/b',
    'io.example/ａ',
    'io.example/a%2Fb',
    'io.example/a b',
    '--privileged/x',
    '\u202eio.example/x',
    'io.example/x\u0000',
    `io.example/${'x'.repeat(300)}`,
    '',
  ])('has no entry and no record of the name %j', (name) => {
    const registry = recordsOf(record({ name }));
    expect(registry.entries).toEqual([]);
    expect(registry.records).toEqual([]);
    expect(serverVersion(registry, 'io.example/x', 'latest')).toBeUndefined();
  });

  it('has no record that leads to a private address, or sets variables that change how programs run', () => {
    const remote = (url: string) => record({ packages: [], remotes: [{ type: 'streamable-http', url }] });
    const variable = (more: object) =>
      record({
        packages: [
          {
            ...{ registryType: 'nuget', identifier: 'x', transport: { type: 'stdio' } },
            environmentVariables: [{ name: 'LD_PRELOAD', ...more }],
          },
        ],
      });
    for (const each of [
      remote('http://169.254.169.254/latest'),
      remote('https://127.0.0.1/mcp'),
      remote('https://[::1]/mcp'),
      remote('https://user:pass@a.example/mcp'),
      remote('file:///etc/passwd'),
      remote('https://10.0.0.{x}/mcp'),
      variable({ value: '/tmp/evil.so' }),
      variable({ isRequired: true }),
    ]) {
      expect(recordsOf(each).records, JSON.stringify(each)).toEqual([]);
    }
    expect(recordsOf(remote('https://{host}/mcp'), remote('https://{tenant}.a.example/mcp')).records).toHaveLength(2);
    // a package that toolmgr cannot run is passed on
    expect(recordsOf(variable({ name: 'MODE', value: 'x' })).records).toHaveLength(1);
  });

  it('gives answers of the declared shapes, whatever the types of its members are', () => {
    const odd = [null, 5, 'x', [], {}, true, [null], [{}], [[]], { a: null }];
    const members = ['name', 'title', 'description', 'version', 'icons', 'packages', 'remotes', 'repository', '_meta'];
    const servers = members.flatMap((member) => odd.map((value) => record({ [member]: value })));
    const skills = ['name', 'namespace', 'icons', 'packages', 'allowedTools', 'metadata', 'repository'].flatMap(
      (member) => odd.map((value) => ({ name: 'a', namespace: 'io.b', [member]: value })),
    );
    const registry = registryOf({ data: { servers: [...servers, ...odd], skills: [...skills, ...odd] } });
    for (const { record: each } of registry.records) expect(serverRecord.safeParse(each).success).toBe(true);
    for (const each of registry.skills) expect(skillRecord.safeParse(each).success).toBe(true);
  });
});
