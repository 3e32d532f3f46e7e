import { describe, expect, it } from 'vitest';
import { builtInRegistry } from '../../../plugins/registry/built-in/built-in.ts';
import { lookUpEntry, searchEntries } from '../../../plugins/registry/look-up.ts';
import { readRegistryDocument } from '../../../plugins/registry/read-document.ts';
import type { Registry } from '../../../plugins/registry/registry-data.ts';

function registryOf(document: unknown, rules = {}): Registry {
  const read = readRegistryDocument(typeof document === 'string' ? document : JSON.stringify(document), rules);
  if ('problem' in read) throw new Error(read.problem);
  return read.registry;
}

const imageOf = (registry: Registry, name: string) => registry.entries.find((entry) => entry.name === name)?.image;
const remoteOf = (registry: Registry, name: string) => registry.entries.find((entry) => entry.name === name)?.remote;

describe('the built-in registry', () => {
  it('has at least ten local servers and some remote ones, none of them left out', () => {
    const registry = builtInRegistry();
    expect(registry.leftOut).toEqual([]);
    expect(registry.entries.filter(({ image }) => image !== undefined).length).toBeGreaterThanOrEqual(10);
    expect(registry.entries.filter(({ remote }) => remote !== undefined).length).toBeGreaterThanOrEqual(3);
    expect(imageOf(registry, 'github')).toMatchObject({
      image: 'ghcr.io/github/github-mcp-server:v0.30.2',
      env_vars: [{ name: 'GITHUB_PERSONAL_ACCESS_TOKEN', required: true, secret: true }, {}, {}, {}],
      provenance: { repository_uri: 'https://github.com/github/github-mcp-server' },
    });
  });
});

describe('the registry of the contract', () => {
  it('reads image servers, remote servers and groups, and leaves unknown members out', () => {
    const registry = registryOf({
      version: '1.2.3',
      last_updated: '2026-01-01T00:00:00Z',
      servers: { one: { image: 'example/one:1', transport: 'sse', target_port: 80, unknown: true } },
      remote_servers: { two: { url: 'https://two.example.com/mcp', transport: 'sse' } },
      groups: [
        { name: 'g', servers: { three: { image: 'npx://three@1.0.0', transport: 'stdio' } }, remote_servers: {} },
      ],
    });
    expect(registry).toMatchObject({ version: '1.2.3', lastUpdated: '2026-01-01T00:00:00Z', leftOut: [] });
    expect(registry.entries.map(({ name }) => name)).toEqual(['one', 'three', 'two']);
    expect(imageOf(registry, 'one')).toEqual({
      image: 'example/one:1',
      transport: 'sse',
      target_port: 80,
      description: '',
    });
  });

  it.each([
    ['no registry', {}, 'is not a registry document'],
    ['a number', 5, 'is not a registry document'],
  ])('says that %s is no registry', (_, document, problem) => {
    expect(readRegistryDocument(JSON.stringify(document))).toMatchObject({ problem: expect.stringContaining(problem) });
  });
});

