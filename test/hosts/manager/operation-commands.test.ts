import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
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

it('a command goes through a manager on a unix socket', async () => {
  const home = await mkdtemp(join(tmpdir(), 'toolmgr-socket-'));
  await using manager = await startManager({ operations: [listed], home, listen: { socket: join(home, 's.sock') } });
  const runs = vi.spyOn(listed, 'run').mockClear();
  await printed(['notes', 'add', 'work', 'x'], await operationRunner(manager.state));
  expect(runs.mock.calls[0]?.[0].context.caller).not.toBe('this user');
  await manager.stop();
  await rm(home, { recursive: true, force: true });
});

describe('a manager.yaml', { timeout: 60_000 }, () => {
  const run = async (yaml: string, ...words: string[]) => {
    const home = await mkdtemp(join(tmpdir(), 'toolmgr-yaml-'));
    await mkdir(join(home, 'config/toolmgr'), { recursive: true });
    await writeFile(join(home, 'config/toolmgr/manager.yaml'), yaml);
    const ran = await cli(words, { env: ownFolders(home) });
    await rm(home, { recursive: true, force: true });
    return ran;
  };

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
