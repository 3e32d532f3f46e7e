import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { changeUserConfig, readUserConfig, userConfigPath } from '../../../../hosts/shared/user-config.ts';
import { loopbackServer } from '../../../support/loopback-server.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { toolmgrSession } from '../../run/toolmgr.ts';

let home: string;

beforeEach(() => {
  home = temporaryFolder('home');
  vi.stubEnv('TOOLMGR_STATE_DIR', home); // where changes of settings are locked
});

const session = toolmgrSession();
const toolmgr = (...args: string[]) => session(home, args, home, { XDG_CACHE_HOME: join(home, 'cache') });

const DOCUMENT = {
  version: '1.0.0',
  servers: {
    one: { image: 'example/one:1', transport: 'stdio', description: 'The \u001b[31mfirst', tools: ['a'] },
    bad: { image: '--privileged', transport: 'stdio' },
  },
  remote_servers: { two: { url: 'https://two.example.com/mcp', transport: 'sse', tags: ['second'] } },
};

describe('the commands of the registry', { timeout: 120_000 }, () => {
  it('search, list and show the built-in registry', async () => {
    const found = await toolmgr('search', 'knowledge-graph', '--format', 'json');
    expect(found, found.err).toMatchObject({ code: 0 });
    expect(JSON.parse(found.out)).toEqual([
      expect.objectContaining({ name: 'memory', type: 'package', transport: 'stdio' }),
    ]);
    const listed = await toolmgr('registry', 'list');
    expect(listed.out).toMatch(/^NAME +TYPE +TRANSPORT +DESCRIPTION\n/);
    expect(listed).toMatchObject({ code: 0, err: '' });
    const info = await toolmgr('registry', 'info', 'github', '--format', 'json');
    expect(JSON.parse(info.out)).toMatchObject({ is_remote: false, server: { name: 'github', transport: 'stdio' } });
    const wrong = await toolmgr('registry', 'info', 'memroy');
    expect(wrong).toMatchObject({
      code: 1,
      err: expect.stringContaining('the built-in registry has no server memroy (did you mean memory?)'),
    });
  });

  it('use the registry that config names, and say what it leaves out', async () => {
    const file = join(home, 'registry.json');
    await writeFile(file, JSON.stringify(DOCUMENT));
    const set = await toolmgr('config', 'set', 'registry', './registry.json');
    expect(set, set.err).toMatchObject({ code: 0, out: expect.stringContaining('with 2 servers (1 are left out') });
    expect((await toolmgr('config', 'get', 'registry')).out).toBe(`${file}\n`);
    expect((await toolmgr('config', 'get')).out).toContain(`registry = ${file}\n`);
    const listed = await toolmgr('registry', 'list');
    expect(listed.out).toContain('The [31mfirst');
    expect(listed.out + listed.err).not.toContain('\u001b');
    expect(listed.err).toContain('bad: image: expected a container image');
    expect((await toolmgr('search', 'second', '--format', 'json')).out).toContain('https://two.example.com/mcp');
    expect((await toolmgr('registry', 'info', 'bad')).err).toContain('has bad, which is not used');
    expect((await toolmgr('config', 'unset', 'registry')).out).toBe('registry = default\n');
    expect((await toolmgr('search', 'second')).err).toContain('has no server with second');
  });

  it('refuse a registry that cannot be loaded, and keep the one before', async () => {
    await using server = await loopbackServer((_request, response) => response.end(JSON.stringify(DOCUMENT)));
    const url = `${server.url}/registry.json`;
    expect((await toolmgr('config', 'set', 'registry', url)).err).toContain('--allow-private-ip');
    expect(server.seen).toEqual([]);
    const allowed = await toolmgr('config', 'set', 'registry', url, '--allow-private-ip');
    expect(allowed, allowed.err).toMatchObject({ code: 0 });
    expect((await toolmgr('config', 'set', 'registry', '/no/such.json')).code).toBe(1);
    expect((await toolmgr('config', 'get', 'registry')).out).toBe(`${url}\n`);
    await server[Symbol.asyncDispose]();
    const offline = await toolmgr('search', 'one');
    expect(offline).toMatchObject({
      code: 0,
      out: expect.stringContaining('one'),
      err: expect.stringContaining('the copy of'),
    });
    expect((await toolmgr('config', 'set', 'nonsense', 'x')).err).toContain('the settings are registry');
  });
});

