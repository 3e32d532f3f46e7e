import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import getPort from 'get-port';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { until } from '../../support/until.ts';
import { startToolmgr, toolmgr } from './toolmgr.ts';

const LONG = 120_000;
let folder: string;

beforeEach(() => {
  folder = temporaryFolder('supervised');
});

async function configOf(port: number, url: string): Promise<string> {
  const file = join(folder, 'config.json');
  const config = { schema_version: 'v0.1.0', name: 'far', transport: 'streamable-http', port, remote_url: url };
  await writeFile(file, JSON.stringify(config));
  return file;
}

const statusOf = (port: number, path: string): Promise<number> =>
  fetch(`http://127.0.0.1:${port}${path}`).then(
    ({ status }) => status,
    () => 0,
  );

describe('toolmgr run --foreground --supervised', () => {
  it(
    'waits for its server, and runs again after it was killed',
    async () => {
      const [port, targetPort] = [await getPort(), await getPort()];
      const file = await configOf(port, `http://127.0.0.1:${targetPort}/mcp`);
      const args = ['run', '--from-config', file, '--foreground', '--supervised'];
      const env = { TMPDIR: folder };
      const first = startToolmgr(folder, args, '/', env);
      await until(async () => (await statusOf(port, '/health')) === 200, 30_000);
      await until(async () => (await statusOf(port, '/readyz')) === 503, 30_000);
      first.child.kill('SIGKILL');
      await first.ended;

      const second = startToolmgr(folder, args, '/', env);
      await until(async () => (await statusOf(port, '/readyz')) === 503, 30_000);
      await using server = answeringServer(targetPort);
      await until(async () => (await statusOf(port, '/readyz')) === 200, 60_000);
      expect(server.asked()).toBeGreaterThan(0);
      second.child.kill('SIGTERM');
      expect(await second.ended).toMatchObject({ code: 0 });
      // the killed run left its folder, the stopped one did not
      expect((await readdir(folder)).filter((name) => name.startsWith('toolmgr-state-'))).toHaveLength(1);
    },
    LONG,
  );

  it('is refused without --foreground', async () => {
    const file = await configOf(1, 'http://127.0.0.1:1/mcp');
    const ran = await toolmgr(folder, 'run', '--from-config', file, '--supervised');
    expect(ran).toMatchObject({ code: 1, err: expect.stringContaining('--supervised needs --foreground') });
  });
});

/** A server of revision 2025-11-25 without tools. */
function answeringServer(port: number): AsyncDisposable & { asked(): number } {
  let asked = 0;
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (piece) => {
      text += piece;
    });
    request.on('end', () => {
      asked++;
      const { id, method } = JSON.parse(text || '{}') as { id?: unknown; method?: string };
      if (id === undefined) return response.writeHead(202).end();
      const result = { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'far', version: '1' } };
      const error = { code: -32601, message: 'Method not found' };
      const answer = method === 'initialize' ? { result } : { error };
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
  }).listen(port, '127.0.0.1');
  return {
    asked: () => asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}
