import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { cli } from '../../../support/cli.ts';
import { ownFolders } from '../../../support/manager.ts';
import { recordRunning } from '../../../support/running-workload.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const LONG = 120_000;
const home = temporaryFolderOfFile('cli-clients');
beforeAll(async () => {
  await recordRunning(join(home, 'state/toolmgr'), 'fetch', 10_101);
  await mkdir(join(home, '.cursor'));
  await writeFile(join(home, '.cursor/mcp.json'), '{}');
});
const client = (...args: string[]) => cli(['client', ...args], { env: ownFolders(home) });

it(
  'registers after a dry run, lists, and unregisters',
  async () => {
    const dry = await client('register', 'cursor', '--dry-run');
    expect(dry).toMatchObject({ code: 0 });
    expect(dry.out).toContain('cursor: adds fetch');
    expect(dry.out).toContain('+      "url": "http://127.0.0.1:10101/mcp"');
    expect(await readFile(join(home, '.cursor/mcp.json'), 'utf8')).toBe('{}');
    expect((await client('register', 'cursor')).out).toContain('cursor: added fetch');
    expect(JSON.parse((await client('list', '--format', 'json')).out)).toEqual([
      { name: 'cursor', groups: ['default'] },
    ]);
    expect((await client('status')).out).toMatch(/^cursor +yes +yes$/m);
    expect((await client('unregister', 'cursor')).out).toContain('cursor: removed fetch');
    expect(await readFile(join(home, '.cursor/mcp.json'), 'utf8')).toBe('{}');
  },
  LONG,
);

it(
  'says what is wrong with a client, a group and an endpoint',
  async () => {
    expect(await client('register', 'cursr')).toMatchObject({
      code: 1,
      err: expect.stringContaining('did you mean cursor?'),
    });
    expect(await client('register', 'cursor', '--group', 'nope')).toMatchObject({
      code: 1,
      err: expect.stringContaining('there is no group nope'),
    });
    expect(await client('register', 'cursor', '--endpoint', 'file:///x')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--endpoint'),
    });
  },
  LONG,
);
