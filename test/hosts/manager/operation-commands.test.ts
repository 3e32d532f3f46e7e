import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type OperationCommand, operation } from '@toolmgr/plugins/kit/operations';
import { Command } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { addOperationCommand } from '../../../hosts/manager/commands/operation-command.ts';
import { operationRunner } from '../../../hosts/manager/commands/run-operation.ts';
import { stdout } from '../../../hosts/shared/terminal.ts';
import { cli } from '../../support/cli.ts';
import { ownFolders, startManager } from '../../support/manager.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const HAS = 'every command has an option';
const seen: unknown[] = [];
const note = (command: OperationCommand) =>
  operation({
    id: 'addNote',
    method: 'POST',
    path: '/api/v1beta/notes/{book}',
    tag: 'notes',
    summary: 'Add a note',
    params: z.strictObject({ book: z.string().max(8).describe('name of the book') }),
    query: z.strictObject({ dry_run: z.enum(['true', 'false']).default('false') }),
    body: z.strictObject({
      text: z.string(),
      pages: z.array(z.int()).optional(),
      isPinned: z.boolean().optional(),
      max_age: z.int().optional(),
    }),
    answers: { 200: { description: 'the notes', schema: z.looseObject({}) } },
    problems: ['conflict'],
    command,
    async run({ path, query, body }) {
      seen.push({ ...path, ...query, ...body });
      return { status: 200, body: { notes: [{ book: path.book, ...body }] } };
    },
  });
const listed = note({ words: 'notes add', arguments: ['book', 'text'] });

/** Lines that a command line prints. */
async function printed(words: readonly string[], run: Awaited<ReturnType<typeof operationRunner>>, one = listed) {
  const program = new Command('toolmgr').exitOverride().configureOutput({ writeErr: () => {} });
  addOperationCommand(program, one, one.command ?? { words: '' }, async () => run);
  for (const command of program.commands.flatMap((each) => [each, ...each.commands])) command.exitOverride();
  const lines: string[] = [];
  const line = vi.spyOn(stdout, 'line').mockImplementation((text = '') => void lines.push(text));
  try {
    await program.parseAsync(['node', 'toolmgr', ...words]);
  } finally {
    line.mockRestore();
  }
  return lines;
}

const ALL = ['--pages', '1', '--pages', '2', '--is-pinned', '--max-age', '3', '--dry-run', 'true'];

it('a command has arguments and options for the members of an operation, and prints a table', async () => {
  const here = await operationRunner('/nonexistent');
  expect(await printed(['notes', 'add', 'work', 'call Ada', ...ALL], here)).toEqual([
    'BOOK  TEXT      PAGES  ISPINNED  MAX_AGE',
    'work  call Ada  1, 2   true      3',
  ]);
  const given = { book: 'work', text: 'call Ada', pages: [1, 2], isPinned: true, max_age: 3, dry_run: 'true' };
  expect(seen.splice(0)).toEqual([given]);
  const json = await printed(['notes', 'add', 'work', 'x', '--format', 'json'], here);
  expect(JSON.parse(json.join('\n'))).toEqual({ notes: [{ book: 'work', text: 'x' }] });
  const own = note({ words: 'note', arguments: ['book', 'text'], print: () => 'noted' });
  expect(await printed(['note', 'work', 'x'], here, own)).toEqual(['noted']);
  seen.splice(0);
});

it('a command refuses what the schemas refuse', async () => {
  const here = await operationRunner('/nonexistent');
  for (const [words, sentence] of [
    [['notes', 'add', 'work'], /missing required argument 'text'/],
    [['notes', 'add', 'work', 'x', '--pages', 'two'], /expected a number/],
    [['notes', 'add', 'work', 'x', '--dry-run', 'maybe'], /expected one of true, false/],
    [['notes', 'add', 'a-long-name', 'x'], /path book: .*8/],
  ] as const) {
    await expect(printed(words, here), words.join(' ')).rejects.toThrow(sentence);
  }
  expect(seen).toEqual([]);
});

it('a command goes through the manager when one runs, with the same answer and refusal', async () => {
  await using manager = await startManager({ operations: [listed] });
  const runs = vi.spyOn(listed, 'run');
  const there = await operationRunner(manager.state);
  expect(await printed(['notes', 'add', 'a/b', 'x', '--max-age', '3'], there)).toEqual([
    'BOOK  TEXT  MAX_AGE',
    'a/b   x     3',
  ]);
  expect(runs.mock.calls[0]?.[0].context.caller).not.toBe('this user');
  await expect(printed(['notes', 'add', 'a-long-name', 'x'], there)).rejects.toThrow(/path book: .*8/);
  await manager.stop();
  await printed(['notes', 'add', 'work', 'x'], await operationRunner(manager.state));
  expect(runs.mock.calls[1]?.[0].context.caller).toBe('this user');
});

