// A plugin in the place of the manager's registry: callers find the servers of one team and no others.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ROOT = join(import.meta.dirname, '..', '..');
const state = await mkdtemp(join(tmpdir(), 'toolmgr-team-'));
const config = join(import.meta.dirname, 'manager.yaml');
const manager = spawn(
  process.execPath,
  ['--conditions=development', join(ROOT, 'hosts/cli/main.ts'), 'serve', '--config', config, '--port', '0'],
  {
    env: { PATH: process.env.PATH, HOME: state, TOOLMGR_STATE_DIR: state, NO_COLOR: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  },
);
const ended = once(manager, 'exit');

try {
  const url = await address();
  const token = (await readFile(join(state, 'server', 'token'), 'utf8')).trim();
  const ask = async (path: string): Promise<Response> =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const { servers } = (await (await ask('/api/v1beta/registry/default/servers')).json()) as {
    servers: { name: string }[];
  };
  assert.deepEqual(
    servers.map(({ name }) => name),
    ['fetch'],
  );
  assert.equal((await ask('/api/v1beta/registry/default/servers/github')).status, 404);
  // what the registry of toolmgr has and this one has not is gone
  assert.equal((await ask('/registry/default/v0.1/servers')).status, 404);
  const { paths } = (await (await ask('/api/openapi.json')).json()) as { paths: object };
  assert.equal(Object.keys(paths).filter((path) => path.includes('/registry')).length, 3);
} finally {
  manager.kill('SIGTERM');
  await ended;
  await rm(state, { recursive: true, force: true });
}
console.log('manager-registry: the manager offers the servers of the team');

async function address(): Promise<string> {
  for await (const line of createInterface(manager.stderr)) {
    const [, url] = /serves (http:\S+)/.exec(line) ?? [];
    if (url !== undefined) {
      manager.stderr.resume();
      return url;
    }
  }
  throw new Error('the manager did not start');
}
