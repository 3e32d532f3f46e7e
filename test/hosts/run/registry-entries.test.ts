import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunFlags } from '../../../hosts/workloads/fields/options.ts';
import { newWorkload } from '../../../hosts/workloads/planning/new-workload.ts';
import { readUserSecrets } from '../../../hosts/workloads/secrets/start-secrets.ts';
import { loopbackServer } from '../../support/loopback-server.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { defaultFlags } from './default-flags.ts';

let home: string;

beforeEach(() => {
  home = temporaryFolder('entries');
  vi.stubEnv('XDG_CONFIG_HOME', home);
  vi.stubEnv('XDG_CACHE_HOME', home);
});
afterEach(() => vi.unstubAllEnvs());

const registry = async (document: object): Promise<void> => {
  const path = join(home, 'registry.json');
  await writeFile(path, JSON.stringify(document));
  await mkdir(join(home, 'toolmgr'), { recursive: true });
  await writeFile(join(home, 'toolmgr/config.yaml'), `local_registry_path: ${path}\n`);
};
const run = (target: string, flags: Partial<RunFlags> = {}, args: string[] = [], answers?: string[]) => {
  const questions: string[] = [];
  const ask = async (question: string, { hides = false } = {}) => {
    questions.push(`${hides ? 'hidden ' : ''}${question}`);
    return answers?.shift() ?? '';
  };
  const made = newWorkload(
    target,
    args,
    { ...defaultFlags, isolateNetwork: false, ...flags },
    home,
    answers === undefined ? undefined : ask,
  );
  return made.then((workload) => ({ ...workload, questions }));
};

const IMAGE = {
  image: 'example/org/server:1.2',
  transport: 'streamable-http',
  target_port: 8080,
  proxy_port: 18_080,
  args: ['--mode', 'fast'],
  stateless: true,
  tools: ['read', 'write'],
  permissions: { network: { outbound: { allow_host: ['example.com'] } } },
  env_vars: [{ name: 'LEVEL', default: 'info' }, { name: 'MODE' }],
};

