// A plugin of the manager: one operation, which is a route, a command and a tool of MCP, and a view of the page.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { createRecord, runConfig } from '@toolmgr/plugins/kit/workloads';

const ROOT = join(import.meta.dirname, '..', '..');
const TOOLMGR = ['--conditions=development', join(ROOT, 'hosts', 'cli', 'main.ts')];
/** What `toolmgr run` writes about a remote server. */
const RECORD = runConfig.parse({
  schema_version: 'v0.1.0',
  name: 'fetch',
  remote_url: 'https://mcp.example.com/mcp',
  transport: 'streamable-http',
  created_at: '2027-01-15T08:00:00.000Z',
});
const home = await mkdtemp(join(tmpdir(), 'toolmgr-sources-'));
const env = {
  ...{ ...process.env, HOME: home, NO_COLOR: '1', TOOLMGR_RUNTIME: 'process' },
  ...{ XDG_CONFIG_HOME: join(home, 'config'), TOOLMGR_STATE_DIR: join(home, 'state') },
};
const toolmgr = async (...words: string[]) =>
  (await promisify(execFile)(process.execPath, [...TOOLMGR, ...words], { env })).stdout;

// the place where `toolmgr serve` and the commands look; relative paths are from its folder
const folder = join(home, 'config', 'toolmgr');
await mkdir(folder, { recursive: true });
await copyFile(join(import.meta.dirname, 'manager.yaml'), join(folder, 'manager.yaml'));
await symlink(join(import.meta.dirname, 'sources.ts'), join(folder, 'sources.ts'));

try {
  await createRecord(env.TOOLMGR_STATE_DIR, RECORD);
  assert.match(await toolmgr('sources'), /^NAME +SOURCE\nfetch +https:\/\/mcp\.example\.com\/mcp\n$/);

  const manager = spawn(process.execPath, [...TOOLMGR, 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(manager, 'exit');
  try {
    const url = await addressOf(manager.stderr);
    const token = (await readFile(join(home, 'state', 'server', 'token'), 'utf8')).trim();
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${url}/api/v1beta/sources?containing=example.com`, { headers });
    assert.deepEqual(await answer.json(), [{ name: 'fetch', source: 'https://mcp.example.com/mcp' }]);
    assert.deepEqual(JSON.parse(await toolmgr('sources', 'uvx', '--json')), []); // through the manager now

    const client = new Client({ name: 'story', version: '1.0.0' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${url}/mcp/manager`), { requestInit: { headers } }),
    );
    const { structuredContent } = await client.callTool({ name: 'list_sources', arguments: {} });
    assert.deepEqual(structuredContent, { items: [{ name: 'fetch', source: 'https://mcp.example.com/mcp' }] });
    await client.close();

    const offer = (await (await fetch(`${url}/page.json`)).json()) as { views: string[]; added: object };
    assert.deepEqual(offer.views.slice(0, 3), ['workloads', 'sources', 'browse']);
    assert.deepEqual(offer.added, { sources: { title: 'Sources', module: '/views/sources.js' } });
    assert.match(await (await fetch(`${url}/views/sources.js`)).text(), /export async function show/);
  } finally {
    manager.kill('SIGTERM');
    await ended;
  }
} finally {
  await rm(home, { recursive: true, force: true });
}
console.log('manager-plugin: the sources of workloads are a route, a command, a tool and a view');

/** The address that the manager prints when it serves. */
async function addressOf(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const [, url] = /serves (http:\S+)/.exec(line) ?? [];
    if (url !== undefined) {
      output.resume();
      return url;
    }
  }
  throw new Error('the manager did not start');
}
