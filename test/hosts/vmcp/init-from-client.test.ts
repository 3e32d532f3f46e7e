// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of client files look like this

import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startCli } from '../../support/cli.ts';
import { cliSession } from '../../support/cli-session.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const LONG = 120_000;
const BACKEND = join(import.meta.dirname, '../stdio/backend.mjs');
const SECRETS = ['env-s3cret', 'header-s3cret', 'toml-s3cret'];

const cli = cliSession();
const folder = temporaryFolderOfFile('init');

describe('toolmgr vmcp init --from', () => {
  it(
    'makes a file that validates and serves, with the names of variables instead of values',
    async () => {
      const servers = {
        own: { command: process.execPath, args: [BACKEND], env: { API_KEY: SECRETS[0] }, timeout: 45 },
        remote: { url: 'http://127.0.0.1:9/mcp', headers: { Authorization: `Bearer ${SECRETS[1]}` } },
        loop: { command: 'toolmgr', args: ['up'] },
        args: { command: 'x', args: ['--token', '${TOKEN}'] },
      };
      const [from, to] = [join(folder, '.mcp.json'), join(folder, 'vmcp.yaml')];
      await writeFile(from, JSON.stringify({ mcpServers: servers }));
      const made = await cli(['vmcp', 'init', '--from', from, '-o', to]);
      expect(made).toMatchObject({ code: 0, out: '' });
      expect(made.err).toContain('with 2 backends');
      expect(made.err).toContain('loop: left out, it starts toolmgr itself');
      expect(made.err).toContain('args: left out, it uses ${TOKEN} outside of env and headers');
      expect(made.err).toContain('  API_KEY: the variable API_KEY of own');
      expect(made.err).toContain('  REMOTE_AUTHORIZATION: the header authorization of remote');
      const text = await readFile(to, 'utf8');
      expect(text).toMatch(/^# yaml-language-server: \$schema=https:\/\/\S+\n/);
      expect((await stat(to)).mode & 0o777).toBe(0o600);
      for (const secret of SECRETS) expect(`${text}${made.err}`).not.toContain(secret);
      expect((await cli(['vmcp', 'init', '--from', from, '-o', to])).err).toContain('exists; --force replaces it');
      expect(await cli(['vmcp', 'init', '--from', from, '-o', to, '--force'])).toMatchObject({ code: 0 });
      expect((await cli(['vmcp', 'init', '--from', from, '-o', '-'])).out).toBe(await readFile(to, 'utf8'));
      expect(await cli(['vmcp', 'validate', '-c', to])).toMatchObject({ code: 0 });
      const missing = await cli(['vmcp', 'serve', '-c', to, '--port', '0'], {
        env: { API_KEY: undefined, REMOTE_AUTHORIZATION: 'x' },
      });
      expect(missing.code).toBe(1);
      expect(missing.err).toContain('API_KEY');
      const env = { API_KEY: SECRETS[0], REMOTE_AUTHORIZATION: 'x' };
      await using serving = startCli(['vmcp', 'serve', '-c', to, '--port', '0'], { env });
      const [, url = ''] = await serving.printed(/serves (http:\S+)/);
      await serving.printed(/backend ready/);
      expect((await cli(['call', 'own_echo', 'text=hi', '--url', url])).out).toContain('hi');
      const listed = await cli(['tools', '--url', url]); // remote does not answer
      expect([listed.code, listed.out]).toEqual([0, expect.stringContaining('own_echo')]);
      expect(serving.err()).not.toContain(SECRETS[0]);
    },
    LONG,
  );

  it('reads TOML of Codex, and prints to standard output', async () => {
    const from = join(folder, 'config.toml');
    await writeFile(
      from,
      `[mcp_servers.a]\nurl = "https://a.example/mcp"\nhttp_headers = { X-Key = "${SECRETS[2]}" }\n`,
    );
    const made = await cli(['vmcp', 'init', '--from', from]);
    expect(made.code).toBe(0);
    expect(made.out).toContain('x-key: X_KEY');
    expect(made.out).not.toContain(SECRETS[2]);
  });
});

describe('a vmcp file with only backends', () => {
  it(
    'is served on loopback, and not on any other address',
    async () => {
      const file = join(folder, 'only.yaml');
      const command = JSON.stringify({ file: process.execPath, args: [BACKEND] });
      await writeFile(file, `backends:\n  - name: own\n    transport: stdio\n    command: ${command}\n`);
      expect((await cli(['vmcp', 'validate', '-c', file])).out).toContain('is valid');
      await using serving = startCli(['vmcp', 'serve', '-c', file, '--port', '0']);
      const [, url = ''] = await serving.printed(/only serves (http:\S+)/);
      await serving.printed(/backend ready/);
      expect((await cli(['call', 'own_echo', 'text=hi', '--url', url])).out).toContain('hi');
      const refused = await cli(['vmcp', 'serve', '-c', file, '--host', '0.0.0.0', '--port', '0']);
      expect(refused.code).toBe(1);
      expect(refused.err).toContain('has no incomingAuth, so it is served on loopback only');
    },
    LONG,
  );
});
