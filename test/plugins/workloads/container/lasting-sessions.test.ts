import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lastingSessions, sessionKey } from '../../../../plugins/workloads/container/lasting-sessions.ts';
import { temporaryFolderOfFile } from '../../../support/temporary-folder.ts';

const folder = temporaryFolderOfFile('kept');

it('remembers sessions of containers in a file with mode 0600, also when many are written at once', async () => {
  const file = join(folder, 'containers.json');
  const sessions = lastingSessions(file);
  const ids = Array.from({ length: 20 }, (_, n) => `c${n}`);
  await Promise.all(ids.map((id) => sessions.set(id, { key: id, result: { protocolVersion: '2025-11-25' } })));
  await sessions.set('stateless', {});
  await sessions.remove('c0');
  const read = await lastingSessions(file).read();
  expect([...read.keys()]).toEqual([...ids.slice(1), 'stateless']);
  expect(read.get('c1')).toEqual({ key: 'c1', result: { protocolVersion: '2025-11-25' } });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('takes a damaged file for an empty one', async () => {
  const file = join(folder, 'damaged.json');
  for (const text of ['{', '[]', '{"a":1,"b":{"key":"x"},"c":{"key":3,"result":{}}}']) {
    await writeFile(file, text);
    expect((await lastingSessions(file).read()).size).toBe(0);
  }
  await lastingSessions(file).set('a', {});
  expect(await readFile(file, 'utf8')).toContain('"a"');
});

it('takes sessions for equal when revision and capabilities are', () => {
  const params = { protocolVersion: '2025-11-25', capabilities: { roots: {} }, clientInfo: { name: 'a' } };
  expect(sessionKey(params)).toBe(sessionKey({ ...params, clientInfo: { name: 'b' } }));
  expect(sessionKey(params)).not.toBe(sessionKey({ ...params, capabilities: {} }));
  expect(sessionKey(params)).not.toBe(sessionKey({ ...params, protocolVersion: '2025-06-18' }));
});
