import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Backend } from '@toolmgr/core';
import { describe, expect, it } from 'vitest';
import { createStoredLists } from '../../../../hosts/cli/up/stored-lists.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const LISTS = { tools: ['{"name":"echo"}'] };
const server = (name: string, args: readonly string[] = [], env: Record<string, string> = {}): Backend => ({
  name,
  transport: 'stdio',
  command: { file: 'npx', args: ['-y', ...args], env },
});

function opened(headers: Record<string, string> = {}, folder = temporary()) {
  const lines: string[] = [];
  const line = (message: string) => void lines.push(message);
  const log = { debug: line, info: line, warn: line, error: line };
  const store = createStoredLists({ folder, log, headersOf: () => headers });
  const files = () => readdirSync(folder).filter((name) => name.endsWith('.json'));
  return { folder, lines, store, files };
}

function temporary(): string {
  return join(temporaryFolder('lists'), 'lists');
}

describe('lists that are kept between two runs', () => {
  it('are those of an equal server with equal credentials, and of no other', async () => {
    const { store, folder, lines } = opened({ authorization: 'Bearer of-ada' });
    const ada = server('one', ['pkg@1.0.0'], { TOKEN: 's3cret-of-ada' });
    store.write(ada, LISTS);
    await store.written();
    const again = opened({ authorization: 'Bearer of-ada' }, folder).store;
    expect(again.read(ada)).toEqual(LISTS);
    expect(again.read({ ...ada, name: 'renamed' })).toEqual(LISTS);
    expect(again.read(server('one', ['pkg@1.0.1'], { TOKEN: 's3cret-of-ada' }))).toBe(undefined);
    expect(again.read(server('one', ['pkg@1.0.0'], { TOKEN: 's3cret-of-bob' }))).toBe(undefined);
    expect(opened({ authorization: 'Bearer of-bob' }, folder).store.read(ada)).toBe(undefined);
    expect(lines).toEqual([]);
  });

  it('are readable by their user only, and neither they nor their names have the credentials', async () => {
    const { store, folder, files } = opened({ authorization: 'Bearer of-ada' });
    store.write(server('one', ['pkg'], { TOKEN: 's3cret-of-ada' }), LISTS);
    await store.written();
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const [name = ''] = files();
    expect(name + readFileSync(join(folder, name), 'utf8')).not.toMatch(/of-ada/);
    const other = opened({ authorization: 'Bearer of-ada' });
    other.store.write(server('one', ['pkg'], { TOKEN: 's3cret-of-ada' }), LISTS);
    await other.store.written();
    expect(other.files()).not.toEqual([name]); // values cannot be guessed from the names of files
  });

  it.each([
    ['torn', (file: string) => writeFileSync(file, '{"tools": [')],
    ['too large', (file: string) => writeFileSync(file, ' '.repeat(5_000_000))],
    [
      'a link',
      (file: string) => {
        rmSync(file);
        symlinkSync('/etc/passwd', file);
      },
    ],
  ])('are ignored with a log line when their file is %s, and written again', async (_, damage) => {
    const { store, folder, files, lines } = opened();
    store.write(server('one'), LISTS);
    await store.written();
    damage(join(folder, files()[0] ?? ''));
    expect(store.read(server('one'))).toBe(undefined);
    expect(lines).toEqual(['the lists of an earlier run are not used']);
    store.write(server('one'), LISTS);
    await store.written();
    expect(store.read(server('one'))).toEqual(LISTS);
  });

  it.each(['', 'f00d'])('are kept again when a crash left "%s" of the key of their names', async (rest) => {
    const { store, folder } = opened();
    store.write(server('one'), LISTS);
    await store.written();
    writeFileSync(join(folder, 'salt'), rest);
    const again = opened({}, folder);
    again.store.write(server('one'), LISTS);
    await again.store.written();
    expect(opened({}, folder).store.read(server('one'))).toEqual(LISTS);
    expect(again.lines).toEqual([]);
  });

  it('are not kept when the folder cannot be written or a list is too long; nothing else fails', async () => {
    const { folder } = opened();
    writeFileSync(folder, 'a file');
    const blocked = opened({}, folder);
    blocked.store.write(server('one'), LISTS);
    await blocked.store.written();
    expect(blocked.store.read(server('one'))).toBe(undefined);
    expect(blocked.lines).toEqual(['lists are not kept for the next run', 'the lists of an earlier run are not used']);
    const { store, files, lines } = opened();
    store.write(server('one'), { tools: ['x'.repeat(5_000_000)] });
    await store.written();
    expect([files(), lines]).toEqual([[], ['lists are not kept for the next run']]);
  });

  it('wait for a slow disk once for each server, however often they change', async () => {
    const { store, folder, lines } = opened();
    store.read(server('one'));
    rmSync(folder, { recursive: true });
    writeFileSync(folder, 'a file'); // each write logs a line now
    for (let at = 0; at < 100; at++) store.write(server('one'), LISTS);
    await store.written();
    expect(lines).toEqual(['lists are not kept for the next run']);
  });

  it('are at most 200, the newest', async () => {
    const { store, folder, files } = opened();
    for (let at = 0; at < 203; at++) store.write(server('one', [`pkg@${at}`]), LISTS);
    await store.written();
    expect(files()).toHaveLength(200);
    expect(readdirSync(folder)).toHaveLength(201);
    expect(store.read(server('one', ['pkg@202']))).toEqual(LISTS);
  });
});
