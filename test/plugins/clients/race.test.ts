import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { canonical } from '../../../plugins/clients/edit/canonical.ts';
import { editClientFile, UnreadableText } from '../../../plugins/clients/file/edit-client-file.ts';
import { syncClient } from '../../../plugins/clients/registration/sync-client.ts';
import { temporaryFolderOfFile } from '../../support/temporary-folder.ts';

const home = temporaryFolderOfFile('client-race');

const now = { nowMs: Date.now };

it('a change between reading and writing is kept, whether the editor writes in place or renames', async () => {
  const path = join(home, 'a.json');
  for (const writes of ['in place', 'by rename']) {
    await writeFile(path, 'one');
    let runs = 0;
    await editClientFile(
      path,
      (text) => {
        runs += 1;
        if (runs === 1 && writes === 'in place') writeFileSync(path, 'two');
        if (runs === 1 && writes === 'by rename') {
          writeFileSync(`${path}.tmp`, 'two');
          renameSync(`${path}.tmp`, path);
        }
        return { text: `${text} ours`, result: undefined };
      },
      now,
    );
    expect([runs, await readFile(path, 'utf8')]).toEqual([2, 'two ours']);
  }
});

it('a file that appears while ours is made is kept', async () => {
  const path = join(home, 'b.json');
  let runs = 0;
  await editClientFile(
    path,
    (text) => {
      runs += 1;
      if (runs === 1) writeFileSync(path, 'theirs');
      return { text: `${text} ours`, result: undefined };
    },
    now,
  );
  expect(await readFile(path, 'utf8')).toBe('theirs ours');
});

it('an editor that opened the file before the rename and writes into it afterwards loses nothing', async () => {
  const path = join(home, 'c.json');
  await writeFile(path, 'one');
  const editor = openSync(path, 'r+');
  let runs = 0;
  const edited = editClientFile(
    path,
    (text) => {
      runs += 1;
      return { text: `${text} ours`, result: undefined };
    },
    now,
  );
  while (readFileSync(path, 'utf8') === 'one') await new Promise((resolve) => setTimeout(resolve, 1));
  writeSync(editor, 'two', 0);
  closeSync(editor);
  await edited;
  expect([runs, await readFile(path, 'utf8')]).toEqual([2, 'two ours']);
});

it('a removed file comes back when its editor writes into it', async () => {
  const path = join(home, 'd.json');
  await writeFile(path, 'one');
  const editor = openSync(path, 'r+');
  const edited = editClientFile(
    path,
    (text) => (text === 'one' ? { text: undefined, result: 0 } : { text, result: 0 }),
    now,
  );
  const isThere = () => {
    try {
      return readFileSync(path).length > 0;
    } catch {
      return false;
    }
  };
  while (isThere()) await new Promise((resolve) => setTimeout(resolve, 1));
  writeSync(editor, 'two', 0);
  closeSync(editor);
  await edited;
  expect(await readFile(path, 'utf8')).toBe('two');
});

it('a half written file is read again, and one that stays wrong is refused unchanged', async () => {
  const path = join(home, 'e.json');
  await writeFile(path, '{');
  setTimeout(() => writeFileSync(path, '{}'), 50);
  const edit = (text: string) => {
    if (text === '{') throw new UnreadableText('not JSON');
    return { text: `${text}\n`, result: undefined };
  };
  await editClientFile(path, edit, now);
  expect(await readFile(path, 'utf8')).toBe('{}\n');
  await writeFile(path, '{');
  await expect(editClientFile(path, edit, now)).rejects.toThrow('not JSON');
  expect(await readFile(path, 'utf8')).toBe('{');
});

/**
 * Reads, counts and writes the file in place, as editors do, until it is told that it is enough; told to, it writes half as often.
 * A write that does not show within ten seconds is lost.
 */
const EDITOR = `
const { readFileSync, writeFileSync } = require('node:fs');
const [path, rounds] = process.argv.slice(1);
let last = 0;
let lost = 0;
let since = Date.now();
let isEnough = false;
let pauseMs = 8;
process.on('message', (message) => {
  if (message === 'enough') isEnough = true;
  else pauseMs *= 2;
});
const tick = () => {
  let value;
  try { value = JSON.parse(readFileSync(path, 'utf8')); } catch { return setTimeout(tick, 1); }
  if (value.editor !== last && Date.now() - since < 10_000) return setTimeout(tick, 1);
  if (value.editor !== last) lost += 1;
  if (last >= Number(rounds) && isEnough) return process.send({ last, lost }, () => process.disconnect());
  last += 1;
  since = Date.now();
  value.editor = last;
  writeFileSync(path, JSON.stringify(value, undefined, 2));
  setTimeout(tick, Math.random() * pauseMs);
};
tick();
`;

it('no write of an editor is lost while entries come and go', async () => {
  const path = join(home, '.kimi', 'mcp.json');
  const places = { state: join(home, 'state'), user: { platform: 'linux', home, env: {} } as const, nowMs: Date.now };
  const entry = (port: number) =>
    ({ name: 'x', url: `http://127.0.0.1:${port}/mcp`, transport: 'streamable-http' }) as const;
  await syncClient(places, 'kimi-cli', [entry(1)]);
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), editor: 0, keep: ['a'] }));
  const editor: ChildProcess = spawn(process.execPath, ['-e', EDITOR, path, '150'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  onTestFinished(() => void editor.kill('SIGKILL')); // a test that fails must not leave it: the runner would wait for it
  const report = once(editor, 'message') as Promise<[{ last: number; lost: number }]>;
  let isOver = false;
  void report.then(() => {
    isOver = true;
  });
  let syncs = 0;
  for (let port = 2; !isOver; port++) {
    try {
      await syncClient(places, 'kimi-cli', port % 3 === 0 ? [] : [entry(port)], { force: true, restores: true });
      syncs += 1;
    } catch (cause) {
      expect(String(cause)).toContain('changed by another program all the time'); // a slow machine never gets between its writes
      editor.send('half as often');
    }
    if (syncs === 4) editor.send('enough');
  }
  const [{ last, lost }] = await report;
  expect(last).toBeGreaterThanOrEqual(150);
  expect(lost).toBe(0);
  await syncClient(places, 'kimi-cli', [entry(9)], { force: true, restores: true });
  const value = JSON.parse(await readFile(path, 'utf8'));
  expect(canonical(value)).toBe(
    canonical({ mcpServers: { x: { url: 'http://127.0.0.1:9/mcp' } }, editor: last, keep: ['a'] }),
  );
});