it('a command asks with lists, and with what a manager and this process read alike', async () => {
  const asked: unknown[] = [];
  const tagged = operation({
    id: 'tagged',
    method: 'GET',
    path: '/api/v1beta/tagged',
    tag: 'notes',
    summary: 'Show notes',
    query: z.strictObject({
      tag: z.array(z.string()).default([]),
      no_cache: z.enum(['true', 'false']).optional(),
      json: z.string().optional(),
      format: z.string().optional(),
    }),
    answers: { 200: { description: 'nothing', schema: z.strictObject({}) } },
    problems: [],
    command: { words: 'tagged', arguments: ['json', 'format'] },
    async run({ query }) {
      asked.push(query);
      return { status: 200, body: {} };
    },
  });
  await using manager = await startManager({ operations: [tagged] });
  const [here, there] = [await operationRunner('/nonexistent'), await operationRunner(manager.state)];
  const lines = [
    [['--tag', 'a,b'], { tag: ['a,b'] }],
    [['--tag', 'a', '--tag', 'b,c', '--no-cache', 'true'], { tag: ['a', 'b,c'], no_cache: 'true' }],
    [[], { tag: [] }],
    [['x', 'y'], { tag: [], json: 'x', format: 'y' }],
  ] as const;
  for (const run of [here, there]) for (const [words] of lines) await printed(['tagged', ...words], run, tagged);
  expect(asked).toEqual([...lines, ...lines].map(([, query]) => query));
});

it('a command goes through a manager on a unix socket', async () => {
  const home = temporaryFolder('socket');
  await using manager = await startManager({ operations: [listed], home, listen: { socket: join(home, 's.sock') } });
  const runs = vi.spyOn(listed, 'run').mockClear();
  await printed(['notes', 'add', 'work', 'x'], await operationRunner(manager.state));
  expect(runs.mock.calls[0]?.[0].context.caller).not.toBe('this user');
  await manager.stop();
});

describe('a manager.yaml', { timeout: 60_000 }, () => {
  const run = async (yaml: string, ...words: string[]) => {
    const home = temporaryFolder('yaml');
    await mkdir(join(home, 'config/toolmgr'), { recursive: true });
    await writeFile(join(home, 'config/toolmgr/manager.yaml'), yaml);
    const ran = await cli(words, { env: ownFolders(home) });
    return ran;
  };

  it('with a plugin whose commands cannot all be made has the others, and says which are missing', async () => {
    const plugin = join(import.meta.dirname, 'fixtures/notes.ts');
    const yaml = `plugins: [{ use: ${JSON.stringify(plugin)} }]`;
    const help = await run(yaml, '--help');
    expect(help.code).toBe(0);
    expect(help.out).toMatch(/First steps/);
    expect(help.out).toMatch(/^ {2}plugin /m);
    expect(help.out).toMatch(/^ {2}notes/m);
    const missing = (words: string, id: string, why: string) =>
      `warning the command ${words} of ${id} of the plugin notes is missing: ${why}`;
    expect(help.err.trim().split('\n')).toEqual([
      missing('notes format', 'formatNotes', `${HAS} --format: give format another name, or put it into the arguments`),
      missing('notes json', 'jsonNotes', `${HAS} --json: give json another name, or put it into the arguments`),
      missing('notes age', 'ageNotes', 'max_age and maxAge would both be --max-age'),
      missing('notes place', 'placeNotes', 'the operation takes no plaec, which is in its arguments'),
      missing('notes show', 'showAgain', 'showNotes of the plugin notes has this command'),
      missing('ls', 'listNotes', 'toolmgr has a command ls'),
      missing('help', 'helpNotes', 'toolmgr has a command help'),
      missing('version', 'versionNotes', 'toolmgr has a command version'),
      missing('plugin notes', 'newNotes', 'toolmgr has a command plugin'),
      missing('notes <book>', 'oddNotes', 'its words are "notes <book>": expected words of a-z, digits and -'),
    ]);
    expect(await run(yaml, 'notes', 'show', '--tag', 'a,b', '--json')).toMatchObject({
      code: 0,
      out: expect.stringMatching(/"a,b"/),
    });
    expect(await run(yaml, 'notes', 'json', '--json', 'x')).toMatchObject({
      code: 1,
      err: expect.stringMatching(/jsonNotes of the plugin notes is missing.*unknown command 'json'/s),
    });
  });

  it('that is wrong leaves the help as it is, and stops commands that need its plugins', async () => {
    const help = await run('plugin: []', '--help');
    expect(help).toMatchObject({ code: 0, err: expect.stringMatching(/warning.*manager\.yaml.*plugins/s) });
    expect(help.out).toContain('First steps');
    expect(await run('plugin: []', 'client', 'list')).toMatchObject({
      code: 1,
      err: expect.stringContaining('plugins'),
    });
    expect(await run('without: [clients]', 'client', 'list')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no plugin of manager.yaml offers listClients'),
    });
  });
});
