import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CLIENT_TYPES } from '@toolmgr/plugins/clients';
import { createGroup } from '@toolmgr/plugins/kit/workloads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type StartedManager, startManager } from '../../../support/manager.ts';
import { proves } from '../../../support/proves.ts';
import { recordRunning, recordStopped } from '../../../support/running-workload.ts';
import { until } from '../../../support/until.ts';

const API = '/api/v1beta';
let manager: StartedManager;
const at = (...parts: string[]): string => join(manager.home, ...parts);
const readText = (path: string): Promise<string> => readFile(path, 'utf8');

beforeAll(async () => {
  manager = await startManager();
  await recordRunning(manager.state, 'fetch', 10_101);
  await createGroup(manager.state, 'team');
  await recordRunning(manager.state, 'wiki', 10_102, { group: 'team' });
});
afterAll(() => manager.stop());

async function fileOf(path: string, text: string): Promise<string> {
  await mkdir(join(at(path), '..'), { recursive: true });
  await writeFile(at(path), text);
  return at(path);
}

describe('registration', () => {
  proves(
    ['manager.clients.register-200', 'manager.client-registration.fields'],
    'writes the running workloads of the default group and answers name and groups',
    async () => {
      const original = '// mine\n{\n  "mcpServers": {},\n}\n';
      const path = await fileOf('.cursor/mcp.json', original);
      const answer = await manager.request('POST', `${API}/clients`, { name: 'cursor' });
      expect(answer.status).toBe(200);
      expect(answer.body).toEqual({ name: 'cursor', groups: ['default'] });
      expect(await readText(path)).toBe(
        '// mine\n{\n  "mcpServers": {\n    "fetch": {\n      "type": "http",\n      "url": "http://127.0.0.1:10101/mcp"\n    }\n  },\n}\n',
      );
      const backups = (await readdir(at('.cursor'))).filter((name) => name.includes('backup'));
      expect(await readText(at('.cursor', backups[0] ?? ''))).toBe(original);
      const gone = await manager.request('DELETE', `${API}/clients/cursor`);
      expect([gone.status, gone.text]).toEqual([204, '']);
      expect(await readText(path)).toBe(original);
    },
  );

  proves('manager.clients.register-400', 'answers 400 to a bad body and names the field', async () => {
    for (const body of [
      {},
      { name: 'cursr' },
      { name: '__proto__' },
      { name: 1 },
      { name: 'cursor', extra: true },
      { name: 'cursor', groups: 'x' },
    ]) {
      const answer = await manager.request('POST', `${API}/clients`, body);
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
    }
    const { body } = await manager.request('POST', `${API}/clients`, { name: 'cursr' });
    expect(JSON.stringify(body)).toContain('did you mean cursor');
  });

  it('answers 404 for an unknown group, and changes nothing', async () => {
    const answer = await manager.request('POST', `${API}/clients`, { name: 'lm-studio', groups: ['default', 'nope'] });
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    expect((await manager.request('GET', `${API}/clients`)).body).toEqual([]);
    expect(existsSync(at('.lmstudio'))).toBe(false);
  });

  proves('manager.clients.register-many-200', 'registers several clients with several groups', async () => {
    const answer = await manager.request('POST', `${API}/clients/register`, {
      names: ['codex', 'goose'],
      groups: ['default', 'team'],
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual([
      { name: 'codex', groups: ['default', 'team'] },
      { name: 'goose', groups: ['default', 'team'] },
    ]);
    expect(await readText(at('.codex/config.toml'))).toContain(
      '[mcp_servers.wiki]\nurl = "http://127.0.0.1:10102/mcp"',
    );
    expect(await readText(at('config/goose/config.yaml'))).toContain(
      '  wiki:\n    name: wiki\n    type: streamable_http',
    );
    const listed = await manager.request('GET', `${API}/clients`);
    expect(listed.body).toEqual([
      { name: 'goose', groups: ['default', 'team'] },
      { name: 'codex', groups: ['default', 'team'] },
    ]);
    const left = await manager.request('DELETE', `${API}/clients/codex/groups/team`);
    expect(left.status).toBe(204);
    expect(await readText(at('.codex/config.toml'))).not.toContain('wiki');
    const rest = await manager.request('POST', `${API}/clients/unregister`, { names: ['codex', 'goose'] });
    expect(rest.status).toBe(204);
    expect((await manager.request('GET', `${API}/clients`)).body).toEqual([]);
    // the files and folders were made by the registration
    expect(existsSync(at('.codex'))).toBe(false);
    expect(existsSync(at('config/goose'))).toBe(false);
  });

  proves('manager.clients.register-many-400', 'answers 400 to a bad body of several clients', async () => {
    for (const body of [{}, { names: [] }, { names: ['cursor', 'vim'] }, { names: 'cursor' }]) {
      const answer = await manager.request('POST', `${API}/clients/register`, body);
      expect([answer.status, answer.body.code]).toEqual([400, 'bad_request']);
    }
  });

  proves(
    [
      'manager.clients.list-200',
      'manager.client-status.client-type',
      'manager.client-status.installed',
      'manager.client-status.registered',
      'manager.client-status.supports-plugins',
      'manager.client-status.supports-skills',
    ],
    'lists the status of all clients in the order of the table',
    async () => {
      await fileOf('.claude.json', '{}');
      await manager.request('POST', `${API}/clients`, { name: 'claude-code' });
      const { status, body } = await manager.request('GET', `${API}/discovery/clients`);
      expect(status).toBe(200);
      expect(body.clients.map((client: { client_type: string }) => client.client_type)).toEqual(CLIENT_TYPES);
      const byType = Object.fromEntries(
        body.clients.map((client: { client_type: string }) => [client.client_type, client]),
      );
      expect(byType['claude-code']).toEqual({
        client_type: 'claude-code',
        installed: true,
        registered: true,
        supports_plugins: true,
        supports_skills: true,
      });
      expect(byType.zed).toEqual({
        client_type: 'zed',
        installed: false,
        registered: false,
        supports_plugins: false,
        supports_skills: false,
      });
      await manager.request('DELETE', `${API}/clients/claude-code`);
      expect(await readText(at('.claude.json'))).toBe('{}');
    },
  );

  it('answers 400 and 404 to a removal of an unknown client and group', async () => {
    expect((await manager.request('DELETE', `${API}/clients/vim`)).status).toBe(400);
    expect((await manager.request('DELETE', `${API}/clients/cursor/groups/nope`)).status).toBe(404);
    expect(
      (await manager.request('POST', `${API}/clients/unregister`, { names: ['cursor'], groups: ['nope'] })).status,
    ).toBe(404);
    expect((await manager.request('DELETE', `${API}/clients/cursor`)).status).toBe(204);
  });
});

describe('what belongs to the user', () => {
  it('is not overwritten: 409, nothing changes; with force it is', async () => {
    const original = '{"mcpServers":{"fetch":{"command":"mine","env":{"TOKEN":"secret-value"}}}}';
    const path = await fileOf('.kimi/mcp.json', original);
    const answer = await manager.request('POST', `${API}/clients`, { name: 'kimi-cli' });
    expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
    expect(answer.body.detail).toContain('fetch (toolmgr did not write it)');
    expect(answer.text).not.toContain('secret-value');
    expect(await readText(path)).toBe(original);
    expect((await manager.request('GET', `${API}/clients`)).body).toEqual([]);
    const forced = await manager.request('POST', `${API}/clients`, { name: 'kimi-cli', force: true });
    expect(forced.status).toBe(200);
    expect(await readText(path)).toBe('{"mcpServers":{"fetch":{"url":"http://127.0.0.1:10101/mcp"}}}');
    await manager.request('DELETE', `${API}/clients/kimi-cli`);
    expect(await readText(path)).toBe('{"mcpServers":{}}');
  });

  it('stays when the entry was changed after the registration', async () => {
    const path = await fileOf('.factory/mcp.json', '{}\n');
    await manager.request('POST', `${API}/clients`, { name: 'factory' });
    const changed = (await readText(path)).replace('"type": "http"', '"type": "http", "timeout": 9');
    await writeFile(path, changed);
    expect((await manager.request('DELETE', `${API}/clients/factory`)).status).toBe(204);
    expect(await readText(path)).toBe(changed);
  });

  it('is refused with its position when it is not valid', async () => {
    const original = '{\n  "mcpServers": {\n    "a": secret-value\n';
    const path = await fileOf('.qoder/mcp.json', original);
    const answer = await manager.request('POST', `${API}/clients`, { name: 'qoder' });
    expect(answer.status).toBe(409);
    expect(answer.body.detail).toContain('mcp.json:3:10: not JSON');
    expect(answer.text).not.toContain('secret-value');
    expect(await readText(path)).toBe(original);
    expect((await manager.request('GET', `${API}/clients`)).body).toEqual([]);
  });

  it('keeps its mode, and a link to it stays a link', async () => {
    await mkdir(at('dotfiles'));
    await mkdir(at('.copilot'));
    await writeFile(at('dotfiles/copilot.json'), '\uFEFF{\r\n}\r\n', { mode: 0o640 });
    await chmod(at('dotfiles/copilot.json'), 0o640);
    await symlink('../dotfiles/copilot.json', at('.copilot/mcp-config.json'));
    expect((await manager.request('POST', `${API}/clients`, { name: 'copilot-cli' })).status).toBe(200);
    const text = await readText(at('dotfiles/copilot.json'));
    expect(text.startsWith('\uFEFF{\r\n')).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect((await stat(at('dotfiles/copilot.json'))).mode & 0o777).toBe(0o640);
    await manager.request('DELETE', `${API}/clients/copilot-cli`);
    expect(await readText(at('.copilot/mcp-config.json'))).toBe('\uFEFF{\r\n}\r\n');
  });

  it('gets a new file only for the user', async () => {
    await manager.request('POST', `${API}/clients`, { name: 'antigravity' });
    expect((await stat(at('.gemini/antigravity/mcp_config.json'))).mode & 0o777).toBe(0o600);
    expect((await stat(at('.gemini/antigravity'))).mode & 0o777).toBe(0o700);
    await manager.request('DELETE', `${API}/clients/antigravity`);
    expect(existsSync(at('.gemini'))).toBe(false);
  });
});

describe('preview and endpoint', () => {
  it('shows the diff without writing, and masks what toolmgr did not write', async () => {
    const original =
      '{\n  "mcpServers": {\n    "a": { "headers": { "Authorization": "Bearer secret-value" } }\n  }\n}\n';
    const path = await fileOf('.lmstudio/mcp.json', original);
    const { status, body, text } = await manager.request('POST', `${API}/clients/preview`, { names: ['lm-studio'] });
    expect(status).toBe(200);
    expect(body[0]).toMatchObject({
      client: 'lm-studio',
      path,
      added: ['fetch'],
      updated: [],
      removed: [],
      conflicts: [],
    });
    expect(text).not.toContain('secret-value');
    expect(body[0].diff.split('\n').slice(2)).toEqual([
      '@@ -1,5 +1,9 @@',
      ' {',
      '   "mcpServers": {',
      '-    "a": …',
      '+    "a": …,',
      '+    "fetch": {',
      '+      "type": "http",',
      '+      "url": "http://127.0.0.1:10101/mcp"',
      '+    }',
      '   }',
      ' }',
      '',
    ]);
    expect(await readText(path)).toBe(original);
    const none = await manager.request('POST', `${API}/clients/preview`, {
      action: 'unregister',
      names: ['lm-studio'],
    });
    expect(none.body[0].diff).toBe('');
  });

  it('writes one entry for an endpoint, with a header that refers to a variable', async () => {
    const endpoint = {
      name: 'all',
      url: 'http://127.0.0.1:8080/mcp/groups/default',
      headers: { Authorization: `Bearer \${TOOLMGR_TOKEN}` },
    };
    const answer = await manager.request('POST', `${API}/clients/register`, { names: ['codex', 'cursor'], endpoint });
    expect(answer.status).toBe(200);
    expect(await readText(at('.codex/config.toml'))).toBe(
      '[mcp_servers.all]\nurl = "http://127.0.0.1:8080/mcp/groups/default"\nbearer_token_env_var = "TOOLMGR_TOKEN"\n',
    );
    expect(
      JSON.parse((await readText(at('.cursor/mcp.json'))).replace('// mine', '').replace(',\n}', '\n}')).mcpServers.all,
    ).toEqual({
      type: 'http',
      url: endpoint.url,
      headers: { Authorization: `Bearer \${env:TOOLMGR_TOKEN}` },
    });
    await manager.request('POST', `${API}/clients/unregister`, { names: ['codex', 'cursor'] });
    expect(existsSync(at('.codex'))).toBe(false);
  });

  it('refuses a token as text, and a client without references', async () => {
    const refused = async (name: string, headers: object, url = 'http://127.0.0.1/mcp') => {
      const answer = await manager.request('POST', `${API}/clients`, { name, endpoint: { url, headers } });
      return [answer.status, answer.body.detail] as const;
    };
    expect(await refused('cursor', { Authorization: 'Bearer abc' })).toMatchObject([
      400,
      expect.stringContaining('reference'),
    ]);
    expect(await refused('zed', { A: `\${B}` })).toMatchObject([400, expect.stringContaining('Zed has no reference')]);
    expect((await refused('cursor', {}, 'http://a:b@127.0.0.1/mcp'))[0]).toBe(400);
    expect((await refused('cursor', {}, 'file:///etc/passwd'))[0]).toBe(400);
  });
});

describe('workloads that start and stop', () => {
  proves('run.form.url-client-configuration', 'have an entry while their port is there, remote ones too', async () => {
    await manager.request('POST', `${API}/clients`, { name: 'kiro' });
    const file = at('.kiro/settings/mcp.json');
    const urls = async () => {
      const { mcpServers } = JSON.parse(await readText(file));
      return Object.entries(mcpServers).map(([name, value]) => `${name} ${(value as { url: string }).url}`);
    };
    expect(await urls()).toEqual(['fetch http://127.0.0.1:10101/mcp']);
    await recordRunning(manager.state, 'time', 10_103, { remoteUrl: 'https://time.example.com/mcp' });
    await until(async () => (await urls()).length === 2);
    await recordStopped(manager.state, 'fetch');
    await until(async () => (await urls()).join() === 'time http://127.0.0.1:10103/mcp');
    await recordStopped(manager.state, 'time');
    // the last entry is gone, and so is the file that was made for it
    await until(async () => !existsSync(file));
    await manager.request('DELETE', `${API}/clients/kiro`);
  });
});