describe('records of the official registry', () => {
  const record = (more: object) => ({ name: 'io.example/x', description: 'x', version: '1.0.0', ...more });
  const listed = (...servers: object[]) => registryOf({ servers });

  it('are left out with reasons that a terminal can show', () => {
    const of = (pack: object) => record({ packages: [{ identifier: 'a', ...pack }] });
    const { leftOut } = registryOf([
      of({ registryType: '\u001b]0;owned\u0007cargo' }),
      of({ registryType: 'npm', registryBaseUrl: 'https://evil/\u001b[2J\u009b1A\u202e' }),
      { name: 'io.example/\u001b[1A', packages: [] },
    ]);
    expect(leftOut).toHaveLength(3);
    expect(JSON.stringify(leftOut)).not.toMatch(/[\u0080-\u009f\u202e]|\\u00[019]/);
  });

  it('reads an image, an npm package and a PyPI package with arguments and variables', () => {
    const npm = {
      registryType: 'npm',
      registryBaseUrl: 'https://registry.npmjs.org',
      identifier: '@org/server',
      version: '1.2.0',
      transport: { type: 'stdio' },
      packageArguments: [
        { type: 'named', name: '--mode', value: 'fast' },
        { type: 'named', name: '--level', value: '{level}', variables: { level: { default: '3' } } },
        { type: 'positional', valueHint: 'path', isRequired: true },
        { type: 'named', name: '--verbose', isRequired: true },
      ],
      environmentVariables: [
        { name: 'TOKEN', isRequired: true, isSecret: true },
        { name: 'LEVEL', default: 'info' },
      ],
      runtimeArguments: [{ type: 'named', name: '--privileged', value: 'true' }],
    };
    const oci = {
      registryType: 'oci',
      identifier: 'ghcr.io/org/server',
      version: '2',
      transport: { type: 'streamable-http', url: 'http://localhost:8080/mcp' },
    };
    const pypi = { registryType: 'pypi', identifier: 'server-py', version: '0.1' };
    const registry = listed(
      { server: record({ packages: [npm] }), _meta: {} },
      record({ name: 'io.example/image', packages: [npm, oci] }),
      record({ name: 'io.example/python', packages: [pypi] }),
    );
    expect(imageOf(registry, 'io.example/x')).toMatchObject({
      image: 'npx://@org/server@1.2.0',
      transport: 'stdio',
      args: ['--mode', 'fast', '--level', '3', '--verbose'],
      required_args: ['path'],
      env_vars: [
        { name: 'TOKEN', required: true, secret: true },
        { name: 'LEVEL', required: false, secret: false, default: 'info' },
      ],
      not_used: ['arguments of the runtime: --privileged'],
    });
    expect(imageOf(registry, 'io.example/image')).toMatchObject({
      image: 'ghcr.io/org/server:2',
      transport: 'streamable-http',
      target_port: 8080,
    });
    expect(imageOf(registry, 'io.example/python')).toMatchObject({ image: 'uvx://server-py@0.1' });
  });

  it('prefers a remote, fills the defaults of its URL and keeps what it asks in headers', () => {
    const remotes = [
      {
        type: 'streamable-http',
        url: 'https://{region}.example.com/mcp',
        variables: { region: { default: 'eu' } },
        headers: [
          {
            name: 'Authorization',
            value: 'Bearer {token}',
            variables: { token: { isRequired: true, isSecret: true } },
          },
        ],
      },
    ];
    const registry = listed(record({ remotes, packages: [{ registryType: 'npm', identifier: 'x' }] }));
    expect(remoteOf(registry, 'io.example/x')).toMatchObject({
      url: 'https://eu.example.com/mcp',
      headers: [{ name: 'Authorization', required: true, secret: true }],
    });
  });

  it('reads what a publisher says about an image under the key of any vendor', () => {
    const publisher = {
      'com.vendor': {
        'org/x:1': { tools: ['a'], provenance: { cert_issuer: 'https://issuer' }, image: 'other/image' },
      },
    };
    const registry = listed(
      record({
        packages: [{ registryType: 'oci', identifier: 'org/x:1' }],
        _meta: { 'io.modelcontextprotocol.registry/publisher-provided': publisher },
      }),
    );
    expect(imageOf(registry, 'io.example/x')).toMatchObject({
      image: 'org/x:1',
      tools: ['a'],
      provenance: { cert_issuer: 'https://issuer' },
    });
  });

  it('uses the latest version of a server, and none that was deleted', () => {
    const official = (value: object) => ({ _meta: { 'io.modelcontextprotocol.registry/official': value } });
    const versioned = (tag: string) => record({ packages: [{ registryType: 'oci', identifier: `org/x:${tag}` }] });
    const registry = listed(
      { server: versioned('2'), ...official({ isLatest: true, status: 'active' }) },
      { server: versioned('1'), ...official({ isLatest: false, status: 'active' }) },
      { server: { ...versioned('1'), name: 'io.example/gone' }, ...official({ status: 'deleted' }) },
    );
    expect(imageOf(registry, 'io.example/x')?.image).toBe('org/x:2');
    expect(registry.leftOut).toEqual([{ name: 'io.example/gone', reason: 'it was deleted from the registry' }]);
  });

  it.each([
    [
      { packages: [{ registryType: 'mcpb', identifier: 'https://x/y.mcpb' }] },
      'packages of the type mcpb cannot be run',
    ],
    [
      { packages: [{ registryType: 'npm', registryBaseUrl: 'https://npm.evil.example', identifier: 'x' }] },
      'which toolmgr would not ask',
    ],
    [{ remotes: [{ type: 'sse', url: 'https://{host}/sse' }] }, 'variables without a default'],
    [{}, 'it has no package and no remote'],
  ])('leaves out what cannot be run: %j', (more, reason) => {
    expect(listed(record(more)).leftOut).toEqual([{ name: 'io.example/x', reason: expect.stringContaining(reason) }]);
  });
});