describe('run of a name that is nothing', () => {
  it('says which registry was searched and the nearest name, and that there is no such image', async () => {
    const env = { XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, DOCKER_HOST: `unix://${home}/no.sock` };
    const args = ['run', '--network', 'none', '--transport', 'stdio', 'memroy'];
    const ran = await session(home, args, home, env);
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(
      /memroy could not be started: it is neither a registry entry nor a program nor a pullable image: the built-in registry has no server memroy \(did you mean memory\?\), and no container engine answers/,
    );
    expect((await toolmgr('list', '--format', 'json')).out).toBe('[]\n');
  });
});

describe('the settings of a user', () => {
  it('are changed in their file with mode 0600, and its comments stay', async () => {
    const path = join(home, 'toolmgr/config.yaml');
    await changeUserConfig({ registry_url: 'https://a.example.com/r.json' }, path);
    await writeFile(path, `# mine\n${await readFile(path, 'utf8')}`);
    await Promise.all([
      changeUserConfig({ sigstore_trusted_root: '/root.json' }, path),
      changeUserConfig({ allow_private_registry_ip: true }, path),
    ]);
    expect(await readFile(path, 'utf8')).toContain('# mine');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readUserConfig(path)).toEqual({
      registry_url: 'https://a.example.com/r.json',
      sigstore_trusted_root: '/root.json',
      allow_private_registry_ip: true,
    });
  });

  it.each([
    ['registri_url: x', 'registry_url'],
    ['registry_url: a\nregistry_api_url: b', 'exclude each other'],
    ['a: [', 'is not YAML'],
    ['registry_url: 5', 'registry_url'],
  ])('are refused: %j', async (content, expected) => {
    const path = join(home, 'config.yaml');
    await writeFile(path, content);
    await expect(readUserConfig(path)).rejects.toThrow(expected);
    await expect(changeUserConfig({ registry_url: 'x' }, path)).rejects.toThrow(expected);
    expect(await readFile(path, 'utf8')).toBe(content);
  });

  it('are in the XDG configuration folder', () => {
    expect(userConfigPath({ XDG_CONFIG_HOME: '/x' })).toBe('/x/toolmgr/config.yaml');
    expect(userConfigPath({ XDG_CONFIG_HOME: 'x', HOME: '/h' })).toBe('/h/.config/toolmgr/config.yaml');
  });
});

describe('several registries', () => {
  it('add a registry beside the built-in one, say which one serves a name, and remove it', async () => {
    const file = join(home, 'work.json');
    const time = { image: 'example/time:9', transport: 'stdio', description: 'Our clock' };
    await writeFile(file, JSON.stringify({ version: '1.0.0', servers: { time, ours: time } }));
    await changeUserConfig({ built_in_registry: true }, join(home, 'config', 'toolmgr', 'config.yaml'));
    const added = await toolmgr('registry', 'add', 'work', './work.json', '--first');
    expect(added, added.err).toMatchObject({ code: 0, out: 'work with 2 servers is used\n' });
    expect((await toolmgr('registry', 'add', 'work', './work.json')).err).toContain('there is a registry work');
    expect((await toolmgr('registry', 'add', 'other', './absent.json')).err).toBe(
      `toolmgr: the registry ${join(home, 'absent.json')} cannot be read: there is no such file; expected a registry document in JSON\n`,
    );
    expect((await toolmgr('registry', 'add', 'default', './work.json')).err).toContain(
      'default is the name of another',
    );
    const sources = await toolmgr('registry', 'sources', '--format', 'json');
    expect(JSON.parse(sources.out)).toMatchObject([
      { priority: 1, name: 'work', type: 'file', source: file, servers: 2, auth_status: 'none' },
      { priority: 2, name: 'built-in', type: 'default' },
    ]);
    const info = await toolmgr('registry', 'info', 'time');
    expect(info.out).toMatch(/runs +example\/time:9/);
    expect(info.out).toMatch(/registry +work\n/);
    expect(info.out).toMatch(/also in +built-in\n/);
    expect((await toolmgr('registry', 'info', 'memory')).out).toMatch(/registry +built-in\n/);
    expect((await toolmgr('registry', 'login')).err).toContain('no registry has a sign-in');
    expect((await toolmgr('registry', 'remove', 'work')).out).toBe('work is no longer used\n');
    expect((await toolmgr('registry', 'remove', 'work')).err).toContain('there is no added registry work');
    expect((await toolmgr('registry', 'info', 'time')).out).toContain('uvx://mcp-server-time');
  });
});
