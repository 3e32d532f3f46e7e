import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { fetchLines, fetchStatus } from '../../../../hosts/shared/running/control-client.ts';
import { type GatewayRecord, readRecords, readRunning } from '../../../../hosts/shared/running/gateway-record.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const { createServer } = process.getBuiltinModule('node:http');

let folder: string;
beforeEach(() => {
  folder = temporaryFolder('records'); // mode 0700
});

const record = (socket: string): GatewayRecord => ({
  ...{ id: 'one', kind: 'up', name: 'up', version: '1', startedAt: '2026', socket },
  process: { pid: process.pid, started: 'x' },
});

it('records that another user may have written are not read, and their sockets are not removed', async () => {
  await writeFile(join(folder, 'one.json'), JSON.stringify(record(join(folder, 'one.sock'))));
  expect((await readRecords(folder)).stale).toHaveLength(1);
  await chmod(folder, 0o777);
  await expect(readRunning(folder)).rejects.toThrow('can be opened by others');
  const linked = join(folder, 'linked');
  await symlink(folder, linked);
  await expect(readRunning(linked)).rejects.toThrow('is not a folder');
});

it('a named pipe, a link, a folder and a huge file among the records are left out and nothing waits for them', async () => {
  execFileSync('mkfifo', [join(folder, 'pipe.json')]);
  await symlink('/dev/zero', join(folder, 'link.json'));
  await mkdir(join(folder, 'folder.json'));
  await writeFile(join(folder, 'huge.json'), 'x'.repeat(100_000));
  expect(await readRecords(folder)).toEqual({ running: [], stale: [] });
});

it('an endless line, text that is no JSON and a broken answer of a socket end with an error that names the gateway', async () => {
  const socket = join(folder, 's.sock');
  const server = createServer((request, response) => {
    if (!request.url?.startsWith('/v1/logs')) return void response.end('{"backends":');
    if (request.url.includes('backend=text')) return void response.end('no json\n');
    const piece = 'x'.repeat(65_536);
    const write = (): void => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', write);
    write();
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  try {
    await expect(fetchStatus(record(socket))).rejects.toThrow(/gateway up .*does not answer/);
    const options = { lines: 1, follow: true, signal: AbortSignal.timeout(20_000) };
    for (const backend of ['endless', 'text']) {
      const lines = fetchLines(record(socket), { ...options, backend });
      await expect(lines.next()).rejects.toThrow(/gateway up .*does not answer/);
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
