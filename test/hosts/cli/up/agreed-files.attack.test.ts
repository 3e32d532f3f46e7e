import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { requireAgreement } from '../../../../hosts/cli/up/agreed-files.ts';
import { clientPlaces } from '../../../../hosts/cli/up/find-file.ts';
import { cli } from '../../../support/cli.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'toolmgr-agreed-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('up --stdio, as a client starts it in a cloned repository, does not start the programs of its files unasked', async () => {
  const proof = join(folder, 'it-ran');
  const servers = {
    evil: { command: process.execPath, args: ['-e', `fs.writeFileSync(${JSON.stringify(proof)}, '')`] },
  };
  const project = join(folder, 'project');
  for (const [path, text] of [
    [['.mcp.json'], JSON.stringify({ mcpServers: servers })],
    [['.vscode', 'mcp.json'], JSON.stringify({ servers })],
  ] as const) {
    await rm(project, { recursive: true, force: true });
    await mkdir(join(project, ...path, '..'), { recursive: true });
    await writeFile(join(project, ...path), text);
    const ended = await cli(['up', '--stdio'], { cwd: project, env: { HOME: folder } });
    expect(ended).toMatchObject({ code: 1, out: '' });
    expect(ended.err).toContain('found in the working folder');
    await expect(readFile(proof)).rejects.toThrow('ENOENT');
  }
});

it('asks once for each content of a file, and shows no values', async () => {
  const questions: string[] = [];
  const answers = ['no', 'y', 'y'];
  const ask = async (question: string) => {
    questions.push(question);
    return answers.shift() ?? 'n';
  };
  const file = { file: join(folder, '.mcp.json'), text: '{"a":1}', isOfProject: true };
  const agree = (one = file, hasTerminal = true) => requireAgreement([one], [], { hasTerminal, state: folder, ask });
  await expect(agree()).rejects.toThrow('nothing was started');
  await agree();
  await agree();
  await agree(file, false);
  expect(questions).toHaveLength(2);
  const changed = { ...file, text: '{"a":2}' };
  await expect(agree(changed, false)).rejects.toThrow('after you have agreed');
  await agree(changed);
  expect(questions).toHaveLength(3);
  await agree({ ...changed, text: 'named by the user', isOfProject: false });
  expect(questions).toHaveLength(3);
});

it('a file of the user is not one of the project when the working folder is the home folder', () => {
  const home = '/home/u';
  const places = clientPlaces(home, { home, platform: 'linux', env: {} } as never);
  const cursor = places.filter(({ file }) => file === '/home/u/.cursor/mcp.json');
  expect(cursor).toMatchObject([{ isOfProject: false }]);
  expect(places.find(({ file }) => file === '/home/u/.mcp.json')).toMatchObject({ isOfProject: true });
});

it('a name of a server does not write a line or a colour of its own', async () => {
  const file = join(folder, 'names.json');
  const name = 'a\nwarning everything is fine \u001b[31m\u001b]0;title\u0007';
  await writeFile(file, JSON.stringify({ mcpServers: { [name]: { command: 'x', disabled: true } } }));
  const { err } = await cli(['up', file]);
  expect(err).toMatch(/^note a warning everything is fine/m);
  expect(err).not.toContain('\nwarning');
  expect(err).not.toContain('\u001b');
});

it('a device or a named pipe in the place of a client file is left out, and nothing waits for it', async () => {
  await mkdir(join(folder, '.vscode'));
  await symlink('/dev/zero', join(folder, '.mcp.json'));
  execFileSync('mkfifo', [join(folder, '.vscode', 'mcp.json')]);
  const ended = await cli(['up'], { cwd: folder, env: { HOME: folder, XDG_CONFIG_HOME: undefined } });
  expect(ended.err).toContain('no client configuration with servers was found');
});

it.each(['json', 'toml'])(
  'a file of nested lists or tables without end is refused with one line (%s)',
  async (form) => {
    const file = join(folder, `deep.${form}`);
    const deep = '['.repeat(200_000);
    await writeFile(file, form === 'json' ? `{"mcpServers":${deep}` : `a = ${deep}`);
    const ended = await cli(['up', file]);
    expect(ended.code).toBe(1);
    expect(ended.err.trim().split('\n')).toHaveLength(1);
    expect(ended.err).toContain(file);
  },
);
