import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { requireAgreement, requireAgreementToChange } from '../../../../hosts/cli/up/agreed-files.ts';
import { watchFiles } from '../../../../hosts/cli/up/watch-files.ts';
import { clientPlaces } from '../../../../hosts/client-files/find-file.ts';
import { cli, startCli } from '../../../support/cli.ts';
import { PROGRAM } from '../../../support/program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('agreed');
});

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

it.each([
  ['Ctrl-C', '\x03', 130],
  ['Ctrl-D', '\x04', 1],
])('%s at the question starts nothing, and the exit code says which it was', async (_key, TYPED, code) => {
  await writeFile(join(folder, '.mcp.json'), '{"mcpServers":{"one":{"command":"true"}}}');
  const ended = await cli([], {
    script: join(import.meta.dirname, '../on-terminal.mjs'),
    cwd: folder,
    env: { HOME: folder, LINE: `${process.execPath} --conditions=development ${PROGRAM} up`, TYPED },
  });
  expect(ended).toMatchObject({ code, out: expect.stringContaining('no answer was entered') });
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

it('asks again when a watched file of the project has new or different servers, and only then', async () => {
  const servers = (...args: string[]) => ({
    backends: args.map((arg) => ({ name: arg, transport: 'stdio' as const, command: { file: 'npx', args: [arg] } })),
    headers: new Map<string, Readonly<Record<string, string>>>(),
  });
  const questions: string[] = [];
  let answer = 'n';
  const ask = async (question: string) => {
    questions.push(question);
    return answer;
  };
  const file = { file: join(folder, '.mcp.json'), text: 'two', isOfProject: true };
  const change = (next: ReturnType<typeof servers>, one = file, hasTerminal = true) =>
    requireAgreementToChange(one, servers('a', 'b'), next, { hasTerminal, state: folder, ask });
  await change(servers('b'));
  await change(servers('c'), { ...file, isOfProject: false });
  expect(questions).toEqual([]);
  await expect(change(servers('a', 'c'))).rejects.toThrow('you did not agree to the change');
  await expect(change(servers('a', 'c'), file, false)).rejects.toThrow(
    /new or changed servers \(c\) need your agreement/,
  );
  await expect(change({ ...servers('a'), headers: new Map([['a', { token: 'x' }]]) }, file, false)).rejects.toThrow(
    '(a)',
  );
  answer = 'y';
  await change(servers('a', 'c'));
  await change(servers('a', 'c'), file, false); // a client that starts `up --stdio` has the answer
  expect(questions).toHaveLength(2);
});

it('the answer is for the content that was shown, not for what is written while the question is open', async () => {
  const file = { file: join(folder, '.mcp.json'), text: '1', isOfProject: true };
  await writeFile(file.file, '1');
  const [asked, question] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const read = async () => ({ backends: [], headers: new Map(), notes: [file.text] });
  const replaced: string[] = [];
  const shown: string[] = [];
  const stop = new AbortController();
  const agree = async (_: unknown, { notes }: { readonly notes: readonly string[] }) => {
    shown.push(...notes);
    asked.resolve();
    await question.promise;
    if (notes[0] === '3') throw new Error('not agreed');
  };
  watchFiles([file], { read, agree, replace: ({ notes }) => void replaced.push(...notes) }, stop.signal);
  await writeFile(file.file, '2');
  await asked.promise;
  await writeFile(file.file, '3');
  question.resolve();
  await expect.poll(() => shown, { timeout: 20_000 }).toEqual(['2', '3']);
  expect(replaced).toEqual(['2']);
  await expect.poll(() => file.text).toBe('2');
  stop.abort();
});

it('up --watch without a terminal does not start programs that a file of the folder gets later', async () => {
  const proof = join(folder, 'it-ran');
  const file = join(folder, '.mcp.json');
  const evil = { command: process.execPath, args: ['-e', `fs.writeFileSync(${JSON.stringify(proof)}, '')`] };
  await writeFile(file, JSON.stringify({ mcpServers: { one: { url: 'http://127.0.0.1:9/mcp' } } }));
  await using up = startCli(['up', '--watch', '--port', '0'], { cwd: folder, env: { HOME: folder } });
  await up.printed(/serves \.mcp\.json at/);
  await writeFile(file, JSON.stringify({ mcpServers: { evil } }));
  await up.printed(
    /not used \.mcp\.json: new or changed servers \(evil\) need your agreement.*the previous servers stay/,
  );
  await expect(readFile(proof)).rejects.toThrow('ENOENT');
}, 120_000);

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
