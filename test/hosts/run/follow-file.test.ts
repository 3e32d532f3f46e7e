import { appendFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openLogFile } from '@toolmgr/plugins/kit/files';
import { beforeEach, describe, expect, it } from 'vitest';
import { followFile } from '../../../hosts/workloads/planning/follow-file.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = temporaryFolder('follow');
  path = join(folder, 'a.log');
});

describe('followFile', () => {
  it('waits for a file, follows it, and restarts from the beginning after a truncation', async () => {
    let text = '';
    const abort = new AbortController();
    const following = followFile(
      path,
      (more) => {
        text += more;
      },
      abort.signal,
    );
    await writeFile(path, 'one ä\n');
    await until(() => text === 'one ä\n');
    await appendFile(path, 'two\n');
    await until(() => text.endsWith('two\n'));
    await truncate(path, 0);
    await appendFile(path, '3\n');
    await until(() => text.endsWith('3\n'));
    await appendFile(path, 'last\n');
    abort.abort();
    await following;
    expect(text).toBe('one ä\ntwo\n3\nlast\n');
  });

  it('reads once when the signal has already aborted', async () => {
    await writeFile(path, 'x'.repeat(200_000));
    let length = 0;
    await followFile(
      path,
      (more) => {
        length += more.length;
      },
      AbortSignal.abort(),
    );
    expect(length).toBe(200_000);
    await followFile(join(folder, 'none'), () => expect.unreachable(), AbortSignal.abort());
  });
});

describe('openLogFile', () => {
  it('keeps a log below its size limit, with one rotated file', async () => {
    const log = openLogFile(path, 1000);
    for (let i = 0; i < 100; i++) log.write(`${String(i).padStart(49, '0')}\n`);
    log.close();
    log.write('after the end');
    let text = '';
    for (const file of [`${path}.1`, path])
      await followFile(
        file,
        (more) => {
          text += more;
        },
        AbortSignal.abort(),
      );
    expect(text.length).toBeLessThanOrEqual(2100);
    expect(text.endsWith(`${'99'.padStart(49, '0')}\n`)).toBe(true);
    expect(text).toMatch(/^0+\d+\n/);
  });

  it('never throws when it cannot write', () => {
    const log = openLogFile('/dev/full');
    expect(() => log.write('lost')).not.toThrow();
    log.close();
  });
});