describe('run NAME', () => {
  proves(
    ['run.form.registry-name', 'run.option.permission-profile-default'],
    'takes transport, ports, arguments, variables and permissions of the entry, and the flags of the user win',
    async () => {
      await registry({ servers: { 'io.example/my.server': IMAGE } });
      const { config } = await run('my.server');
      expect(config).toMatchObject({
        name: 'io-example-my-server',
        image: 'example/org/server:1.2',
        transport: 'streamable-http',
        port: 18_080,
        target_port: 8080,
        stateless: true,
        cmd_args: ['--mode', 'fast'],
        env_vars: { LEVEL: 'info' },
        permission_profile: { network: { outbound: { allow_host: ['example.com'] } } },
        registry_server_name: 'io.example/my.server',
      });
      expect(config).not.toHaveProperty('permission_profile_name_or_path');
      const flags = { name: 'mine', transport: 'stdio', env: { LEVEL: 'debug' }, permissionProfile: 'none' } as const;
      const mine = await run('io.example/my.server', flags, ['--other']);
      expect(mine.config).toMatchObject({
        name: 'mine',
        transport: 'stdio',
        stateless: false,
        cmd_args: ['--other'],
        env_vars: { LEVEL: 'debug' },
        permission_profile_name_or_path: 'none',
      });
      expect(mine.config).not.toHaveProperty('target_port');
    },
  );

  proves(
    'run.option.permission-profile-default',
    'has the profile network when the entry has no permissions',
    async () => {
      const { permissions: _, ...plain } = IMAGE;
      await registry({ servers: { plain } });
      for (const target of ['plain', 'example/org/other:1'])
        expect((await run(target, { transport: 'stdio' })).config).toMatchObject({
          permission_profile_name_or_path: 'network',
          permission_profile: { network: { outbound: { insecure_allow_all: true } } },
        });
    },
  );

  it('runs the package and the URL of an entry', async () => {
    vi.stubEnv('XDG_CONFIG_HOME', '/nonexistent');
    const everything = await run('everything', { runtime: 'process' });
    expect(everything.config).toMatchObject({ transport: 'stdio', registry_server_name: 'everything', process: {} });
    const remote = await run('deepwiki');
    expect(remote.config).toMatchObject({ remote_url: 'https://mcp.deepwiki.com/mcp', transport: 'streamable-http' });
  });

  it('names required arguments and headers that are missing', async () => {
    await registry({
      servers: { files: { image: 'example/files:1', transport: 'stdio', required_args: ['DIRECTORY'] } },
      remote_servers: {
        api: {
          url: 'https://api.example.com/mcp',
          transport: 'sse',
          headers: [
            { name: 'X-Key', required: true },
            { name: 'X-Region', default: 'eu' },
          ],
        },
      },
    });
    await expect(run('files')).rejects.toThrow('files needs arguments: toolmgr run files -- DIRECTORY');
    await expect(run('files', {}, ['/srv'])).resolves.toMatchObject({ config: { cmd_args: ['/srv'] } });
    await expect(run('api')).rejects.toThrow('api needs headers: --remote-forward-headers X-Key=VALUE');
    await expect(run('api', { remoteForwardHeadersSecret: { 'X-KEY': 'NAME' } })).resolves.toHaveProperty('config');
    const { config } = await run('api', { remoteForwardHeaders: { 'x-key': '1' } });
    expect(config.header_forward).toEqual({ add_plaintext_headers: { 'X-Region': 'eu', 'x-key': '1' } });
  });

  it('takes the login of a remote entry, unless the user gives another or a token', async () => {
    const oauth_config = {
      issuer: 'https://id.example.com',
      client_id: 'c',
      scopes: ['a', 'b'],
      resource: 'https://r.example.com',
    };
    await registry({ remote_servers: { api: { url: 'https://api.example.com/mcp', transport: 'sse', oauth_config } } });
    expect((await run('api')).config.remote_auth_config).toEqual(oauth_config);
    const { config } = await run('api', { remoteAuthIssuer: 'https://mine.example.com', remoteAuthScopes: ['c'] });
    expect(config.remote_auth_config).toEqual({
      issuer: 'https://mine.example.com',
      scopes: ['c'],
      resource: 'https://r.example.com',
    });
    const urls = { authorize_url: 'https://id.example.com/a', token_url: 'https://id.example.com/t' };
    const params = { oauth_params: { audience: 'x', redirect_uri: 'https://evil.example' } };
    const remote = { url: 'https://api.example.com/mcp', transport: 'sse', oauth_config: { ...urls, ...params } };
    await registry({ remote_servers: { api: remote } });
    expect((await run('api')).config.remote_auth_config).toEqual({ oauth_params: { audience: 'x' } });
    expect((await run('api', { remoteAuthClientId: 'c' })).config.remote_auth_config).toEqual({
      ...urls,
      client_id: 'c',
      oauth_params: { audience: 'x' },
    });
    const withToken = await run('api', { remoteAuthBearerToken: 'token' });
    expect(withToken.config.remote_auth_config).toEqual({
      bearer_token: 'REMOTE_AUTH_BEARER_TOKEN,target=bearer_token',
    });
  });

  it('asks for required variables on a terminal, hides secret ones, and keeps these out of the run configuration', async () => {
    const env_vars = [
      { name: 'TOKEN', required: true, secret: true, description: 'the token' },
      { name: 'PLACE', required: true },
      { name: 'STORED', required: true, secret: true },
    ];
    await registry({ servers: { x: { image: 'example/x:1', transport: 'stdio', env_vars } } });
    await expect(run('x')).rejects.toThrow(
      /^x needs values:\n {2}TOKEN \(the token\): --secret .*TOOLMGR_SECRET_TOKEN\n {2}PLACE: --env PLACE=VALUE\n/,
    );
    vi.stubEnv('TOOLMGR_SECRET_STORED', 'stored-value');
    const made = await run('x', {}, [], ['typed-token', 'typed-place']);
    expect(made.questions).toEqual(['hidden x needs TOKEN (the token): ', 'x needs PLACE: ']);
    expect(made.config).toMatchObject({
      env_vars: { PLACE: 'typed-place' },
      secrets: ['TOKEN,target=TOKEN', 'STORED,target=STORED'],
    });
    // a secret of the user is read at each start
    expect(made.secrets).toEqual({ TOKEN: 'typed-token' });
    expect(JSON.stringify(made.config)).not.toMatch(/typed-token|stored-value/);
    expect(await readUserSecrets(made.config, made.secrets)).toEqual({ TOKEN: 'typed-token', STORED: 'stored-value' });
    await expect(run('x', {}, [], ['', 'place'])).rejects.toThrow('TOKEN');
    await expect(run('x', { env: { TOKEN: 'a', PLACE: 'b' } })).resolves.toMatchObject({
      config: { secrets: ['STORED,target=STORED'] },
      secrets: {},
    });
    const given = await run('x', { secret: ['mine,target=TOKEN'], env: { PLACE: 'b' } });
    expect(given.config.secrets?.toSorted()).toEqual(['STORED,target=STORED', 'mine,target=TOKEN']);
  });

  it('gives no stored secret to an entry of a registry at a URL without a yes', async () => {
    const env_vars = [
      { name: 'GITHUB_TOKEN', secret: true },
      { name: 'ABSENT', secret: true },
      { name: 'NEEDED', secret: true, required: true },
    ];
    const document = JSON.stringify({ servers: { x: { image: 'example/x:1', transport: 'stdio', env_vars } } });
    await using server = await loopbackServer((_, response) => response.end(document));
    await mkdir(join(home, 'toolmgr'), { recursive: true });
    const settings = `registry_url: ${server.url}/registry.json\nallow_private_registry_ip: true\n`;
    await writeFile(join(home, 'toolmgr/config.yaml'), settings);
    vi.stubEnv('TOOLMGR_SECRET_GITHUB_TOKEN', 'stored-value');
    vi.stubEnv('TOOLMGR_SECRET_NEEDED', 'needed-value');
    await expect(run('x')).rejects.toThrow(
      /x would get your secrets GITHUB_TOKEN, NEEDED, .* --secret GITHUB_TOKEN,target=/,
    );
    const refused = await run('x', {}, [], ['', 'typed']);
    expect(refused.questions[0]).toContain('GITHUB_TOKEN, NEEDED\nallow this? [y/N]');
    expect(refused.config.secrets).toEqual(['NEEDED,target=NEEDED']);
    expect(refused.secrets).toEqual({ NEEDED: 'typed' });
    const allowed = await run('x', {}, [], ['y']);
    expect(allowed.config.secrets).toEqual(['GITHUB_TOKEN,target=GITHUB_TOKEN', 'NEEDED,target=NEEDED']);
    const named = await run('x', { secret: ['NEEDED,target=NEEDED'], env: { GITHUB_TOKEN: '' } });
    expect(named.config.secrets).toEqual(['NEEDED,target=NEEDED']);
  });

  it('checks names of --tools against the entry', async () => {
    await registry({ servers: { x: IMAGE } });
    await expect(run('x', { tools: ['reed'] })).rejects.toThrow(
      '--tools: reed is not a tool of x in the registry (did you mean read?)',
    );
    const toolsOverride = join(home, 'override.json');
    await writeFile(toolsOverride, JSON.stringify({ toolsOverride: { read: { name: 'look' } } }));
    await expect(run('x', { tools: ['look', 'write'], toolsOverride })).resolves.toMatchObject({ secrets: {} });
    await expect(run('x', { tools: ['read'], toolsOverride })).rejects.toThrow('--tools: read is not a tool of x');
    await writeFile(toolsOverride, JSON.stringify({ toolsOverride: { raed: { name: 'look' } } }));
    await expect(run('x', { toolsOverride })).rejects.toThrow('--tools-override: raed is not a tool of x');
    await expect(run('x', { tools: ['read'] })).resolves.toMatchObject({ config: { tools_filter: ['read'] } });
  });

  it('warns of a deprecated entry, of what is not used, and of a program of the same name', async () => {
    await registry({
      servers: { ls: { image: 'example/ls:1', transport: 'stdio', status: 'Deprecated', not_used: ['flags'] } },
    });
    expect((await run('ls')).warnings).toEqual([
      expect.stringContaining('ls is deprecated'),
      expect.stringContaining('not used: flags'),
      expect.stringContaining('for the program of this name add --runtime process'),
    ]);
    expect((await run('ls', { runtime: 'process' })).config).toHaveProperty('process.file');
  });

  it('says for a name that is no entry which registry was searched, and the nearest name', async () => {
    await registry({ servers: { memory: IMAGE } });
    const path = join(home, 'registry.json');
    const made = await run('memry');
    expect(made.missed).toBe(`the registry ${path} has no server memry (did you mean memory?)`);
    expect(made.config).toMatchObject({ image: 'memry' });
    await rm(path);
    expect(await run('memry')).toMatchObject({
      missed: expect.stringContaining('was not looked up'),
      warnings: [expect.stringContaining('cannot be read')],
    });
  });

  it('looks up no image reference, path or URL', async () => {
    await registry({ servers: { 'example/x': { ...IMAGE, image: 'wrong/wrong:1' } } });
    expect((await run('example/x:1')).config.image).toBe('example/x:1');
    expect((await run('https://example.com/mcp')).config.remote_url).toBe('https://example.com/mcp');
    await expect(run('./example')).rejects.toThrow('there is no program');
  });
});

