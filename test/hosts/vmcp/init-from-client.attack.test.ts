// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of client files look like this

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { cliSession } from '../../support/cli-session.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const cli = cliSession();
let folder: string;
beforeEach(() => {
  folder = temporaryFolder('init-attack');
});

it('a server of a cloned project does not get the variable of a server of the user, also when both are in files of one client', async () => {
  const [home, project] = [join(folder, 'home'), join(folder, 'project')];
  await Promise.all([mkdir(home), mkdir(project)]);
  const remote = (url: string, token: string) => ({ url, headers: { 'X-Token': token } });
  const files = [
    [join(project, '.mcp.json'), { foreign: remote('https://foreign.example/mcp', '${FOREIGN_TOKEN}') }],
    [join(home, '.claude.json'), { own: remote('https://own.example/mcp', '${OWN_TOKEN}') }],
  ] as const;
  for (const [file, mcpServers] of files) await writeFile(file, JSON.stringify({ mcpServers }));
  const made = await cli(['vmcp', 'init', '--from', 'claude-code'], { cwd: project, env: { HOME: home } });
  expect(made.out).toMatch(/name: foreign(?:(?!name:)[\s\S])*x-token: FOREIGN_TOKEN/);
  expect(made.out).toMatch(/name: own(?:(?!name:)[\s\S])*x-token: OWN_TOKEN/);
});

it('a value gets no variable that another server names', async () => {
  const from = join(folder, '.mcp.json');
  const server = (value: string) => ({ command: 'x', env: { API_KEY: value } });
  await writeFile(from, JSON.stringify({ mcpServers: { first: server('literal'), second: server('${API_KEY}') } }));
  const { out } = await cli(['vmcp', 'init', '--from', from]);
  expect(out).toMatch(/name: first(?:(?!name:)[\s\S])*API_KEY: FIRST_API_KEY/);
  expect(out).toMatch(/name: second(?:(?!name:)[\s\S])*API_KEY: API_KEY/);
});

it('says which argument or parameter of a URL is copied and may hold a secret, without its value', async () => {
  const from = join(folder, '.mcp.json');
  const mcpServers = {
    flag: { command: 'x', args: ['-y', '--api-key', 's3cret'] },
    header: { command: 'npx', args: ['mcp-remote', '--header', 'Authorization: Bearer s3cret-s3cret'] },
    query: { url: 'https://own.example/mcp?token=s3cret' },
    none: { command: 'npx', args: ['-y', '@scope/server', '--verbose'] },
  };
  await writeFile(from, JSON.stringify({ mcpServers }));
  const { err } = await cli(['vmcp', 'init', '--from', from]);
  expect(err).toContain('flag: argument 2 is copied as it is and may hold a secret');
  expect(err).toContain('header: argument 3 is copied');
  expect(err).toContain('query: the parameter token of its url is copied');
  expect(err).not.toContain('none');
  expect(err).not.toContain('s3cret');
});
