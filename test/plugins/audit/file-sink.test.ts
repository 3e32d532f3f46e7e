import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fakeServer } from '@toolmgr/core/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { openSink } from '../../../plugins/audit/sinks/file.ts';
import { audited } from '../../support/audited.ts';
import { postModern } from '../../support/open-endpoint.ts';
import { pluginCore } from '../../support/plugin-core.ts';
import { proves } from '../../support/proves.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

describe('the audit sink', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = temporaryFolder('sink');
    file = join(folder, 'audit.log');
  });

  proves(
    ['choice.audit.file', 'vmcp.audit.log-file'],
    'creates its file for the owner only, and appends to an existing one',
    async () => {
      const core = pluginCore();
      for (const text of ['one\n', 'two\n']) {
        const sink = await openSink(file, core);
        await sink.write(Buffer.from(text));
        await sink.close();
      }
      expect(await readFile(file, 'utf8')).toBe('one\ntwo\n');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      expect(core.lines).toEqual([]);
    },
  );

  it('warns when others may read an existing file, and does not change its mode', async () => {
    await writeFile(file, '');
    await chmod(file, 0o644);
    const core = pluginCore();
    await (await openSink(file, core)).close();
    expect(core.lines).toMatchObject([{ level: 'warn', fields: { mode: '644', expected: '600' } }]);
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  });

  proves('choice.audit.file', 'creates its file again after a move, and appends to a truncated one', async () => {
    const core = pluginCore();
    const sink = await openSink(file, core);
    const write = async (text: string): Promise<void> => {
      core.clock.nowMs += 1_000;
      await sink.write(Buffer.from(text));
    };
    await write('one\n');
    await rename(file, `${file}.1`);
    await write('two\n');
    expect(await readFile(`${file}.1`, 'utf8')).toBe('one\n');
    expect(await readFile(file, 'utf8')).toBe('two\n');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await rm(file);
    await write('three\n');
    expect(await readFile(file, 'utf8')).toBe('three\n');
    await truncate(file);
    await write('four\n');
    expect(await readFile(file, 'utf8')).toBe('four\n');
    await sink.close();
  });

  it('fails the boot with the name of a file that cannot be opened', async () => {
    const nowhere = join(folder, 'no', 'such', 'folder.log');
    await expect(openSink(nowhere, pluginCore())).rejects.toThrow(
      /audit\.logFile: .*folder\.log cannot be opened .*ENOENT/,
    );
    await expect(openSink(folder, pluginCore())).rejects.toThrow(/is not a regular file/);
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    await expect(openSink(pipe, pluginCore())).rejects.toThrow(/is not a regular file/); // opening it would block
  });

  proves('choice.audit.broken-sink', 'answers every call while the disk is full', async () => {
    await using here = await audited({ far: fakeServer().tool('add') }, { config: { logFile: '/dev/full' } });
    for (let n = 0; n < 20; n++) expect((await postModern(here.url, 'tools/call', { name: 'add' })).status).toBe(200);
    await here.kit.gateway.stop();
    const told = here.kit.logged.join('');
    expect(told).toContain('ENOSPC');
    expect(told).toMatch(/unwritten audit events","lost":20/);
  });

  proves('choice.audit.broken-sink', 'survives a closed reader of its standard output', async () => {
    const script = join(import.meta.dirname, 'fixtures/write-to-stdout.ts');
    const child = spawn(process.execPath, ['--conditions=development', script], { stdio: ['pipe', 'pipe', 'pipe'] });
    let told = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      told += chunk;
    });
    await once(child.stdout, 'data'); // the first line: it writes
    child.stdout.destroy();
    child.stdin.write('go on\n');
    const [code] = await once(child, 'close');
    expect({ code, told }).toMatchObject({
      code: 0,
      told: expect.stringMatching(/failed: (EPIPE|ERR_STREAM)[\s\S]*still here/),
    });
  });
});
