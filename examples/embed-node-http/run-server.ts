// Runs the server of an embed example as a user would: by Node, until it listens, and ends it like Ctrl-C.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** Runs `server.ts` of the folder with a free port. Throws AssertionError when it does not listen, or does not end by itself. */
export async function runServer(folder: string, use: (origin: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  const server = spawn(process.execPath, ['--conditions=development', join(folder, 'server.ts')], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'exit');
  try {
    const first = await Promise.race([once(server.stdout, 'data'), ended]);
    assert.match(String(first), new RegExp(`http://127\\.0\\.0\\.1:${port}/mcp`), 'it listens');
    await use(`http://127.0.0.1:${port}`);
  } finally {
    server.kill('SIGINT');
  }
  assert.deepEqual(await ended, [0, null], 'it ends by itself');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