describe('a hostile registry document', () => {
  const image = { image: 'example/x:1', transport: 'stdio' };
  const entry = (more: object) => registryOf({ servers: { x: { ...image, ...more } } });

  it.each([
    ['a terminal escape', '\u001b]0;title\u0007'],
    ['a path', '../../etc/passwd'],
    ['a flag', '--privileged'],
    ['white space', 'a b'],
    ['two slashes', 'a/b/c'],
    ['nothing', ''],
  ])('refuses a name with %s', (_, name) => {
    const registry = registryOf({ servers: { [name]: image, good: image } });
    expect(registry.entries.map((each) => each.name)).toEqual(['good']);
    expect(registry.leftOut[0]?.name).not.toMatch(/\p{Cc}/u);
  });

  it('has no effect on prototypes', () => {
    const text =
      '{"servers":{"__proto__":{"image":"a/b","transport":"stdio"},"constructor":{"image":"a/b","transport":"stdio","__proto__":{"polluted":1}}}}';
    const registry = registryOf(text);
    expect(registry.leftOut).toEqual([{ name: '__proto__', reason: 'its name is not valid' }]);
    expect(lookUpEntry(registry, 'toString')).toMatchObject({ kind: 'missing' });
    expect({}).not.toHaveProperty('polluted');
  });

  it.each([
    '--privileged',
    '-v/:/host',
    'npx://--call=evil',
    'npx://pkg; rm -rf /',
    'npx://pkg|cat',
    'npx://../../evil',
    'uvx://--from evil',
    'go://./local',
    'go://../local',
    'file:///etc/passwd',
    'example/x:1\nFROM evil',
  ])('refuses the image %j', (given) => {
    expect(entry({ image: given })).toMatchObject({
      entries: [],
      leftOut: [{ name: 'x', reason: expect.stringContaining('expected a container image') }],
    });
  });

  it.each([
    'LD_PRELOAD',
    'PATH',
    'HTTP_PROXY',
    'https_proxy',
    'NODE_OPTIONS',
    'npm_config_registry',
    'PYTHONPATH',
    'TOOLMGR_STATE_DIR',
  ])('refuses to set or to ask for the variable %s', (name) => {
    expect(entry({ env_vars: [{ name, default: 'evil' }] }).leftOut[0]?.reason).toContain(name);
    expect(entry({ env_vars: [{ name, required: true }] }).leftOut[0]?.reason).toContain(name);
    expect(entry({ env_vars: [{ name }] }).leftOut).toEqual([]);
  });

  it.each(['A=B', 'A\nB', '1A', 'a b', ''])('refuses the variable name %j', (name) => {
    expect(entry({ env_vars: [{ name }] }).leftOut).toHaveLength(1);
  });

  it.each([
    [{ args: ['a\u001b[2J'] }, 'args[0]: has control characters'],
    [{ env_vars: [{ name: 'A', default: 'a\u0000b' }] }, 'has control characters'],
    [{ tools: ['a\u202eb'] }, 'has control characters'],
    [{ permissions: { read: ['/etc;rm'] } }, 'permissions.read[0]'],
    [{ permissions: { surprise: true } }, 'permissions'],
    [{ permissions: { network: { mode: 'host\u009b2J' } } }, 'permissions: has control characters'],
    [{ target_port: 70_000 }, 'target_port'],
    [{ transport: 'exec' }, 'transport'],
  ])('refuses %j', (more, reason) => {
    expect(entry(more).leftOut).toEqual([{ name: 'x', reason: expect.stringContaining(reason) }]);
  });

  it('shows no control characters of descriptions', () => {
    const description = 'a\u001b[31mred\u001b[0m\u202e\u0007';
    expect(imageOf(entry({ description, title: 't\u0008' }), 'x')).toMatchObject({
      description: 'a[31mred[0m',
      title: 't',
    });
  });

  it.each([
    'http://plain.example.com/mcp',
    'https://127.0.0.1/mcp',
    'https://169.254.169.254/latest',
    'https://[::ffff:10.0.0.1]/mcp',
    'https://user:password@example.com/mcp',
    'file:///etc/passwd',
    'javascript:alert(1)',
  ])('refuses the URL %s', (url) => {
    const registry = registryOf({ remote_servers: { x: { url, transport: 'sse' } } });
    expect(registry).toMatchObject({ entries: [], leftOut: [{ reason: expect.stringMatching(/^url: /) }] });
  });

  it.each(['issuer', 'authorize_url', 'token_url'])('refuses a private address as %s of a login', (name) => {
    const oauth_config = { [name]: 'https://169.254.169.254/x' };
    const remote = { url: 'https://example.com/mcp', transport: 'sse', oauth_config };
    expect(registryOf({ remote_servers: { x: remote } }).leftOut).toEqual([
      { name: 'x', reason: expect.stringContaining(`${name}: `) },
    ]);
  });

  it('accepts private addresses when the user allows them', () => {
    const document = { remote_servers: { x: { url: 'http://127.0.0.1:1/mcp', transport: 'sse' } } };
    expect(registryOf(document, { allowPrivateAddresses: true }).entries).toHaveLength(1);
  });

  it.each(['Host', 'Content-Length', 'Mcp-Session-Id', 'a b', 'A:'])('refuses the header %j', (name) => {
    const remote = { url: 'https://example.com/mcp', transport: 'sse', headers: [{ name }] };
    expect(registryOf({ remote_servers: { x: remote } }).leftOut).toHaveLength(1);
  });

  it('refuses a document that is nested too deeply, has too many servers or is too large', () => {
    const nested = `{"servers":{"x":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`;
    expect(readRegistryDocument(nested)).toMatchObject({ problem: expect.stringContaining('nested') });
    const many = { servers: Array.from({ length: 50_001 }, () => 0) };
    expect(readRegistryDocument(JSON.stringify(many))).toMatchObject({
      problem: expect.stringContaining('more than 50000'),
    });
    expect(readRegistryDocument(' '.repeat(10 * 1024 * 1024 + 1))).toMatchObject({
      problem: expect.stringContaining('larger'),
    });
    expect(readRegistryDocument('{"servers":')).toEqual({ problem: 'is not JSON' });
  });
});

