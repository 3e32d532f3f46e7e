// A plugin in the place of the manager's registry: callers find the servers of one team and no others.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '..', '..');
const TOOLMGR = ['--conditions=development', join(ROOT, 'hosts', 'cli', 'main.ts')];
const home = await mkdtemp(join(tmpdir(), 'toolmgr-team-'));
const env = {
  ...{ ...process.env, HOME: home, NO_COLOR: '1' },
  ...{ XDG_CONFIG_HOME: join(home, 'config'), TOOLMGR_STATE_DIR: join(home, 'state') },
};
// the file that `toolmgr serve` and the commands read without --config
const folder = join(home, 'config', 'toolmgr');
await mkdir(folder, { recursive: true });
await copyFile(join(import.meta.dirname, 'manager.yaml'), join(folder, 'manager.yaml'));
await symlink(join(import.meta.dirname, 'team-registry.ts'), join(folder, 'team-registry.ts'));

const search = [...TOOLMGR, 'search', 'e', '--json'];
const { stdout: found } = await promisify(execFile)(process.execPath, search, { env });
assert.deepEqual(
  (JSON.parse(found) as { name: string }[]).map(({ name }) => name),
  ['fetch'],
);

const manager = spawn(process.execPath, [...TOOLMGR, 'serve', '--port', '0'], {
  env,
  stdio: ['ignore', 'ignore', 'pipe'],
});
const ended = once(manager, 'exit');

try {
  const url = await address();
  const token = (await readFile(join(home, 'state', 'server', 'token'), 'utf8')).trim();
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
  await rm(home, { recursive: true, force: true });
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