describe('an entry that asks for rights of this machine', () => {
  const asking = (permissions: object) => registry({ servers: { x: { ...IMAGE, permissions } } });

  it.each([
    [{ privileged: true }, 'all rights of this machine (privileged)'],
    [{ read: ['/:/host'] }, 'reading "/:/host"'],
    [{ write: ['/var/run/docker.sock'] }, 'writing "/var/run/docker.sock"'],
    [{ network: { mode: 'host' } }, 'the network "host" of this machine'],
    [{ network: { mode: 'container:other' } }, 'the network "container:other" of this machine'],
    [
      { network: { outbound: { allow_host: ['example.com', '169.254.169.254'] } } },
      'connections to 169.254.169.254, which',
    ],
    [
      { network: { outbound: { allow_host: ['10.0.0.0/8', '172.0.0.0/8', 'fd00::/8'] } } },
      'to 10.0.0.0/8, 172.0.0.0/8, fd00::/8, which may be in your own network',
    ],
    [{ network: { outbound: { allow_host: ['0.0.0.0/0'], insecure_allow_all: true } } }, 'connections to 0.0.0.0/0'],
  ])('is refused without a terminal and shown on one: %j', async (permissions, demand) => {
    await asking(permissions);
    await expect(run('x')).rejects.toThrow(demand);
    await expect(run('x', {}, [], ['n'])).rejects.toThrow('x was not started');
    await expect(run('x', {}, [], [''])).rejects.toThrow('x was not started');
    await expect(run('x', { permissionProfile: 'none' })).resolves.toMatchObject({ config: { image: IMAGE.image } });
  });

  it('may name hosts and public addresses without a question', async () => {
    await asking({
      network: { outbound: { allow_host: ['.example.com', '8.8.8.8', '9.9.9.0/24', '2606:4700::/64'] } },
    });
    await expect(run('x')).resolves.toMatchObject({ questions: [] });
  });

  it('is used after a yes', async () => {
    await asking({ privileged: true });
    const made = await run('x', {}, [], ['y']);
    expect(made.questions).toEqual([expect.stringContaining('privileged')]);
    expect(made.config.permission_profile).toMatchObject({ privileged: true });
  });

  it('cannot be used when it is hostile, and says why', async () => {
    await registry({ servers: { x: { ...IMAGE, env_vars: [{ name: 'LD_PRELOAD', default: '/evil.so' }] } } });
    await expect(run('x')).rejects.toThrow(
      /has x, which is not used: env_vars\[0\]: a registry must not set or ask for LD_PRELOAD/,
    );
  });
});