describe('finding an entry', () => {
  const registry = registryOf({
    servers: Object.fromEntries(
      ['io.a/fetch', 'io.a/time', 'io.b/time', 'memory'].map((name) => [
        name,
        { image: 'a/b', transport: 'stdio', tags: [`tag-${name.at(-1)}`] },
      ]),
    ),
  });

  it('finds a full name and a short name that is unique', () => {
    expect(lookUpEntry(registry, 'io.a/time')).toMatchObject({ kind: 'found', entry: { name: 'io.a/time' } });
    expect(lookUpEntry(registry, 'fetch')).toMatchObject({ kind: 'found', entry: { name: 'io.a/fetch' } });
    expect(lookUpEntry(registry, 'time')).toEqual({ kind: 'ambiguous', names: ['io.a/time', 'io.b/time'] });
  });

  it('finds a name as the listing publishes it', () => {
    expect(lookUpEntry(registry, 'dev.toolmgr/memory')).toMatchObject({ kind: 'found', entry: { name: 'memory' } });
    // the listing publishes io.a/fetch under its own name
    expect(lookUpEntry(registry, 'dev.toolmgr/fetch').kind).toBe('missing');
    expect(lookUpEntry(registry, 'io.c/memory').kind).toBe('missing');
  });

  it('names the nearest entry of one that is missing', () => {
    expect(lookUpEntry(registry, 'memoy')).toEqual({ kind: 'missing', nearest: 'memory' });
    expect(lookUpEntry(registry, 'something-else-entirely')).toEqual({ kind: 'missing' });
  });

  it('searches names, descriptions and tags', () => {
    expect(searchEntries(registry, 'TIME').map(({ name }) => name)).toEqual(['io.a/time', 'io.b/time']);
    expect(searchEntries(registry, 'tag-y').map(({ name }) => name)).toEqual(['memory']);
    expect(searchEntries(registry, '')).toHaveLength(4);
  });
});
